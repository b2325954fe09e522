#include "model/workload/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Fabric& fabric() {
  static const Fabric kFabric(
      {.segments = 4, .hosts_per_segment = 16, .rails = 8, .aggregation_switches = 2});
  return kFabric;
}

std::vector<HostId> all_hosts() {
  std::vector<HostId> hosts;
  for (std::uint32_t h = 0; h < fabric().host_count(); ++h) {
    hosts.emplace_back(h);
  }
  return hosts;
}

Job job_of(JobOptions options, std::uint64_t seed = 3) {
  options.gpus = options.tp * options.cp * options.pp * options.dp;
  Job job(options, fabric(), all_hosts(), JobId(0), seed);
  job.set_running_since(kStartOfRun + seconds(10));
  return job;
}

RnicId at(const Job& job, const RankCoordinate& place) {
  return job.rnics()[layout_of(job.options()).rank(place)];
}

Time s(double value) {
  return kStartOfRun + from_seconds(value);
}

/// A shape, a parallelism and a confounder of each kind.
JobOptions random_options(const RngStream& dice) {
  const auto one_of = [&](std::uint64_t row, std::initializer_list<std::uint32_t> values) {
    return values.begin()[dice.at(row) % values.size()];
  };
  JobOptions options;
  options.tp = one_of(0, {1, 2, 4, 8});
  options.pp = one_of(1, {1, 2, 4});
  options.cp = one_of(2, {1, 1, 2});
  options.dp = one_of(3, {2, 4, 8}) * 8 / options.tp;
  options.ep = one_of(4, {1, 1, 2});
  options.expert_rails = dice.at(5) % 2 == 0 ? ExpertRails::kSame : ExpertRails::kCross;
  options.collective = static_cast<GradientCollective>(dice.at(6) % 3);
  options.sharding = static_cast<Sharding>(dice.at(7) % 3);
  options.schedule = static_cast<PipelineSchedule>(dice.at(8) % 4);
  options.workload = dice.at(9) % 4 == 0   ? Workload::kDebug
                     : dice.at(9) % 4 == 1 ? Workload::kInference
                                           : Workload::kTraining;
  options.worker_spread = dice.at(10) % 2 == 0 ? 0.0 : 0.09;
  options.worker_jitter = dice.at(11) % 2 == 0 ? 0.0 : 0.05;
  if (dice.at(12) % 2 == 0) {
    options.phases = {{.kind = PhaseKind::kEvaluation, .every = 3, .length = seconds(7)},
                      {.kind = PhaseKind::kCheckpoint, .every = 5, .length = seconds(11)}};
  }
  if (dice.at(13) % 2 == 0) {
    options.stragglers = {{.container = 1, .late_by = seconds(3), .at = seconds(40)}};
    options.idle = {{.rank = 2}};
  }
  return options;
}

class AnyJob : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AnyJob, SendsWhatItsPeersGet) {
  SCOPED_TRACE(testing::Message() << "seed=" << GetParam());
  const Job job = job_of(random_options(RngStream(GetParam(), Purpose::kTest, 0)), GetParam());
  for (std::uint32_t rank = 0; rank < job.rnics().size(); rank += 7) {
    const RnicId source = job.rnics()[rank];
    std::set<RnicId> targets;
    for (const JobPeer& peer : job.peers(source, s(50))) {
      targets.insert(peer.target);
      EXPECT_NE(fabric().host_of(peer.target), fabric().host_of(source));
      EXPECT_NE(job.traffic(source, peer.target), TrafficKind::kNone);
    }
    double between = 0.0;
    for (const RnicId target : targets) {
      between += job.bytes_between(source, target, s(31.3), s(95.7));
    }
    const double sent = job.bytes_sent(source, s(31.3), s(95.7));
    EXPECT_NEAR(between, sent, 1e-9 * sent);
    EXPECT_EQ(sent > 0.0,
              job.options().workload != Workload::kTraining ? sent > 0.0 : !targets.empty());
  }
}

