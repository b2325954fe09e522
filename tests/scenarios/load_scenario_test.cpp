#include "scenarios/schema/load_scenario.h"

#include "faults/kinds/fault_kind.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kFolder = std::string(BONESCAN_SOURCE_DIR) + "/scenarios/";

constexpr std::string_view kSmallest = R"(name: smallest
duration: 30min
jobs:
  - {gpus: 512, parallelism: {tp: 8, pp: 8, dp: 8}}
)";

Scenario parse(std::string_view text, const std::vector<std::string>& settings = {}) {
  return parse_scenario(text, kFolder + "test.yaml", settings);
}

std::string complaint(std::string_view text, const std::vector<std::string>& settings = {}) {
  try {
    parse_scenario(text, "test.yaml", settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

/// The smallest scenario and more.
std::string smallest_and(std::string_view more) {
  return fmt::format("{}{}", kSmallest, more);
}

Time at(minutes after_start) {
  return kStartOfRun + after_start;
}

TEST(Quickstart, HasThePromisedNetworkAndJob) {
  const Scenario scenario = load_scenario(kFolder + "quickstart.yaml");
  EXPECT_EQ(scenario.name, "quickstart");
  EXPECT_EQ(scenario.duration, minutes(30));
  EXPECT_EQ(scenario.seed, 1u);
  EXPECT_EQ(scenario.pipeline.seed, 1u);
  EXPECT_EQ(scenario.fabric.segments, 4u);
  EXPECT_EQ(scenario.fabric.hosts_per_segment, 16u);
  EXPECT_EQ(scenario.fabric.rails, 8u);
  EXPECT_EQ(scenario.fabric.aggregation_switches, 8u);
  EXPECT_EQ(scenario.fabric.link_rate, BitsPerSecond(400'000'000'000));
  ASSERT_EQ(scenario.jobs.size(), 1u);
  const JobOptions& job = scenario.jobs.front();
  EXPECT_EQ(job.gpus, 512u);
  EXPECT_EQ(job.tp, 8u);
  EXPECT_EQ(job.pp, 8u);
  EXPECT_EQ(job.dp, 8u);
  EXPECT_EQ(job.step_time, seconds(8));
  EXPECT_EQ(job.ready_spread, minutes(2));
  EXPECT_EQ(scenario.pipeline.probing.list, PingListKind::kSkeleton);
  EXPECT_EQ(scenario.pipeline.probing.visit, seconds(1));
  EXPECT_EQ(scenario.pipeline.probing.probes_per_visit, 10);
  EXPECT_EQ(scenario.pipeline.configuration, DetectionConfiguration::kBonescan);
}

TEST(Quickstart, HasTheConfoundersOfTheDefaultFile) {
  const ConfounderOptions confounders = load_scenario(kFolder + "quickstart.yaml").confounders;
  EXPECT_EQ(confounders.late_start_share, 0.02);
  EXPECT_EQ(confounders.late_start_delay, minutes(4));
  EXPECT_EQ(confounders.agent_crashes, 1u);
  EXPECT_EQ(confounders.agent_down, seconds(40));
  EXPECT_EQ(confounders.congestion_per_minute, 1.0);
  EXPECT_EQ(confounders.congestion_length, seconds(4));
  EXPECT_EQ(confounders.congestion_queue, microseconds(15));
}

TEST(Quickstart, HasSixFaultsOfSixKinds) {
  struct Case {
    std::string kind;
    std::string on;
    minutes at;
    Duration length;
    EffectKind effect;
  };
  const std::vector<Case> cases = {
      {"crc-error", "link(tor-1.3, agg-2)", minutes(4), minutes(4), EffectKind::kLinkLoss},
      {"switch-port-down",
       "link(host-2.05/rnic-3, tor-2.3)",
       minutes(9),
       minutes(2),
       EffectKind::kPortDown},
      {"rnic-port-flapping", "host-1.09/rnic-5", minutes(12), seconds(90), EffectKind::kPortFlap},
      {"stale-flow-counters",
       "host-3.11/rnic-6",
       minutes(14),
       minutes(6),
       EffectKind::kCountersFreeze},
      {"missing-overlay-rule",
       "host-0.07/rnic-1",
       minutes(21),
       minutes(2),
       EffectKind::kRuleRemove},
      {"overlay-loop", "host-1.14/rnic-4", minutes(24), minutes(4), EffectKind::kRuleAlter},
  };
  const Scenario scenario = load_scenario(kFolder + "quickstart.yaml");
  const Fabric fabric(scenario.fabric);
  ASSERT_EQ(scenario.faults.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].kind);
    const FaultSpec& fault = scenario.faults[i];
    EXPECT_EQ(fault.kind, cases[i].kind);
    EXPECT_EQ(component_name(fabric, fault.on), cases[i].on);
    EXPECT_EQ(fault.at, at(cases[i].at));
    EXPECT_EQ(fault.duration, cases[i].length);
    ASSERT_EQ(fault.effects.size(), 1u);
    EXPECT_EQ(fault.effects.front().kind, cases[i].effect);
  }
  EXPECT_EQ(scenario.faults[0].effects[0].direction, EffectDirection::kUp);
  EXPECT_EQ(scenario.faults[0].effects[0].ratio, 0.02);
  EXPECT_EQ(scenario.faults[4].effects[0].rule, RuleRole::kDeliver);
  EXPECT_EQ(scenario.faults[5].effects[0].rule, RuleRole::kEncap);
  EXPECT_EQ(scenario.faults[5].effects[0].peer, fabric.rnic(fabric.host(2, 11), 4));
}

/// Two segments, one fault (or none) in the third minute.
void expect_smallest(const Scenario& scenario, const std::string& name) {
  EXPECT_EQ(scenario.name, "smoke-" + name);
  EXPECT_THAT(scenario.description, testing::HasSubstr("Proves that"));
  EXPECT_EQ(scenario.fabric.segments, 2u);
  EXPECT_EQ(scenario.fabric.rails, 8u);
  ASSERT_EQ(scenario.jobs.size(), 1u);
  EXPECT_EQ(scenario.faults.size(), name == "healthy" ? 0u : 1u);
  const bool is_latency = name == "stale-flow-counters";
  EXPECT_EQ(scenario.duration, is_latency ? minutes(10) : minutes(6));
  if (!scenario.faults.empty()) {
    EXPECT_EQ(scenario.faults[0].at, at(is_latency ? minutes(5) : minutes(3)));
  }
}

TEST(SmokeScenarios, HaveOneFaultEachAndOneOfEveryPreset) {
  const std::vector<std::string> expected = {"healthy",
                                             "rail-only",
                                             "hpn",
                                             "three-tier",
                                             "crc-error",
                                             "switch-port-down",
                                             "rnic-port-flapping",
                                             "missing-overlay-rule",
                                             "overlay-loop",
                                             "stale-flow-counters"};
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + "smoke")) {
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    found.push_back(name);
    const Scenario scenario = load_scenario(entry.path().string());
    expect_smallest(scenario, name);
    if (scenario.fabric.preset != FabricPreset::kRailOptimized) {
      EXPECT_EQ(to_string(scenario.fabric.preset), name);
      EXPECT_EQ(scenario.faults.at(0).kind, "crc-error");
      EXPECT_EQ(scenario.fabric.hosts_per_segment, 4u);
      continue;
    }
    EXPECT_EQ(scenario.fabric.hosts_per_segment, 1u);
    EXPECT_EQ(scenario.fabric.aggregation_switches, 2u);
    EXPECT_EQ(scenario.jobs[0].gpus, 16u);
    if (!scenario.faults.empty()) {
      EXPECT_EQ(scenario.faults[0].kind, name);
    }
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
}

TEST(Defaults, AreThoseOfTheOptionStructs) {
  const Scenario scenario = parse(kSmallest);
  EXPECT_EQ(scenario.seed, 1u);
  EXPECT_EQ(scenario.fabric.aggregation_switches, FabricOptions{}.aggregation_switches);
  EXPECT_EQ(scenario.overlay.slow_path, OverlayOptions{}.slow_path);
  EXPECT_EQ(scenario.latency.endpoints, LatencyModelOptions{}.endpoints);
  EXPECT_EQ(scenario.pipeline.loss.open_llr, LossOptions{}.open_llr);
  EXPECT_EQ(scenario.confounders.agent_crashes, 0u);
  EXPECT_TRUE(scenario.faults.empty());
}

TEST(PaperConfiguration, ProbesOnceAVisitUnlessToldOtherwise) {
  const std::string paper = smallest_and("detection: {configuration: paper}\n");
  const std::string three = paper + "probing: {probes_per_visit: 3}\n";
  EXPECT_EQ(parse(paper).pipeline.probing.probes_per_visit, 1);
  EXPECT_EQ(parse(three).pipeline.probing.probes_per_visit, 3);
  EXPECT_EQ(parse(kSmallest).pipeline.probing.probes_per_visit, 10);
}

TEST(LongTermKeys, ReachTheirOptions) {
  const LongTermOptions options = parse(smallest_and(R"(
detection:
  long_term: {enabled: no, period: 15min, reference: 48h, least_reference: 6h, relearn_after: 24h,
              least_factor: 1.1, least_shift: 2us, ewma_weight: 0.2, cusum_slack: 0.5,
              least_pairs: 9, false_alarms_per_day: 0.01, fleet_pairs: 1000,
              lags: {first: 0, second: 3, third: 16, form: two-sample, least_samples: 100,
                     significance: 1e-6}}
)"))
                                      .pipeline.long_term;
  EXPECT_FALSE(options.enabled);
  EXPECT_EQ(options.period, minutes(15));
  EXPECT_EQ(options.reference, std::chrono::hours(48));
  EXPECT_EQ(options.least_reference, std::chrono::hours(6));
  EXPECT_EQ(options.relearn_after, std::chrono::hours(24));
  EXPECT_EQ(options.least_factor, 1.1);
  EXPECT_EQ(options.least_shift, std::chrono::microseconds(2));
  EXPECT_EQ(options.ewma_weight, 0.2);
  EXPECT_EQ(options.cusum_slack, 0.5);
  EXPECT_EQ(options.least_pairs, 9u);
  EXPECT_EQ(options.false_alarms_per_day, 0.01);
  EXPECT_EQ(options.fleet_pairs, 1000u);
  EXPECT_EQ(options.lags.first, 0u);
  EXPECT_EQ(options.lags.second, 3u);
  EXPECT_EQ(options.lags.third, 16u);
  EXPECT_EQ(options.lags.form, ZForm::kWithBaselineError);
  EXPECT_EQ(options.lags.least_samples, 100u);
  EXPECT_EQ(options.lags.significance, 1e-6);
}

TEST(Effects, AreReadWithSelectorsAndDefaults) {
  const Scenario scenario = parse(smallest_and(R"(
faults:
  - name: large packets, one way
    at: 22min
    effects:
      - effect: link.loss
        on: link(host-0.07/rnic-1, tor-0.1)
        direction: up
        ratio: 10%
        min_packet: 1000B
        dscp: 26
        flow_share: 50%
      - {effect: process.stop, on: host-0.07/agent}
)"));
  ASSERT_EQ(scenario.faults.size(), 1u);
  const FaultSpec& fault = scenario.faults[0];
  EXPECT_EQ(fault.kind, "custom");
  EXPECT_EQ(fault.duration, Duration::zero());
  ASSERT_EQ(fault.effects.size(), 2u);
  EXPECT_EQ(fault.on, fault.effects[0].on);
  EXPECT_EQ(fault.effects[0].direction, EffectDirection::kUp);
  EXPECT_EQ(fault.effects[0].ratio, 0.1);
  EXPECT_EQ(fault.effects[0].packets.min_bytes, 1000u);
  EXPECT_EQ(fault.effects[0].packets.max_bytes, PacketSelector{}.max_bytes);
  EXPECT_EQ(fault.effects[0].packets.dscp, 26);
  EXPECT_EQ(fault.effects[0].packets.flow_share, 0.5);
  EXPECT_EQ(fault.effects[1].kind, EffectKind::kProcessStop);
  EXPECT_EQ(fault.effects[1].on.kind, RefKind::kAgent);
}

TEST(Effects, TakeTheComponentOfTheirFault) {
  const Scenario scenario = parse(smallest_and(R"(
faults:
  - name: counters
    on: host-1.14/rnic-4
    at: 1min
    effects: [{effect: counters.freeze}, {effect: offload.remove}]
)"));
  ASSERT_EQ(scenario.faults.at(0).effects.size(), 2u);
  EXPECT_EQ(scenario.faults[0].effects[0].on, scenario.faults[0].on);
  EXPECT_EQ(scenario.faults[0].effects[1].on, scenario.faults[0].on);
}

TEST(Settings, WinOverTheFileInOrder) {
  const std::vector<std::string> settings = {"seed=5",
                                             "seed=9",
                                             "faults[0].at=5min",
                                             "faults[1].name=renamed",
                                             "overlay.ovs.max_idle=20s",
                                             "detection={configuration: paper}"};
  const Scenario scenario = load_scenario(kFolder + "quickstart.yaml", settings);
  EXPECT_EQ(scenario.seed, 9u);
  EXPECT_EQ(scenario.pipeline.seed, 9u);
  EXPECT_EQ(scenario.faults[0].at, at(minutes(5)));
  EXPECT_EQ(scenario.faults[1].name, "renamed");
  EXPECT_EQ(scenario.overlay.max_idle, seconds(20));
  EXPECT_EQ(scenario.pipeline.configuration, DetectionConfiguration::kPaper);
}

TEST(Settings, MakeSectionsThatAreNotThere) {
  EXPECT_EQ(parse(kSmallest, {"overlay.ovs.max_revalidator=250ms"}).overlay.max_revalidator,
            milliseconds(250));
}

TEST(Settings, CanEmptyAListAndOverrideAnInclude) {
  const std::vector<std::string> settings = {"faults=[]", "confounders.agent_crashes.count=3"};
  const Scenario scenario = load_scenario(kFolder + "quickstart.yaml", settings);
  EXPECT_TRUE(scenario.faults.empty());
  EXPECT_EQ(scenario.confounders.agent_crashes, 3u);
  EXPECT_EQ(scenario.confounders.agent_down, seconds(40));
}

TEST(Settings, AreNamedWhenTheyAreWrong) {
  struct Case {
    std::string setting;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"duration=30",
       "--set duration=30: duration: expected a duration from 1s to 8784h; found '30'; hint: add a "
       "unit, as in 30s (units: ns, us, ms, s, min, h)"},
      {"durations=30min",
       "--set durations=30min: durations: expected a known key; found 'durations'; hint: did you "
       "mean 'duration'?"},
      {"jobs[1].gpus=8",
       "--set jobs[1].gpus=8: jobs[1].gpus: expected an index below 1; found 1; hint: entries are "
       "counted from 0, in the order of the file"},
      {"jobs.gpus=8",
       "--set jobs.gpus=8: jobs.gpus: expected a section above 'gpus'; found a list; hint: say "
       "which "
       "entry, as in faults[0].at"},
      {"name.first=x",
       "--set name.first=x: name.first: expected a section above 'first'; found 'smallest'; hint: "
       "this key has no keys below it"},
      {"fabric[0]=x",
       "--set fabric[0]=x: fabric[0]: expected the path of a list before [ ]; found nothing; hint: "
       "leave the [ ] out"},
      {"seed=",
       "--set seed=: seed: expected a whole number from 0 to 9223372036854775807; found nothing; "
       "hint: give the key a value, or delete it to get the default"},
      {"seed=[1",
       "--set seed=[1:1:1: (file): expected a key (one word); found something else; hint: write "
       "'key: value'; close every [ and {, and put commas between entries"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.setting);
    EXPECT_EQ(complaint(kSmallest, {c.setting}), c.expected);
  }
  for (const std::string setting : {"",
                                    "=",
                                    "seed",
                                    "=5",
                                    ".=5",
                                    "a..b=5",
                                    "a[=5",
                                    "a[x]=5",
                                    "[0]=5",
                                    "a[0]b=5",
                                    "a.=5",
                                    "a[99999999999999999999]=5"}) {
    SCOPED_TRACE(setting);
    const std::string text = complaint(kSmallest, {setting});
    EXPECT_THAT(text, testing::StartsWith("--set " + setting + ": "));
    EXPECT_THAT(text, testing::HasSubstr("expected path.to.key=value; found "));
  }
}

TEST(ScenarioText, IsTheFileUnlessSomethingWasSetOrIncluded) {
  EXPECT_EQ(parse(kSmallest).text, kSmallest);
}

TEST(ScenarioText, StandsAloneAndGivesTheSameScenario) {
  const std::vector<std::string> settings = {"faults[0].loss=5%",
                                             "description=a: 'b' \"c\"\n\t# d"};
  const Scenario first = load_scenario(kFolder + "quickstart.yaml", settings);
  const Scenario again = parse_scenario(first.text, "elsewhere.yaml");
  EXPECT_EQ(again.hash, first.hash);
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.description, first.description);
  EXPECT_EQ(again.faults.at(0).effects.at(0).ratio, 0.05);
  EXPECT_EQ(again.faults.at(5).effects.at(0).peer, first.faults[5].effects[0].peer);
  EXPECT_EQ(again.confounders.agent_down, first.confounders.agent_down);
}

TEST(ScenarioHash, ChangesWithAnySettingAndNothingElse) {
  const std::string hash = parse(kSmallest).hash;
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(parse_scenario(kSmallest, "other_name.yaml").hash, hash);
  EXPECT_NE(parse(kSmallest, {"seed=2"}).hash, hash);
  EXPECT_NE(parse(kSmallest, {"seed=2"}).hash, parse(kSmallest, {"seed=3"}).hash);
}

}  // namespace
}  // namespace bonescan
