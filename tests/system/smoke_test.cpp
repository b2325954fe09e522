// The smallest scenarios from end to end: the one thing that is broken is found, placed, and alone.
#include "tests/support/bonescan_cli.h"
#include "tests/support/golden_text.h"

namespace bonescan::fakes {
namespace {

using nlohmann::json;

class Smoke : public testing::TestWithParam<std::string> {
 protected:
  std::string scenario() const { return "scenarios/smoke/" + GetParam(); }

  TemporaryDirectory directory_;
};

TEST_P(Smoke, FindsAndPlacesItsFaultAndNothingElse) {
  for (const char* seed : {"1", "3", "5"}) {
    SCOPED_TRACE("seed=" + std::string(seed));
    const json report = run_report(scenario(), directory_.file(seed), {"--seed", seed});
    const json& detection = report["detection"];
    const unsigned faults = GetParam() == "healthy.yaml" ? 0 : 1;
    EXPECT_EQ(detection["faults"], faults);
    EXPECT_EQ(detection["true_positives"], faults);
    EXPECT_EQ(detection["false_positives"], 0);
    EXPECT_EQ(detection["duplicates"], 0);
    EXPECT_EQ(detection["late"], 0);
    EXPECT_EQ(report["localization"]["correct"], faults);
    EXPECT_EQ(report["incidents"].size(), faults) << report["incidents"].dump(1);
  }
}

TEST_P(Smoke, IsTheSameRunWithMoreThreadsAndWithOneEventPerProbe) {
  const std::string wanted = run_report(scenario(), directory_.file("a"))["fingerprint"];
  const std::vector<Arguments> variants = {
      {}, {"--threads", "2"}, {"--threads", "3"}, {"--one-event-per-probe"}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    SCOPED_TRACE(variants[i].empty() ? "again" : variants[i].front());
    const json report =
        run_report(scenario(), directory_.file("b" + std::to_string(i)), variants[i]);
    EXPECT_EQ(report["fingerprint"], wanted);
  }
  EXPECT_NE(run_report(scenario(), directory_.file("c"), {"--seed", "2"})["fingerprint"], wanted);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Smoke, testing::ValuesIn(smoke_scenarios()), test_name);

// A changed fingerprint is a changed result: it needs a reason, and tools/regen_golden.sh.
TEST(SmokeFingerprints, AreTheGoldenOnes) {
  const TemporaryDirectory directory;
  std::string text = "# scenario, seed, fingerprint; written by tools/regen_golden.sh\n";
  for (const std::string& name : smoke_scenarios()) {
    const json report = run_report("scenarios/smoke/" + name, directory.file(name));
    text += "smoke/" + name + " 1 " + report["fingerprint"].get<std::string>() + "\n";
  }
  expect_golden_text(text, "fingerprints.txt");
}

}  // namespace
}  // namespace bonescan::fakes
