#include "scenarios/schema/load_keys.h"

#include "scenarios/schema/load_scenario.h"

#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

constexpr std::string_view kLoaded = R"yaml(
name: loaded
duration: 30min
fabric: {segments: 2, hosts_per_segment: 4, rails: 2, aggregation_switches: 2}
jobs:
  - {gpus: 16, parallelism: {tp: 2, pp: 2, dp: 4}}
load:
  model: links
  flows:
    - {from: host-0.01/rnic-0, to: host-1.00/rnic-0, rate: 30%, at: 10s, length: 20s}
    - {from: host-0.01/rnic-1, to: host-1.00/rnic-1, rate: 50%}
  incasts:
    - {to: host-0.00/rnic-1, senders: 5, burst: 80000B, period: 200us}
  congestion: {ecn_min: 50KiB, xoff: 100KiB, xon: 60KiB}
)yaml";

Scenario loaded(const std::vector<std::string>& settings = {}) {
  return parse_scenario(kLoaded, "loaded.yaml", settings);
}

std::set<RnicId> senders(const Scenario& scenario) {
  std::set<RnicId> all;
  for (const OfferedIncast::Sender& sender : scenario.load.incasts.at(0).senders) {
    all.insert(sender.source);
  }
  return all;
}

TEST(LoadKeys, AreWhatTheFileSays) {
  const Scenario scenario = loaded();
  const LoadOptions& load = scenario.load;
  const Fabric fabric(scenario.fabric);
  EXPECT_EQ(load.model, LoadModel::kLinks);
  ASSERT_EQ(load.flows.size(), 2u);
  EXPECT_EQ(load.flows[0].source, fabric.rnic(fabric.host(0, 1), 0));
  EXPECT_EQ(load.flows[0].target, fabric.rnic(fabric.host(1, 0), 0));
  EXPECT_EQ(load.flows[0].rate_share, 0.3);
  EXPECT_EQ(load.flows[0].from, kStartOfRun + std::chrono::seconds(10));
  EXPECT_EQ(load.flows[0].to, kStartOfRun + std::chrono::seconds(30));
  EXPECT_EQ(load.flows[1].from, kStartOfRun);
  EXPECT_EQ(load.flows[1].to, kNever);
  EXPECT_EQ(load.congestion.ecn_min_bytes, 51'200.0);
  EXPECT_EQ(load.congestion.xoff_bytes, 102'400.0);
}

TEST(LoadKeys, DrawDistinctSendersOfTheTargetsRail) {
  const Scenario scenario = loaded();
  const Fabric fabric(scenario.fabric);
  const std::set<RnicId> drawn = senders(scenario);
  EXPECT_EQ(drawn.size(), 5u);
  for (const RnicId sender : drawn) {
    EXPECT_NE(sender, scenario.load.incasts[0].target);
    EXPECT_EQ(fabric.rail_of(sender), 1u);
  }
  EXPECT_EQ(senders(loaded()), drawn);
  std::set<std::set<RnicId>> of_seeds;
  for (const char* seed : {"seed=2", "seed=3", "seed=4", "seed=5", "seed=6"}) {
    of_seeds.insert(senders(loaded({seed})));
  }
  EXPECT_GT(of_seeds.size(), 1u);
}

TEST(LoadKeys, AreOffByDefault) {
  const Scenario scenario = parse_scenario(
      "name: x\nduration: 30min\njobs: [{gpus: 512, parallelism: {tp: 8, pp: 8, dp: 8}}]",
      "x.yaml",
      {});
  EXPECT_EQ(scenario.load.model, LoadModel::kQueueMean);
  EXPECT_EQ(scenario.latency.spike_tail, SpikeTail::kExponential);
}

}  // namespace
}  // namespace bonescan
