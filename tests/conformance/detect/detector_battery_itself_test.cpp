// The battery against detectors that are broken on purpose.
#include "detectors/telemetry/probe.h"
#include "tests/conformance/detect/detector_battery.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bonescan::conformance {
namespace {

/// Breaks one invariant each.
enum class Flaw : std::uint8_t {
  kNone,
  kOrder,
  kBatch,
  kMissing,
  kSeverity,
  kAllocation,
};

class FlawedDetector final : public Detector {
 public:
  explicit FlawedDetector(Flaw flaw) : flaw_(flaw) {}

  std::string_view name() const override { return "flawed"; }

  void resize(std::size_t pairs) override { scores_.resize(pairs); }
  void set_class(PairId, std::uint8_t) override {}
  void release(PairRange pairs) override { released_ = pairs; }

  void observe(Time, std::span<const ObservedVisit> visits) override {
    ++calls_;
    std::fill(scores_.begin(), scores_.end(), flaw_ == Flaw::kMissing ? 0.0F : -1.0F);
    for (std::size_t i = 0; i < visits.size(); ++i) {
      float score = 0.0F;
      for (const std::uint32_t rtt : visits[i].rtts_ns) {
        score += is_local_error(rtt) ? 0.0F : answered(rtt) ? rtt > 30'000 ? 1.0F : 0.0F : 2.0F;
      }
      if (flaw_ == Flaw::kSeverity && score >= 20.0F) {
        score = 0.0F;
      }
      scores_[visits[i].pair.index()] =
          flaw_ == Flaw::kOrder && score > 0.0F ? score + static_cast<float>(i) : score;
    }
    if (flaw_ == Flaw::kAllocation) {
      scores_ = std::vector<float>(scores_);
    }
  }

  void evaluate(Time now, std::vector<Verdict>& verdicts) override {
    for (std::uint32_t pair = 0; pair < scores_.size(); ++pair) {
      if (scores_[pair] > 0.0F && !released_.holds(PairId(pair))) {
        verdicts.push_back({.at = now,
                            .pair = PairId(pair),
                            .kind = VerdictKind::kAnomalous,
                            .rule = VerdictRule::kOther,
                            .score = scores_[pair],
                            .factor = flaw_ == Flaw::kBatch ? static_cast<float>(calls_) : 1.0F});
      } else if (scores_[pair] == 0.0F) {
        verdicts.push_back({.at = now,
                            .pair = PairId(pair),
                            .kind = VerdictKind::kHealthy,
                            .rule = VerdictRule::kOther});
      }
    }
    std::fill(scores_.begin(), scores_.end(), flaw_ == Flaw::kMissing ? 0.0F : -1.0F);
  }

 private:
  Flaw flaw_;
  int calls_ = 0;
  PairRange released_{PairId(0), 0};
  std::vector<float> scores_;
};

DetectorEntry flawed(Flaw flaw) {
  return {.name = "flawed",
          .make = [flaw](const DetectorSite&) { return std::make_unique<FlawedDetector>(flaw); }};
}

TEST(AllocationCount, CountsWhatContainersAskFor) {
  const std::uint64_t before = allocation_count();
  std::vector<int> grown;
  grown.reserve(100);
  EXPECT_EQ(allocation_count() - before, 1U);
  grown.assign(100, 7);
  EXPECT_EQ(allocation_count() - before, 1U);
}

// A battery that nothing can fail proves nothing.
TEST(DetectorBatteryItself, FindsEachFlaw) {
  EXPECT_NE(order_complaint(flawed(Flaw::kOrder)), "");
  EXPECT_NE(batch_complaint(flawed(Flaw::kBatch)), "");
  EXPECT_NE(missing_complaint(flawed(Flaw::kMissing)), "");
  EXPECT_NE(severity_complaint(flawed(Flaw::kSeverity)), "");
  EXPECT_NE(allocation_complaint(flawed(Flaw::kAllocation)), "");
  EXPECT_EQ(order_complaint(flawed(Flaw::kNone)), "");
  EXPECT_EQ(severity_complaint(flawed(Flaw::kNone)), "");
  EXPECT_EQ(allocation_complaint(flawed(Flaw::kNone)), "");
  EXPECT_EQ(release_complaint(flawed(Flaw::kNone)), "");
  EXPECT_EQ(purpose_complaint(flawed(Flaw::kNone)), "");
}

}  // namespace
}  // namespace bonescan::conformance
