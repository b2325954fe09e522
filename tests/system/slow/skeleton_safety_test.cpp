// Wrong skeletons are safe: whatever a job does, no pair that communicates stays unprobed for
// longer than three of its steps and one sweep of the list that the fallback ladder ends at, give
// or take two visits.
//
// The truth about who communicates is the job's; what was probed is what the pipeline asked for.
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using Edge = std::pair<RnicId, RnicId>;

/// The longest time that a communicating pair went without a visit.
class UnprobedTime final {
 public:
  UnprobedTime(Simulation& simulation, const Scenario& scenario)
      : simulation_(simulation), scenario_(scenario) {}

  void observe(Time now, const ProbeBatch& batch, const PairTable& pairs) {
    if (simulation_.world().jobs().revision() != revision_) {
      revision_ = simulation_.world().jobs().revision();
      learn(now);
    }
    const EndpointMap& endpoints = simulation_.backend().endpoints();
    for (const Visit& visit : batch.visits) {
      const Pair& ends = pairs[visit.pair];
      const auto edge = edges_.find({endpoints.rnic(ends.source), endpoints.rnic(ends.target)});
      if (edge != edges_.end()) {
        close(*edge, visit.start);
      }
    }
  }

  void finish(Time now) {
    for (auto& edge : edges_) {
      close(edge, now);
    }
  }

  std::size_t edge_count() const { return edges_.size(); }

  Duration longest() const { return longest_; }

  const std::string& which() const { return which_; }

 private:
  struct Probed {
    Time last = Time::min();
    Time since = Time::min();  ///< the pair communicates
  };

  void learn(Time now) {
    std::map<Edge, Probed> current;
    for (const Job& job : simulation_.world().jobs()) {
      Time since = std::max(now, job.running_since());
      for (const ShapeChange& change : job.options().changes) {
        const Time starts = kStartOfRun + change.at + change.restart;
        since = now >= kStartOfRun + change.at ? std::max(since, starts) : since;
      }
      for (const RnicId source : job.rnics()) {
        for (const JobPeer& peer : job.peers(source, now)) {
          const auto known = edges_.find({source, peer.target});
          current.insert({{source, peer.target},
                          known != edges_.end() ? known->second : Probed{Time::min(), since}});
        }
      }
    }
    edges_ = std::move(current);
  }

  void close(std::pair<const Edge, Probed>& edge, Time at) {
    // Until the last container is ready nobody communicates, and nobody knows when that will be.
    const Time running = simulation_.world()
                             .jobs()[simulation_.world().jobs().place(edge.first.first).job.index()]
                             .running_since();
    const Time from = std::max({edge.second.last, edge.second.since, running});
    if (running < at && at - from > longest_) {
      longest_ = at - from;
      which_ = fmt::format("{} -> {} from {:.1f} s on",
                           edge.first.first.index(),
                           edge.first.second.index(),
                           seconds(from - kStartOfRun));
    }
    edge.second.last = at;
  }

  Simulation& simulation_;
  const Scenario& scenario_;
  std::uint64_t revision_ = ~std::uint64_t{0};
  std::map<Edge, Probed> edges_;
  Duration longest_{};
  std::string which_;
};

struct Case {
  std::string name;
  std::vector<std::string> settings;
  std::size_t fallback_targets = 0;  ///< of the widest list that its traffic calls for
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SkeletonSafety : public testing::TestWithParam<Case> {};

TEST_P(SkeletonSafety, LeavesNoCommunicatingPairUnprobedForLong) {
  const Case& c = GetParam();
  Scenario scenario =
      load_scenario(fmt::format("{}/scenarios/{}.yaml", BONESCAN_SOURCE_DIR, c.name), c.settings);
  for (const std::uint64_t seed : {1, 3}) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    scenario.seed = seed;
    scenario.pipeline.seed = seed;
    Simulation simulation(scenario, {});
    Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
    UnprobedTime unprobed(simulation, scenario);
    RunLoopHooks hooks;
    hooks.observed = [&](Time now, const ProbeBatch& batch) {
      unprobed.observe(now, batch, pipeline.pairs());
    };
    const Time end = run_loop(pipeline,
                              simulation.backend().telemetry(),
                              scenario.pipeline.probing,
                              kStartOfRun + scenario.duration,
                              hooks);
    unprobed.finish(end);
    Duration step{};
    for (const JobOptions& job : scenario.jobs) {
      step = std::max(step, job.step_time);
    }
    // Two visits more: the turn in which the third step is heard, and that in which lists change.
    const Duration limit = 3 * step + static_cast<std::int64_t>(c.fallback_targets + 2) *
                                          scenario.pipeline.probing.visit;
    EXPECT_GT(unprobed.edge_count(), 0u);
    EXPECT_LE(seconds(unprobed.longest()), seconds(limit)) << unprobed.which();
    RecordProperty(fmt::format("longest_s_seed_{}", seed),
                   fmt::format("{:.1f}", seconds(unprobed.longest())));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios,
    SkeletonSafety,
    testing::Values(Case{"skeleton/shape-change", {}, 15},
                    Case{"skeleton/shape-change",
                         {"fabric.segments=8",
                          "jobs[0].gpus=512",
                          "jobs[0].parallelism={tp: 8, pp: 8, dp: 8}",
                          "jobs[0].changes[0].parallelism={tp: 8, pp: 4, dp: 16}"},
                         63},
                    Case{"skeleton/straggler", {}, 15},
                    Case{"skeleton/idle-rnic", {}, 15},
                    Case{"skeleton/two-jobs", {}, 15},
                    Case{"skeleton/moe", {}, 120},
                    Case{"skeleton/moe", {"probing.skeleton.evidence=flow-table"}, 120},
                    Case{"skeleton/debug-job", {}, 120},
                    Case{"paper/job512", {}, 63}),
    [](const auto& c) {
      std::string name = c.param.name;
      if (!c.param.settings.empty()) {
        name += c.param.settings.size() == 1 ? "_flow_tables" : "_512_gpus";
      }
      std::replace_if(
          name.begin(),
          name.end(),
          [](char letter) { return letter == '/' || letter == '-'; },
          '_');
      return name;
    });

}  // namespace
}  // namespace bonescan
