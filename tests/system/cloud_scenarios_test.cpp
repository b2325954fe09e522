// Clouds from end to end: churn is no failure, a fault of one tenant is found among the others, and
// the reference mode gives the same run.
#include "tests/support/bonescan_cli.h"

namespace bonescan::fakes {
namespace {

using nlohmann::json;

constexpr const char* kChurn = "scenarios/cloud/churn.yaml";

TEST(CloudScenarios, ChurnRaisesNoFalseAlarm) {
  const TemporaryDirectory directory;
  const json report = run_report(kChurn, directory.file("a"));
  EXPECT_EQ(report["detection"]["false_positives"], 0) << report["incidents"].dump(1);
  EXPECT_GT(report["detection"]["agent_deaths"], 0) << "agents are upgraded";
  const json again = run_report(kChurn, directory.file("b"), {"--one-event-per-probe"});
  EXPECT_EQ(again["fingerprint"], report["fingerprint"]);
}

TEST(CloudScenarios, AFaultOfOneTenantIsFoundAndNamed) {
  const TemporaryDirectory directory;
  const json report =
      run_report(kChurn,
                 directory.file("a"),
                 {"--set",
                  "faults=[{name: f, kind: missing-overlay-rule, on: host-2.05/rnic-0, "
                  "rule: deliver, at: 5min, for: 2min}]"});
  EXPECT_EQ(report["detection"]["true_positives"], 1) << report["incidents"].dump(1);
  EXPECT_EQ(report["detection"]["false_positives"], 0) << report["incidents"].dump(1);
  EXPECT_EQ(report["localization"]["correct"], 1) << report["incidents"].dump(1);
}

}  // namespace
}  // namespace bonescan::fakes
