// Faults that touch only some packets, in the simulated world: follow-up probes say which.
#include "tests/support/simulated_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan {
namespace {

using testing::HasSubstr;

constexpr const char* kWorld = R"yaml(
name: partial
duration: 3min
fabric: {{segments: 2, hosts_per_segment: 2, rails: 2, aggregation_switches: 2,
          link: {{rate: 400Gbps}}}}
jobs:
  - {{name: pretrain, gpus: 8, parallelism: {{tp: 2, pp: 4, dp: 1}}}}
probing: {{list: same-rail, payload: {}}}
faults:
  - name: partial
    at: 90s
    effects:
      - {}
)yaml";

/// All lines of the stage.
std::string lines_of(const Incident& incident, std::string_view stage) {
  std::string text;
  for (const Evidence& line : incident.evidence) {
    text += line.stage == stage ? line.text + "\n" : "";
  }
  return text;
}

struct Case {
  const char* name;
  const char* payload;
  const char* effect;
  const char* says;
};

class PartialFaults : public testing::TestWithParam<Case> {};

TEST_P(PartialFaults, AreNamedByFollowUps) {
  const Case& c = GetParam();
  const Scenario scenario =
      parse_scenario(fmt::format(kWorld, c.payload, c.effect), "partial.yaml");
  Simulation simulation(scenario, {});
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  test::run(simulation, scenario, pipeline);
  std::string told;
  for (const Incident& incident : pipeline.incidents()) {
    told += lines_of(incident, "follow-up");
  }
  EXPECT_THAT(told, HasSubstr(c.says));
  if (std::string_view(c.says).find("alike") != std::string_view::npos) {
    EXPECT_THAT(told, testing::Not(HasSubstr("only some packets")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    PartialFaults,
    testing::Values(
        Case{"whole",
             "64B",
             "{effect: link.loss, on: 'link(host-0.01/rnic-1, tor-0.1)', ratio: 100%}",
             "fail alike"},
        Case{"dscp",
             "64B",
             "{effect: link.loss, on: 'link(host-0.01/rnic-1, tor-0.1)', ratio: 100%, dscp: 26}",
             "dscp: DSCP 0 passes"},
        Case{"five_tuple",
             "64B",
             "{effect: link.loss, on: 'link(host-0.01/rnic-1, tor-0.1)', ratio: 100%, "
             "flow_share: 50%}",
             "five-tuple: "},
        Case{"small",
             "64B",
             "{effect: link.loss, on: 'link(host-0.01/rnic-1, tor-0.1)', ratio: 100%, "
             "max_packet: 500B}",
             "packet-size: 1024 bytes of payload pass"},
        Case{"mtu",
             "2048B",
             "{effect: tunnel.mtu, on: host-0.01/rnic-1, mtu: 1500B}",
             "packet-size: "}),
    [](const testing::TestParamInfo<Case>& made) { return std::string(made.param.name); });

}  // namespace
}  // namespace bonescan
