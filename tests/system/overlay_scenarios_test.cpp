// One scenario for each effect on the overlay that has an observable: found, and named as the
// catalogue says.
#include "tests/support/bonescan_cli.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace bonescan::fakes {
namespace {

using nlohmann::json;

struct Case {
  const char* name;
  const char* layer;      ///< of the truth
  const char* component;  ///< of the truth
  bool named;             ///< the incident names it
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"eswitch-full", "rnic", "host-1.00/rnic-6", true},
      {"flow-limit", "overlay", "host-1.00/br-int", false},
      {"rule-order", "rnic", "host-0.00/rnic-5", true},
      {"stale-neighbour", "overlay", "host-0.00/br-int", false},
      {"tunnel-checksum", "underlay", "link(host-1.00/rnic-0, tor-1.0)", true},
      {"tunnel-mtu", "underlay", "link(host-0.00/rnic-4, tor-0.4)", true},
      {"tunnel-neighbour", "overlay", "host-1.00/br-int", true},
      {"tunnel-route", "overlay", "host-0.00/br-int", true},
      {"tunnel-vni", "overlay", "host-1.00/br-int table=0 in_port=vf-5", true},
      {"vf-spoof-drop", "underlay", "link(host-0.00/rnic-7, tor-0.7)", true},
  };
  return kCases;
}

TEST(OverlayScenarios, AreThoseOfTheTable) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("scenarios/overlay"))) {
    found.insert(entry.path().stem().string());
  }
  std::set<std::string> expected;
  for (const Case& c : cases()) {
    expected.insert(c.name);
  }
  EXPECT_EQ(found, expected);
}

class OverlayScenario : public testing::TestWithParam<Case> {
 protected:
  TemporaryDirectory directory_;
};

TEST_P(OverlayScenario, FindsItsFaultAndNamesItWhereAnythingShowsIt) {
  const Case& c = GetParam();
  const std::string scenario = std::string("scenarios/overlay/") + c.name + ".yaml";
  const json report = run_report(scenario, directory_.file("a"));
  const json& truth = report["faults"].at(0);
  EXPECT_EQ(truth["layer"], c.layer);
  EXPECT_EQ(truth["component"]["name"], c.component);
  EXPECT_EQ(report["detection"]["true_positives"], 1) << report["incidents"].dump(1);
  EXPECT_EQ(report["detection"]["false_positives"], 0) << report["incidents"].dump(1);
  EXPECT_EQ(report["localization"]["correct"], c.named ? 1 : 0) << report["incidents"].dump(1);
  const json again = run_report(scenario, directory_.file("b"), {"--one-event-per-probe"});
  EXPECT_EQ(again["fingerprint"], report["fingerprint"]);
}

INSTANTIATE_TEST_SUITE_P(All,
                         OverlayScenario,
                         testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& scenario) {
                           std::string name = scenario.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace bonescan::fakes