TEST_P(AnyJob, TalksBothWaysOrNotAtAll) {
  SCOPED_TRACE(testing::Message() << "seed=" << GetParam());
  const Job job = job_of(random_options(RngStream(GetParam(), Purpose::kTest, 0)), GetParam());
  std::set<std::pair<RnicId, RnicId>> sends;
  std::uint32_t got = 0;
  for (const RnicId source : job.rnics()) {
    for (const JobPeer& peer : job.peers(source, s(50))) {
      sends.emplace(source, peer.target);
      ++got;
    }
  }
  EXPECT_GT(got, 0u);
  for (std::uint32_t i = 0; i < job.rnics().size(); i += 5) {
    for (const RnicId other : job.rnics()) {
      const RnicId one = job.rnics()[i];
      const bool talks = sends.contains({one, other}) || sends.contains({other, one});
      ASSERT_EQ(job.traffic(one, other) != TrafficKind::kNone, talks);
      ASSERT_EQ(job.traffic(one, other), job.traffic(other, one));
    }
  }
}

/// The boxcar integral is that of the rate; the rate is what a millisecond brings.
TEST_P(AnyJob, BytesAreAdditive) {
  SCOPED_TRACE(testing::Message() << "seed=" << GetParam());
  const Job job = job_of(random_options(RngStream(GetParam(), Purpose::kTest, 0)), GetParam());
  for (const RnicId rnic : {job.rnics().front(), job.rnics()[9], job.rnics().back()}) {
    double sum = 0.0;
    for (int ms = 20'000; ms < 40'000; ++ms) {
      sum +=
          job.bytes_sent(rnic, kStartOfRun + milliseconds(ms), kStartOfRun + milliseconds(ms + 1));
    }
    const double whole = job.bytes_sent(rnic, s(20), s(40));
    EXPECT_NEAR(sum, whole, 1e-9 * whole + 1e-3);
  }
}

