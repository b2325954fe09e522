// The two built-in rivals that judge tumbling windows.
#include "detectors/shortterm/robust_z_detector.h"
#include "detectors/shortterm/window_lof_detector.h"
#include "tests/support/noisy_fleet.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kPairs = 50;
constexpr PairId kVictim(7);

struct Watch {
  explicit Watch(std::unique_ptr<Detector> one) : detector(std::move(one)) {
    detector->resize(kPairs);
  }

  /// The verdicts of so many seconds.
  std::vector<Verdict> seconds(int count) {
    std::vector<Verdict> verdicts;
    for (int i = 0; i < count; ++i) {
      detector->observe(fleet.now(), fleet.next_visits());
      detector->evaluate(fleet.now() + std::chrono::milliseconds(500), verdicts);
    }
    return verdicts;
  }

  NoisyFleet fleet{kPairs, 2};
  std::unique_ptr<Detector> detector;
};

TEST(RobustZ, FindsAStepWhenTheWindowCloses) {
  Watch watch(std::make_unique<RobustZDetector>());
  EXPECT_EQ(watch.detector->name(), "robust-z");
  EXPECT_TRUE(watch.seconds(20 * 30).empty());
  watch.fleet.noise[kVictim.index()].factor = 1.25;
  EXPECT_TRUE(watch.seconds(29).empty());
  for (int window = 0; window < 15; ++window) {
    const auto verdicts = watch.seconds(30);
    ASSERT_EQ(verdicts.size(), 1U) << "frozen, window " << window;
    EXPECT_EQ(verdicts[0].pair, kVictim);
    EXPECT_EQ(verdicts[0].rule, VerdictRule::kOther);
    EXPECT_NEAR(verdicts[0].factor, 1.25F, 0.05F);
  }
  watch.fleet.noise[kVictim.index()].factor = 1.0;
  watch.seconds(31);
  EXPECT_TRUE(watch.seconds(60).empty());
}

TEST(RobustZ, LearnsANewLevelAfterTheFreeze) {
  Watch watch(std::make_unique<RobustZDetector>());
  watch.seconds(20 * 30);
  watch.fleet.noise[kVictim.index()].factor = 2.0;
  EXPECT_EQ(watch.seconds(20 * 30).size(), 20U);
  EXPECT_TRUE(watch.seconds(20 * 30).empty());
}

TEST(SkeletonHunter, IsThePublishedTest) {
  Watch watch(std::make_unique<WindowLofDetector>(WindowLofDetector::published()));
  EXPECT_EQ(watch.detector->name(), "skeletonhunter");
  watch.seconds(12 * 30);
  watch.fleet.noise[kVictim.index()].factor = 7.5;
  std::vector<int> late;
  for (int window = 0; window < 10; ++window) {
    for (const Verdict& verdict : watch.seconds(30)) {
      EXPECT_EQ(verdict.rule, VerdictRule::kWindowLof);
      if (verdict.pair == kVictim) {
        late.push_back(window);
      }
    }
  }
  // The window that was open at the step may be late too; then it learns the fault, k = 5 windows.
  ASSERT_FALSE(late.empty());
  EXPECT_LE(late.front(), 1);
  EXPECT_LE(late.back(), 6);
}

TEST(TumblingWindows, ReleasedPairsAreForgotten) {
  for (auto& detector : {std::shared_ptr<Detector>(std::make_shared<RobustZDetector>()),
                         std::shared_ptr<Detector>(std::make_shared<WindowLofDetector>(
                             WindowLofDetector::published()))}) {
    NoisyFleet fleet(kPairs, 2);
    detector->resize(kPairs);
    std::vector<Verdict> verdicts;
    for (int i = 0; i < 31; ++i) {
      detector->observe(fleet.now(), i < 20 ? fleet.next_visits() : std::span<ObservedVisit>());
      detector->evaluate(fleet.now() + std::chrono::seconds(i < 20 ? 0 : 60), verdicts);
    }
    detector->release({PairId(0), kPairs});
    EXPECT_TRUE(verdicts.empty());
  }
}

}  // namespace
}  // namespace bonescan
