// Random jobs, probed all the time: what flow tables tell about them is what they do.
#include "skeleton/flow_evidence.h"

#include "model/backend_sim/sim_backend.h"
#include "skeleton/rail_pairs.h"
#include "tests/support/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Dice;

using EdgeSet = std::set<std::pair<EndpointId, EndpointId>>;  ///< lower id first

WorldOptions random_world(std::uint64_t seed, Duration shortest_step, Duration longest_step) {
  Dice dice(seed, 11);
  WorldOptions options;
  options.seed = seed;
  options.fabric.rails = 4;
  options.fabric.segments = 2;
  options.fabric.hosts_per_segment = 8;
  options.fabric.aggregation_switches = 2;
  JobOptions job;
  job.tp = dice.below(3) == 0 ? 2 : 4;
  do {
    job.pp = 1 + dice.below(4);
    job.dp = 1 + dice.below(6);
  } while (job.pp * job.dp < 4 || job.tp * job.pp * job.dp > 64 ||
           job.tp * job.pp * job.dp % 4 != 0);
  job.gpus = job.tp * job.pp * job.dp;
  if (job.dp % 2 == 0 && dice.below(2) == 0) {
    job.ep = 2;
    job.expert_rails = dice.below(2) == 0 ? ExpertRails::kCross : ExpertRails::kSame;
  }
  job.collective = std::array{GradientCollective::kRing,
                              GradientCollective::kTree,
                              GradientCollective::kMesh}[dice.below(3)];
  job.step_time = dice.between(shortest_step, longest_step);
  job.ready_spread = seconds(2);
  options.jobs.push_back(job);
  return options;
}

/// A job, its RNICs as a task, and somebody who probes the same rail once a second.
class Probed final {
 public:
  explicit Probed(const WorldOptions& options)
      : world_(options, engine_),
        backend_(world_, {}),
        lists_(same_rail_targets(backend_.endpoints().directory(), options.seed)) {
    for (std::uint32_t source = 0; source < lists_.size(); ++source) {
      members_.push_back(EndpointId(source));
      for (const EndpointId target : lists_[source]) {
        pairs_.push_back({EndpointId(source), target});
      }
    }
  }

  World& world() { return world_; }

  const std::vector<EndpointId>& members() const { return members_; }

  Time now() const { return now_; }

  RnicId rnic(EndpointId endpoint) const { return backend_.endpoints().rnic(endpoint); }

  /// One visit period, and then a poll.
  void second(FlowEvidence* evidence, std::size_t budget) {
    Telemetry telemetry = backend_.telemetry();
    std::vector<ProbeRequest> requests;
    std::uint32_t pair = 0;
    for (const std::vector<EndpointId>& list : lists_) {
      const auto count = static_cast<std::uint32_t>(list.size());
      if (count > 0) {
        ProbeRequest request;
        request.pair = PairId(pair + turn_ % count);
        request.ends = pairs_[request.pair];
        request.start = now_ + milliseconds(10);
        request.spacing = milliseconds(10);
        request.timeout = milliseconds(500);
        request.source_port = 50'000;
        request.count = 10;
        requests.push_back(request);
      }
      pair += count;
    }
    telemetry.probes.submit(requests);
    now_ += seconds(1);
    ++turn_;
    ProbeBatch batch;
    telemetry.probes.collect(now_, batch);
    if (evidence != nullptr) {
      EXPECT_LE(evidence->poll(telemetry.tables, now_, budget), budget);
    }
  }

  void run(Duration length, FlowEvidence* evidence = nullptr, std::size_t budget = 64) {
    for (const Time end = now_ + length; now_ < end;) {
      second(evidence, budget);
    }
  }

  EdgeSet truth() const {
    EdgeSet edges;
    const Job& job = world_.jobs()[0];
    for (const EndpointId a : members_) {
      for (const EndpointId b : members_) {
        if (a < b && job.traffic(rnic(a), rnic(b)) != TrafficKind::kNone) {
          edges.emplace(a, b);
        }
      }
    }
    return edges;
  }

  bool is_anybody_idle() const {
    std::set<EndpointId> busy;
    for (const auto& [a, b] : truth()) {
      busy.insert({a, b});
    }
    return busy.size() < members_.size();
  }

  bool crosses_rails(const EdgeSet& edges) const {
    return std::any_of(edges.begin(), edges.end(), [this](const auto& ends) {
      return world_.fabric().rail_of(rnic(ends.first)) !=
             world_.fabric().rail_of(rnic(ends.second));
    });
  }

 private:
  Engine engine_;
  World world_;
  SimBackend backend_;
  PingLists lists_;
  PairTable pairs_;
  std::vector<EndpointId> members_;
  Time now_;
  std::uint32_t turn_ = 0;
};

EdgeSet edges_of(const TaskSkeleton& skeleton, const std::vector<EndpointId>& members) {
  EdgeSet edges;
  for (std::size_t i = 0; i < skeleton.peers.size(); ++i) {
    for (const EndpointId peer : skeleton.peers[i]) {
      edges.emplace(std::min(members[i], peer), std::max(members[i], peer));
    }
  }
  return edges;
}

