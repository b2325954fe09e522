#include "detectors/schedule/probe_scheduler.h"
#include "tools/run/simulation.h"
#include "tools/run/truth_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// The first five rows are SPRT lengths at one false alarm a day over 300,000 pairs (alpha 1.16e-9)
// against a base of 1e-5: 2, 11, 55, 348 and 5,688 probes.
TEST(InformationBound, IsTheLengthOfTheSequentialTestThatKnowsTheFault) {
  struct Case {
    double loss;
    double base;
    double rate;
    double alpha;
    double expected_s;
    double tolerance;
  };
  for (const Case& c : {Case{1.0, 1e-5, 1.0, 1.16e-9, 1.787, 0.001},
                        Case{0.2, 1e-5, 1.0, 1.16e-9, 11.4, 0.5},
                        Case{0.05, 1e-5, 1.0, 1.16e-9, 54.5, 1.0},
                        Case{0.01, 1e-5, 1.0, 1.16e-9, 348.0, 1.0},
                        Case{0.001, 1e-5, 1.0, 1.16e-9, 5'688.0, 10.0},
                        Case{0.01, 1e-5, 50.0, 1.16e-9, 348.0 / 50.0, 0.02},
                        // One probe is needed however strong its evidence is.
                        Case{1.0, 1e-5, 2.0, 0.1, 0.5, 1e-12}}) {
    SCOPED_TRACE(testing::Message() << c.loss << " at " << c.rate);
    EXPECT_NEAR(information_bound_s(c.loss, c.base, c.rate, c.alpha), c.expected_s, c.tolerance);
  }
}

TEST(InformationBound, IsTheDivergenceWrittenOut) {
  const double q = 0.03;
  const double p = 1e-4;
  const double divergence = q * std::log(q / p) + (1 - q) * std::log((1 - q) / (1 - p));
  EXPECT_NEAR(information_bound_s(q, p, 7.0, 1e-6), std::log(1e6) / divergence / 7.0, 1e-12);
}

Scenario small_scenario() {
  Scenario scenario;
  scenario.name = "small";
  scenario.duration = std::chrono::minutes(2);
  scenario.fabric.segments = 2;
  scenario.fabric.hosts_per_segment = 2;
  scenario.fabric.rails = 2;
  scenario.fabric.aggregation_switches = 3;
  JobOptions job;
  job.gpus = 8;
  job.tp = 2;
  job.dp = 2;
  job.pp = 2;
  job.ready_spread = Duration(0);
  scenario.jobs.push_back(job);
  return scenario;
}

FaultSpec loss_on(CableId cable, double ratio) {
  EffectSpec effect;
  effect.kind = EffectKind::kLinkLoss;
  effect.on = {RefKind::kCable, cable.index()};
  effect.ratio = ratio;
  return {.name = "loss",
          .kind = "crc-error",
          .on = effect.on,
          .at = Time(std::chrono::seconds(20)),
          .duration = Duration(0),
          .effects = {effect}};
}

/// Names of the cables that every listed pair crosses together with `truth` or not at all, as the
/// path tracer of the seam tells it.
std::vector<std::string> by_tracing(Simulation& simulation,
                                    const Pipeline& pipeline,
                                    const std::string& truth,
                                    std::uint64_t seed,
                                    Time now) {
  const Telemetry telemetry = simulation.backend().telemetry();
  std::map<std::string, std::set<std::uint32_t>> crossed;
  for (std::uint32_t p = 0; p < pipeline.pairs().size(); ++p) {
    const Pair& ends = pipeline.pairs()[PairId(p)];
    const auto path =
        telemetry.paths.trace({ends.source, ends.target, probe_source_port(seed, ends)}, now);
    EXPECT_TRUE(path.has_value());
    for (const auto* way : {&path->request, &path->answer}) {
      for (const PathHop& hop : *way) {
        crossed[telemetry.components[hop.link].name].insert(p);
      }
    }
  }
  std::vector<std::string> names;
  const auto wanted = crossed.find(truth);
  for (const auto& [name, pairs] : crossed) {
    if (wanted != crossed.end() && pairs == wanted->second) {
      names.push_back("link " + name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class TruthRowsOf {
 public:
  explicit TruthRowsOf(const FaultSpec& fault, const Scenario& base = small_scenario())
      : scenario(base) {
    scenario.faults.push_back(fault);
    simulation = std::make_unique<Simulation>(scenario, SimulationOptions{});
    pipeline = std::make_unique<Pipeline>(scenario.pipeline, simulation->backend().telemetry());
    simulation->learn_paths(pipeline->pairs());
  }

  TruthRow row(Time at) {
    simulation->engine().run_until(at);
    const auto rows = simulation->truth_rows(*pipeline);
    EXPECT_THAT(rows, SizeIs(1));
    return rows.empty() ? TruthRow{} : rows.front();
  }

  Scenario scenario;
  std::unique_ptr<Simulation> simulation;
  std::unique_ptr<Pipeline> pipeline;
};

constexpr Time kLater = Time(std::chrono::seconds(30));

// An access link and a fabric link; every cable of the fabric in turn.
TEST(TruthRows, NamesTheLinksThatNoProbeTellsApart) {
  const Fabric fabric(small_scenario().fabric);
  std::size_t alone = 0;
  std::size_t together = 0;
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    SCOPED_TRACE(fabric.cable_name(CableId(c)));
    TruthRowsOf run(loss_on(CableId(c), 0.5));
    TruthRow row = run.row(kLater);
    EXPECT_EQ(row.layer, Layer::kUnderlay);
    EXPECT_EQ(row.component_type, ComponentType::kLink);
    EXPECT_EQ(row.component, fabric.cable_name(CableId(c)));
    if (row.pairs.empty()) {
      continue;  // No pair hashes to it: nothing to compare.
    }
    std::sort(row.equivalent.begin(), row.equivalent.end());
    const auto expected = by_tracing(
        *run.simulation, *run.pipeline, row.component, run.scenario.pipeline.seed, kLater);
    const bool probed = !expected.empty();
    if (probed) {
      EXPECT_EQ(row.equivalent, expected);
      (expected.size() == 1 ? alone : together) += 1;
    }
    EXPECT_THAT(row.equivalent, testing::Contains("link " + row.component));
  }
  EXPECT_GT(alone, 0u);
}

// Two hosts, one below each ToR: whatever crosses an access link crosses nothing else alone, so a
// pair's two access links are always hit together.
TEST(TruthRows, PutsBothAccessLinksOfALonePairInOneClass) {
  Scenario scenario = small_scenario();
  scenario.fabric.hosts_per_segment = 1;
  scenario.fabric.rails = 1;
  scenario.fabric.aggregation_switches = 1;
  scenario.jobs[0].gpus = 2;
  scenario.jobs[0].tp = 1;
  scenario.jobs[0].dp = 1;
  TruthRowsOf run(loss_on(CableId(0), 0.5), scenario);
  // The whole chain, access and fabric: every probe crosses all of it.
  EXPECT_THAT(run.row(kLater).equivalent, SizeIs(4));
}

TEST(TruthRows, BoundsTheDelayByTheAffectedPairsThatAreProbed) {
  TruthRowsOf run(loss_on(CableId(3), 0.02));
  std::vector<ProbeRequest> requests;
  std::vector<MembershipEvent> events;
  const Telemetry telemetry = run.simulation->backend().telemetry();
  for (int second = 0; second < 5; ++second) {
    const Time now = Time(std::chrono::seconds(second));
    telemetry.membership.collect(now, events);
    run.pipeline->membership(events);
    events.clear();
    run.pipeline->plan(now, requests);
  }
  const TruthRow row = run.row(kLater);
  // RNIC 3 has three peers on its rail: six directed pairs, ten probes each, in a sweep of 3 s.
  const double rate = 6 * 10 / 3.0;
  EXPECT_DOUBLE_EQ(run.pipeline->skeleton().sweep_s, 3.0);
  EXPECT_NEAR(row.information_bound_s,
              information_bound_s(row.loss_ratio, 1e-5, rate, 1.0 / (32'768.0 * 86'400.0)),
              1e-9);
  EXPECT_NEAR(row.loss_ratio, 1.0 - 0.98 * 0.98, 1e-5);
  EXPECT_EQ(row.symptom, Symptom::kLoss);
  EXPECT_EQ(row.time_zero, Time(std::chrono::seconds(20)));
}

TEST(TruthRows, NamesRulesRnicsAndAgentsThemselves) {
  struct Case {
    const char* name;
    EffectKind kind;
    RefKind on;
    Layer layer;
    ComponentType type;
    const char* component;
  };
  for (const Case& c : {Case{"rule",
                             EffectKind::kRuleRemove,
                             RefKind::kRnic,
                             Layer::kOverlay,
                             ComponentType::kRule,
                             "host-0.01/br-int table=20 vni=100,dst=10.0.1.2"},
                        Case{"counters",
                             EffectKind::kCountersFreeze,
                             RefKind::kRnic,
                             Layer::kRnic,
                             ComponentType::kRnic,
                             "host-0.01/rnic-1"},
                        Case{"agent",
                             EffectKind::kProcessStop,
                             RefKind::kAgent,
                             Layer::kAgent,
                             ComponentType::kAgent,
                             "host-0.01/agent"},
                        Case{"vswitchd",
                             EffectKind::kProcessStop,
                             RefKind::kOvs,
                             Layer::kOverlay,
                             ComponentType::kBridge,
                             "host-0.01/br-int"}}) {
    SCOPED_TRACE(c.name);
    FaultSpec fault = loss_on(CableId(0), 0.0);
    fault.effects[0].kind = c.kind;
    fault.effects[0].on = {c.on, c.on == RefKind::kRnic ? 3u : 1u};
    TruthRowsOf run(fault);
    const TruthRow row = run.row(kLater);
    EXPECT_EQ(row.layer, c.layer);
    EXPECT_EQ(row.component_type, c.type);
    EXPECT_EQ(row.component, c.component);
    EXPECT_THAT(row.equivalent, ElementsAre(std::string(to_string(c.type)) + " " + c.component));
  }
}

}  // namespace
}  // namespace bonescan
