#include "model/backend_sim/telemetry_channel.h"

#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::at_ms;
using test::at_s;

constexpr int kReports = 40'000;

/// Within four standard errors of the share.
void expect_share(int count, int of, double share) {
  EXPECT_NEAR(count, share * of, 4.0 * std::sqrt(share * (1.0 - share) * of));
}

TEST(ReportFate, KeepsTheSharesThatWereAskedFor) {
  const TelemetryChannelOptions options{
      .lost = 0.1, .late = 0.2, .late_by = seconds(2), .duplicated = 0.05};
  int lost = 0;
  int late = 0;
  int copied = 0;
  Duration delays{};
  for (int i = 0; i < kReports; ++i) {
    const ReportFate fate = report_fate(
        options, 1, Purpose::kVisitChannel, EndpointId(i % 100), at_ms(1'000 * (i / 100)));
    lost += fate.lost ? 1 : 0;
    copied += fate.copied ? 1 : 0;
    if (fate.delay > Duration::zero()) {
      ++late;
      delays += fate.delay;
      EXPECT_LE(fate.delay, options.late_by + Duration(1));
    }
  }
  expect_share(lost, kReports, 0.1);
  expect_share(late, kReports, 0.2);
  expect_share(copied, kReports, 0.05);
  EXPECT_NEAR(static_cast<double>((delays / late).count()), 1e9, 0.03e9) << "uniform over 2 s";
}

/// The simulated seam of a small world, with a visit of every other RNIC of its rail each second.
class ChannelBench {
 public:
  explicit ChannelBench(const TelemetryChannelOptions& channel, const HostClockOptions& clocks = {})
      : small_(options(clocks)), backend_(small_.world, {.channel = channel}) {
    const EndpointDirectory& endpoints = backend_.endpoints().directory();
    for (std::uint32_t a = 0; a < endpoints.size(); ++a) {
      for (std::uint32_t b = 0; b < endpoints.size(); ++b) {
        if (a != b && endpoints[EndpointId(a)].rail == endpoints[EndpointId(b)].rail) {
          pairs_.push_back({EndpointId(a), EndpointId(b)});
        }
      }
    }
  }

  /// One turn a second.  Everything that came is kept.
  void run(std::int64_t turns) {
    Telemetry telemetry = backend_.telemetry();
    for (std::int64_t turn = 1; turn <= turns; ++turn) {
      std::vector<ProbeRequest> requests;
      for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
        requests.push_back({.pair = PairId(p),
                            .ends = pairs_[PairId(p)],
                            .start = at_s(turn) + milliseconds(p),
                            .spacing = milliseconds(10),
                            .timeout = milliseconds(500),
                            .source_port = 50'000,
                            .count = 3});
        ++planned;
      }
      telemetry.probes.submit(requests);
      collect(telemetry, at_s(turn) + milliseconds(999));
    }
    collect(telemetry, at_s(turns + 30));
  }

  World& world() { return small_.world; }

  const EndpointMap& endpoints() const { return backend_.endpoints(); }

  const Pair& ends(PairId pair) const { return pairs_[pair]; }

  int planned = 0;
  ProbeBatch batch;
  std::vector<ThroughputSample> samples;
  std::vector<MembershipEvent> events;

 private:
  static WorldOptions options(const HostClockOptions& clocks) {
    WorldOptions options = test::small_world_options();
    options.clocks = clocks;
    options.latency.base_loss_ratio = 0.0;
    return options;
  }

  void collect(const Telemetry& telemetry, Time now) {
    telemetry.membership.collect(now, events);
    telemetry.throughput.collect(now, samples);
    telemetry.probes.collect(now, batch);
  }

  test::SmallWorld small_;
  SimBackend backend_;
  PairTable pairs_;
};

using VisitKey = std::pair<Time, PairId>;

std::map<VisitKey, int> copies_of(const ProbeBatch& batch) {
  std::map<VisitKey, int> copies;
  for (const Visit& visit : batch.visits) {
    ++copies[{visit.start, visit.pair}];
  }
  return copies;
}

TEST(TelemetryChannel, IsNotThereUnlessAsked) {
  ChannelBench plain({});
  plain.run(20);
  EXPECT_EQ(static_cast<int>(plain.batch.visits.size()), plain.planned);
  for (const Visit& visit : plain.batch.visits) {
    EXPECT_EQ(visit.clock, TimestampSource::kModel);
  }
}

TEST(TelemetryChannel, LosesDelaysAndDoublesReportsButNeverChangesOne) {
  ChannelBench plain({});
  ChannelBench bad({.lost = 0.1, .late = 0.2, .late_by = seconds(3), .duplicated = 0.1});
  plain.run(200);
  bad.run(200);
  std::map<VisitKey, std::vector<std::uint32_t>> truth;
  for (const Visit& visit : plain.batch.visits) {
    const auto rtts = plain.batch.rtts(visit);
    truth[{visit.start, visit.pair}].assign(rtts.begin(), rtts.end());
  }
  for (const Visit& visit : bad.batch.visits) {
    const auto rtts = bad.batch.rtts(visit);
    EXPECT_EQ((truth.at({visit.start, visit.pair})),
              std::vector<std::uint32_t>(rtts.begin(), rtts.end()));
  }
  const auto copies = copies_of(bad.batch);
  // A lost report that has a copy comes after all.
  expect_share(bad.planned - static_cast<int>(copies.size()), bad.planned, 0.1 * 0.9);
  const auto doubled =
      std::ranges::count_if(copies, [](const auto& entry) { return entry.second == 2; });
  expect_share(static_cast<int>(doubled), bad.planned, 0.1 * 0.9);
  EXPECT_FALSE(std::is_sorted(bad.batch.visits.begin(),
                              bad.batch.visits.end(),
                              [](const Visit& a, const Visit& b) { return a.start < b.start; }));
}

TEST(TelemetryChannel, LosesSamplesAndRepeatsEvents) {
  ChannelBench bad({.lost = 0.5, .repeat = seconds(5)});
  bad.run(200);
  ChannelBench plain({});
  plain.run(200);
  expect_share(static_cast<int>(bad.samples.size()), static_cast<int>(plain.samples.size()), 0.5);
  EXPECT_EQ(bad.events.size(), plain.events.size()) << "events are announced until heard";
}

/// Counters go on counting: what the samplers of an RNIC read adds up whoever reads when.
TEST(SkewedThroughput, MovesBytesBetweenSecondsButLosesNone) {
  ChannelBench skewed(
      {.sampler_phase = seconds(1), .sampler_jitter = milliseconds(50), .sampler_missed = 0.1});
  ChannelBench aligned({});
  skewed.run(170);
  aligned.run(170);
  std::map<EndpointId, double> sums;
  std::map<EndpointId, double> expected;
  std::set<std::int64_t> phases;
  for (const ThroughputSample& sample : skewed.samples) {
    sums[sample.endpoint] += static_cast<double>(sample.bytes);
    phases.insert(nanoseconds(sample.at) % 1'000'000'000 / 10'000'000);
  }
  for (const ThroughputSample& sample : aligned.samples) {
    expected[sample.endpoint] += static_cast<double>(sample.bytes);
  }
  EXPECT_GT(phases.size(), 50u);
  EXPECT_LT(skewed.samples.size(), aligned.samples.size());
  for (const auto& [endpoint, sum] : expected) {
    EXPECT_NEAR(sums[endpoint] / sum, 1.0, 0.03);
  }
}

/// A visit's start is what the clock of its host shows; which clock took its timestamps is said.
TEST(RecordStamps, ShiftTimesByTheClockOfTheHost) {
  const HostClockOptions clocks{.offset = milliseconds(20), .timestamps = TimestampTaker::kRnic};
  ChannelBench bench({}, clocks);
  ChannelBench plain({});
  bench.run(20);
  plain.run(20);
  ASSERT_EQ(bench.batch.visits.size(), plain.batch.visits.size());
  int shifted = 0;
  for (std::size_t v = 0; v < plain.batch.visits.size(); ++v) {
    const Visit& is = bench.batch.visits[v];
    const Visit& was = plain.batch.visits[v];
    const HostId host =
        bench.world().fabric().host_of(bench.endpoints().rnic(bench.ends(is.pair).source));
    EXPECT_EQ(is.start, was.start + bench.world().host_clocks().offset(host, was.start));
    EXPECT_TRUE(std::ranges::equal(bench.batch.rtts(is), plain.batch.rtts(was)))
        << "RNIC timestamps leave the round trip alone";
    EXPECT_EQ(is.clock, TimestampSource::kDevice);
    EXPECT_NE(is.prober_delay_ns, kUnknownDelay);
    EXPECT_NE(is.responder_delay_ns, kUnknownDelay);
    shifted += is.start != was.start ? 1 : 0;
  }
  EXPECT_GT(shifted, 0);
}

/// Two waits with a mean of 5 us are inside a round trip that the hosts' clocks measure.
TEST(RecordStamps, HostTimestampsPutTheWaitsOfAgentsIntoTheRoundTrip) {
  ChannelBench host({}, {.timestamps = TimestampTaker::kHost, .scheduling = microseconds(5)});
  ChannelBench plain({});
  host.run(200);
  plain.run(200);
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t row = 0; row < plain.batch.rtt_ns.size(); ++row) {
    ASSERT_TRUE(answered(host.batch.rtt_ns[row]));
    ASSERT_GE(host.batch.rtt_ns[row], plain.batch.rtt_ns[row]);
    sum += host.batch.rtt_ns[row] - plain.batch.rtt_ns[row];
    count += 1.0;
  }
  // The sum of two exponentials has a standard deviation of sqrt(2) means.
  EXPECT_NEAR(sum / count, 10'000.0, 4.0 * 5'000.0 * std::sqrt(2.0 / count));
  EXPECT_EQ(host.batch.visits[0].clock, TimestampSource::kHost);
}

/// A step of seconds in the middle of visits: no round trip is absurd, and none is lost by it.
TEST(RecordStamps, StepsInsideVisitsLeaveRoundTripsAlone) {
  const HostClockOptions clocks{.step = seconds(3),
                                .step_period = seconds(1),
                                .step_lasts = milliseconds(500),
                                .timestamps = TimestampTaker::kRnic};
  ChannelBench bench({}, clocks);
  ChannelBench plain({});
  bench.run(60);
  plain.run(60);
  EXPECT_EQ(bench.batch.rtt_ns, plain.batch.rtt_ns);
  for (const Visit& visit : bench.batch.visits) {
    EXPECT_GE(visit.start, kStartOfRun);
  }
}

}  // namespace
}  // namespace bonescan