bool holds_all(const EdgeSet& all, const EdgeSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

/// Steps of up to 12 s: no entry of the job idles out between its bursts.
TEST(FlowEvidenceProperty, NamesExactlyThePeersOfAHealthyJobAfterTwoDumps) {
  int exact = 0;
  int cross_rail = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Probed probed(random_world(seed, milliseconds(500), seconds(12)));
    probed.run(seconds(20));
    FlowEvidence evidence(probed.members(), {});
    probed.run(seconds(50), &evidence, 2 + probed.members().size() / 10);
    const auto found = evidence.skeleton();
    ASSERT_TRUE(found);
    const EdgeSet told = edges_of(*found, probed.members());
    const EdgeSet truth = probed.truth();
    if (probed.is_anybody_idle()) {
      EXPECT_TRUE(holds_all(told, truth)) << "whoever is silent may have been missed";
      continue;
    }
    ++exact;
    EXPECT_EQ(found->scope, SkeletonScope::kPeers) << found->why;
    EXPECT_GE(found->confidence, 0.99);
    EXPECT_EQ(told, truth) << found->why;
    cross_rail += probed.crosses_rails(truth) ? 1 : 0;
  }
  EXPECT_GT(exact, 30);
  EXPECT_GT(cross_rail, 3);
}

/// Steps of up to 45 s: entries come and go.  A scope that is called certain misses nobody.
TEST(FlowEvidenceProperty, IsCertainOnlyWhereNobodyIsMissed) {
  int certain = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Probed probed(random_world(seed, seconds(12), seconds(45)));
    probed.run(seconds(50));
    FlowEvidence evidence(probed.members(), {});
    for (int look = 0; look < 6; ++look) {
      probed.run(seconds(30), &evidence);
      const auto found = evidence.skeleton();
      if (found && found->scope == SkeletonScope::kPeers && found->confidence >= 0.99) {
        ++certain;
        EXPECT_TRUE(holds_all(edges_of(*found, probed.members()), probed.truth()))
            << found->why << "; " << probed.truth().size() << " in truth, look " << look;
      }
    }
  }
  EXPECT_GT(certain, 150) << "of 300 looks";
}

/// Goal: counters that stand still make the evidence unknown or wider, never silently smaller.
TEST(FlowEvidenceProperty, IsNeverSmallerWhereCountersStandStill) {
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Dice dice(seed, 12);
    Probed probed(random_world(seed, milliseconds(500), seconds(30)));
    probed.run(seconds(20));
    const std::uint32_t one_in = 1 + dice.below(6);
    const auto freeze = [&] {
      for (const EndpointId member : probed.members()) {
        if (dice.below(one_in) == 0) {
          probed.world().freeze_counters(probed.rnic(member));
        }
      }
    };
    FlowEvidence evidence(probed.members(), {});
    const int before = static_cast<int>(dice.below(30));
    const bool early = dice.below(2) == 0;
    probed.run(seconds(before), early ? nullptr : &evidence);
    freeze();
    for (int look = 0; look < 20; ++look) {
      probed.run(seconds(5), &evidence);
      const auto found = evidence.skeleton();
      if (found && found->scope == SkeletonScope::kPeers) {
        EXPECT_TRUE(holds_all(edges_of(*found, probed.members()), probed.truth()))
            << "after " << (look + 1) * 5 << " s: " << found->why;
        told += found->why.find("stand still") != std::string::npos ? 1 : 0;
      }
    }
  }
  EXPECT_GT(told, 5);
}

TEST(FlowEvidenceProperty, TheOracleIsExactAtOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Engine engine;
    World world(random_world(seed, seconds(1), seconds(45)), engine);
    SimBackend backend(world, {.flow_counting = FlowCounting::kOracle});
    SkeletonOptions options;
    options.evidence = SkeletonEvidence::kOracle;
    std::vector<EndpointId> members;
    for (std::uint32_t i = 0; i < backend.endpoints().directory().size(); ++i) {
      members.push_back(EndpointId(i));
    }
    FlowEvidence evidence(members, options);
    evidence.poll(backend.telemetry().tables, kStartOfRun + seconds(1), 1);
    const auto found = evidence.skeleton();
    ASSERT_TRUE(found);
    EdgeSet truth;
    for (const EndpointId a : members) {
      for (const EndpointId b : members) {
        if (a < b && world.jobs()[0].traffic(backend.endpoints().rnic(a),
                                             backend.endpoints().rnic(b)) != TrafficKind::kNone) {
          truth.emplace(a, b);
        }
      }
    }
    EXPECT_EQ(found->scope, SkeletonScope::kPeers);
    EXPECT_EQ(found->confidence, 1.0);
    EXPECT_EQ(edges_of(*found, members), truth);
  }
}

}  // namespace
}  // namespace bonescan