/// RNICs of one class are alike at every moment, and there are few classes.
TEST_P(AnyJob, HasFewClasses) {
  SCOPED_TRACE(testing::Message() << "seed=" << GetParam());
  JobOptions options = random_options(RngStream(GetParam(), Purpose::kTest, 0));
  options.worker_spread = options.worker_jitter = 0.0;
  options.phases.clear();
  const Job job = job_of(options, GetParam());
  for (const RnicId rnic : job.rnics()) {
    EXPECT_EQ(job.bytes_counted(job.traffic_class(rnic), s(33), s(34)),
              job.bytes_sent(rnic, s(33), s(34)));
  }
  if (options.workload == Workload::kTraining) {
    EXPECT_LE(job.class_count(), 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AnyJob, testing::Range<std::uint64_t>(1, 25));

/// Rate times time, summed over a millisecond's grid of the spans that the header promises.
TEST(JobTraffic, IntegratesBurstsExactly) {
  const Job job = job_of({.tp = 8, .pp = 4, .dp = 8});
  for (const std::uint32_t stage : {0u, 3u}) {
    const RnicId rnic = at(job, {.data = 2, .pipeline = stage});
    const double neighbours = stage == 0 || stage == 3 ? 1.0 : 2.0;
    double riemann = 0.0;
    for (int ms = 20'000; ms < 120'000; ++ms) {
      const Time middle = kStartOfRun + milliseconds(ms) + std::chrono::microseconds(500);
      const TimeSpan burst = job.burst_ending_after(stage, middle);
      riemann += 1e-3 * 15e9 / 8 * (neighbours / 1000 + (burst.from <= middle ? 1.0 : 0.0));
    }
    const double exact = job.bytes_sent(rnic, s(20), s(120));
    // A burst's ends are within a millisecond of the grid.
    EXPECT_NEAR(exact, riemann, 2 * 13 * 1e-3 * 15e9 / 8);
    EXPECT_GT(exact, 0.1 * 15e9 / 8 * 100);
  }
}

/// Ring: one; tree: as many as both trees have; mesh: the group; shards: as a ring.
TEST(JobTraffic, NamesThePeersOfEveryCollective) {
  struct Case {
    const char* name;
    GradientCollective collective;
    Sharding sharding;
    TrafficKind kind;
    std::size_t least, most;
  };
  const std::vector<Case> cases = {
      {"ring", GradientCollective::kRing, Sharding::kNone, TrafficKind::kRing, 1, 1},
      {"tree", GradientCollective::kTree, Sharding::kNone, TrafficKind::kTree, 2, 6},
      {"mesh", GradientCollective::kMesh, Sharding::kNone, TrafficKind::kMesh, 7, 7},
      {"shards", GradientCollective::kRing, Sharding::kFull, TrafficKind::kShard, 1, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    JobOptions options{.tp = 8, .pp = 2, .dp = 8};
    options.collective = c.collective;
    options.sharding = c.sharding;
    const Job job = job_of(options);
    for (const RnicId rnic : job.rnics()) {
      const auto peers = job.peers(rnic, s(0));
      const auto of_kind = static_cast<std::size_t>(
          std::ranges::count_if(peers, [&](const JobPeer& peer) { return peer.kind == c.kind; }));
      EXPECT_GE(of_kind, c.least);
      EXPECT_LE(of_kind, c.most);
      EXPECT_EQ(peers.size(), of_kind + 1) << "and a neighbour in the pipeline";
      EXPECT_TRUE(std::is_sorted(peers.begin(), peers.end()));
    }
  }
}

/// Tokens go to every expert of the group that is not at home; across rails if they must.
TEST(JobTraffic, SendsTokensWithinExpertGroups) {
  for (const ExpertRails rails : {ExpertRails::kSame, ExpertRails::kCross}) {
    JobOptions options{.tp = 8, .dp = 8};
    options.ep = 4;
    options.expert_rails = rails;
    const Job job = job_of(options);
    const RnicId source = at(job, {.tensor = 3, .data = 5});
    std::set<RnicId> expected;
    for (std::uint32_t data = 4; data < 8; ++data) {
      for (std::uint32_t tensor = 0; tensor < 8; ++tensor) {
        if (data != 5 && (tensor == 3 || rails == ExpertRails::kCross)) {
          expected.insert(at(job, {.tensor = tensor, .data = data}));
        }
      }
    }
    std::set<RnicId> found;
    std::set<std::uint32_t> seen_rails;
    for (const JobPeer& peer : job.peers(source, s(0))) {
      if (peer.kind == TrafficKind::kExpert) {
        found.insert(peer.target);
        seen_rails.insert(fabric().rail_of(peer.target));
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(seen_rails.size(), rails == ExpertRails::kCross ? 8u : 1u);
  }
}

/// A step brings the volume of the formula, whatever the span it is sent in.
TEST(JobTraffic, SendsTheVolumesOfExpertsAndContext) {
  JobOptions options{.tp = 8, .dp = 8, .step_jitter = 0.0};
  options.ep = 8;
  options.cp = 2;
  options.expert_volume = 0.7;
  options.context_volume = 0.4;
  options.dp = 4;
  options.ep = 4;
  const Job job = job_of(options);
  const RnicId source = at(job, {.data = 1});
  const double gradients = 15e9 / 8 * 0.2 * 8;
  std::map<TrafficKind, double> sums;
  for (const JobPeer& peer : job.peers(source, s(0))) {
    sums[peer.kind] += 1.0;
  }
  EXPECT_EQ(sums[TrafficKind::kExpert], 3.0);
  EXPECT_EQ(sums[TrafficKind::kContext], 1.0);
  // 100 steps; the computing part of the last one reaches beyond them.
  const double sent = job.bytes_sent(source, s(10), s(10 + 8 * 1'001)) -
                      job.bytes_sent(source, s(10), s(10 + 8 * 1));
  EXPECT_NEAR(sent / 1'000, gradients * (1.0 + 0.7 + 0.4), 1e-4 * gradients);
}

/// The last stage hands its activations to the first one: the next chunk of the model is there.
TEST(JobTraffic, WrapsAroundIfInterleaved) {
  JobOptions options{.tp = 8, .pp = 4, .dp = 2};
  options.schedule = PipelineSchedule::kInterleaved;
  options.chunks = 3;
  const Job job = job_of(options);
  const RnicId first = at(job, {});
  const RnicId next = at(job, {.pipeline = 1});
  const RnicId last = at(job, {.pipeline = 3});
  EXPECT_EQ(job.traffic(first, last), TrafficKind::kPipeline);
  const double inside = job.bytes_between(first, next, s(50), s(60));
  EXPECT_NEAR(job.bytes_between(last, first, s(50), s(60)) / inside, 2.0 / 3.0, 1e-12);
  EXPECT_EQ(job.bytes_between(next, first, s(50), s(60)), inside);
}

TEST(JobTraffic, LeavesIdleRnicsOutAndClosesTheRing) {
  JobOptions options{.tp = 8, .dp = 4};
  options.idle = {{.rank = 8}};  // data 1, tensor 0
  const Job job = job_of(options);
  const RnicId idle = at(job, {.data = 1});
  EXPECT_TRUE(job.peers(idle, s(50)).empty());
  EXPECT_EQ(job.bytes_sent(idle, s(0), s(500)), 0.0);
  EXPECT_EQ(job.traffic(at(job, {}), at(job, {.data = 2})), TrafficKind::kRing);
  EXPECT_EQ(job.traffic(at(job, {}), idle), TrafficKind::kNone);
  EXPECT_EQ(job.traffic(at(job, {.tensor = 1}), at(job, {.tensor = 1, .data = 2})),
            TrafficKind::kNone);
}

TEST(JobTraffic, MovesTheBurstsOfAStragglerWhileItLasts) {
  JobOptions options{.tp = 8, .dp = 4, .step_jitter = 0.0};
  options.stragglers = {
      {.container = 2, .late_by = seconds(3), .at = seconds(100), .length = seconds(80)}};
  const Job job = job_of(options);
  const RnicId slow = at(job, {.data = 2});
  const RnicId other = at(job, {.data = 1});
  const double rate = 15e9 / 8;
  // Steps start at 10 + 8 n; bursts take 1.6 s.
  EXPECT_NEAR(job.bytes_sent(slow, s(90), s(91.6)), 1.6 * rate, 1.0);
  EXPECT_EQ(job.bytes_sent(slow, s(106), s(109)), 0.0);
  EXPECT_NEAR(job.bytes_sent(slow, s(109), s(110.6)), 1.6 * rate, 1.0);
  EXPECT_NEAR(job.bytes_sent(other, s(106), s(107.6)), 1.6 * rate, 1.0);
  EXPECT_NEAR(job.bytes_sent(slow, s(186), s(187.6)), 1.6 * rate, 1.0);
}

TEST(JobTraffic, PausesForCheckpointsThatTheFirstReplicaWrites) {
  JobOptions options{.tp = 8, .pp = 2, .dp = 2, .step_jitter = 0.0};
  options.phases = {{.kind = PhaseKind::kCheckpoint,
                     .every = 10,
                     .length = seconds(20),
                     .rate = BitsPerSecond(8'000'000'000)}};
  const Job job = job_of(options);
  // Ten steps from 10 s to 90 s, a pause until 110 s.
  const RnicId writer = at(job, {});
  const RnicId other = at(job, {.data = 1});
  EXPECT_EQ(job.bytes_sent(writer, s(91), s(109)), 0.0);
  EXPECT_NEAR(job.bytes_counted(job.traffic_class(writer), s(91), s(109)), 18e9, 1.0);
  EXPECT_EQ(job.bytes_counted(job.traffic_class(other), s(91), s(109)), 0.0);
  EXPECT_EQ(job.burst_ending_after(0, s(90)).from, s(110));
  const TimeSpan busy = job.busy_ending_after(s(100));
  EXPECT_EQ(busy.from, s(110));
  EXPECT_EQ(busy.to, s(190));
}

TEST(JobTraffic, HasOtherPeersAfterAChangeOfShape) {
  JobOptions options{.tp = 8, .pp = 4, .dp = 4};
  options.changes = {{.at = seconds(100), .tp = 8, .pp = 2, .dp = 8, .restart = seconds(20)}};
  Job job = job_of(options);
  const RnicId source = job.rnics().front();
  const auto before = job.peers(source, s(99));
  const auto after = job.peers(source, s(100));
  EXPECT_NE(before, after);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(job.bytes_sent(source, s(100), s(120)), 0.0);
  EXPECT_GT(job.bytes_sent(source, s(120), s(130)), 0.0);
  for (const JobPeer& peer : after) {
    EXPECT_GT(job.bytes_between(source, peer.target, s(120), s(200)), 0.0);
  }
  EXPECT_NEAR(job.bytes_sent(source, s(0), s(300)),
              job.bytes_sent(source, s(0), s(111)) + job.bytes_sent(source, s(111), s(300)),
              1.0);
  const RnicId stage_two = job.rnics()[2 * 32];
  EXPECT_EQ(job.coordinate(stage_two)->pipeline, 2u);
  job.enter_layout(1);
  EXPECT_EQ(job.coordinate(stage_two)->pipeline, 1u);
  EXPECT_EQ(job.options().dp, 8u);
}

/// An irregular job has no period: its bursts are in some slots, anywhere in them.
TEST(JobTraffic, HasNoRhythmUnlessItTrains) {
  JobOptions options{.tp = 8, .pp = 2, .dp = 4};
  options.workload = Workload::kDebug;
  options.activity = 0.25;
  const Job job = job_of(options);
  int bursts = 0;
  std::set<std::int64_t> places;
  for (Time t = s(10); t < s(10 + 8 * 1'000);) {
    const TimeSpan burst = job.burst_ending_after(0, t);
    ++bursts;
    places.insert(nanoseconds(burst.from) / 100'000'000 % 80);
    t = burst.to;
  }
  EXPECT_NEAR(bursts, 250, 45);
  EXPECT_GT(places.size(), 40u);

  options.workload = Workload::kInference;
  const Job serving = job_of(options);
  const RnicId one = at(serving, {.data = 0});
  const RnicId other = at(serving, {.data = 1});
  EXPECT_NE(serving.bytes_sent(one, s(10), s(500)), serving.bytes_sent(other, s(10), s(500)));
  EXPECT_EQ(serving.traffic(one, other), TrafficKind::kNone) << "no gradients";
}

/// The lag of a host stays, and its spread is what was asked for.
TEST(JobTraffic, SpreadsHostsAroundTheJob) {
  JobOptions options{.tp = 8, .dp = 64, .step_jitter = 0.0};
  options.worker_spread = 0.05;
  double squares = 0.0;
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const Job job = job_of(options, seed);
    for (std::uint32_t data = 0; data < 64; ++data) {
      const RnicId rnic = at(job, {.data = data});
      // The middle of a burst, from its bytes, tells its lag.
      double middle = 0.0;
      double bytes = 0.0;
      for (int ms = -2'500; ms < 4'500; ms += 20) {
        const double sent = job.bytes_sent(rnic, s(90 + ms * 1e-3), s(90.02 + ms * 1e-3));
        middle += sent * (ms + 10) * 1e-3;
        bytes += sent;
      }
      const double lag_s = middle / bytes - 0.8;
      squares += lag_s * lag_s;
    }
  }
  // Five standard errors of 512 draws.
  EXPECT_NEAR(std::sqrt(squares / 512), 0.05 * 8, 5 * 0.4 / std::sqrt(2.0 * 512));
}

TEST(JobTraffic, NumbersContainersInTheOrderOfRanks) {
  JobOptions options{.tp = 4, .pp = 2, .dp = 4};
  options.container_rnics = 4;
  const Job job = job_of(options);
  EXPECT_EQ(job.hosts().size(), 8u);
  for (std::uint32_t rank = 0; rank < job.rnics().size(); ++rank) {
    EXPECT_EQ(job.container(job.rnics()[rank]), rank / 4);
    EXPECT_EQ(fabric().host_of(job.rnics()[rank]), job.hosts()[rank / 4]);
  }
  EXPECT_EQ(job.container(RnicId(fabric().rnic_count() - 1)), std::nullopt);
}

}  // namespace
}  // namespace bonescan
