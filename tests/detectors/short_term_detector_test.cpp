#include "detectors/shortterm/short_term_detector.h"

#include "detectors/shortterm/lof.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kWindow = seconds(30);

// What one probe of a pair measures, in us; `u` and `v` are uniform in (0, 1).
using Traffic = std::function<double(PairId pair, double u, double v)>;

double healthy_us(PairId /*pair*/, double u, double /*v*/) {
  return lognormal_quantile(u, std::log(16.0), 0.08);
}

// 1 % of probes meet a queue of 40 us on average.
double spiky_us(PairId pair, double u, double v) {
  const double queue_us = v < 0.01 ? exponential_quantile(v * 100.0, 40.0) : 0.0;
  return healthy_us(pair, u, v) + queue_us;
}

constexpr double kMillisecondUs = 1e3;

// Tails of a machine that is not alone: the median stays, everything above it jumps about.
double noisy_host_us(PairId /*pair*/, double u, double v) {
  return 200.0 + 100.0 * u + (v < 0.3 ? 10.0 * kMillisecondUs * u : 0.0);
}

// Pairs 0 .. n - 1, each with 30 probes per window.
class Fleet {
 public:
  explicit Fleet(std::uint32_t pairs,
                 DetectionConfiguration configuration = DetectionConfiguration::kBonescan,
                 const ShortTermOptions& options = {})
      : pairs_(pairs), detector_(WindowOptions{}, options, configuration) {
    detector_.resize(pairs);
  }

  ShortTermDetector& detector() { return detector_; }

  const ShortTermResult& result(std::uint32_t pair) const { return results_[pair]; }

  const std::vector<ShortTermResult>& step(const Traffic& traffic) {
    constexpr std::uint32_t kProbes = 30;
    now_ += kWindow;
    window_.clear();
    for (std::uint32_t p = 0; p < pairs_; ++p) {
      const RngStream stream(7, Purpose::kTest, p);
      std::array<std::uint32_t, kProbes> rtts;
      for (std::uint32_t& rtt : rtts) {
        const double u = stream.open01_at(draw_ * 2);
        const double v = stream.open01_at(draw_ * 2 + 1);
        ++draw_;
        rtt = static_cast<std::uint32_t>(traffic(PairId(p), u, v) * 1e3 + 0.5);
      }
      window_.pairs.emplace_back(p);
      window_.features_us.push_back(window_features(rtts));
      window_.samples.push_back(kProbes);
    }
    detector_.evaluate(now_, window_, results_);
    return results_;
  }

  void steps(int count, const Traffic& traffic) {
    for (int i = 0; i < count; ++i) {
      step(traffic);
    }
  }

  void wait(Duration silence) { now_ += silence; }

  std::size_t count(VerdictKind kind) const {
    return static_cast<std::size_t>(std::count_if(
        results_.begin(), results_.end(), [kind](const auto& r) { return r.kind == kind; }));
  }

 private:
  std::uint32_t pairs_;
  ShortTermDetector detector_;
  Time now_;
  std::uint64_t draw_ = 0;
  ClosedWindow window_;
  std::vector<ShortTermResult> results_;
};

Traffic slow_pair(PairId slow, double factor, const Traffic& base) {
  return [=](PairId pair, double u, double v) {
    return base(pair, u, v) * (pair == slow ? factor : 1.0);
  };
}

constexpr double kSlowPath = 7.5;  // 16 us becomes 120 us

TEST(ShortTermDetector, SaysInsufficientDataUntilHistoryAndScaleAreThere) {
  Fleet fleet(64);
  fleet.detector().want_all_factors();
  for (int w = 0; w < 6; ++w) {
    fleet.step(healthy_us);
    EXPECT_EQ(fleet.count(VerdictKind::kInsufficientData), 64U) << "window " << w;
    EXPECT_EQ(fleet.result(3).lof, 0.0F);
  }
  fleet.step(healthy_us);
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
  EXPECT_GT(fleet.result(3).lof, 0.0F);
}

TEST(ShortTermDetector, SaysInsufficientDataWhileItsClassIsTooSmallForAScale) {
  Fleet fleet(3);
  fleet.steps(15, healthy_us);  // 3 x 13 contributions: one short
  EXPECT_FALSE(fleet.detector().scale().trusted(0));
  EXPECT_EQ(fleet.count(VerdictKind::kInsufficientData), 3U);
  fleet.steps(2, healthy_us);
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 3U);
}

TEST(ShortTermDetector, FindsASlowPathInItsFirstWindowAndKeepsIt) {
  Fleet fleet(64);
  fleet.steps(12, healthy_us);
  const Traffic fault = slow_pair(PairId(5), kSlowPath, healthy_us);
  for (int w = 0; w < 15; ++w) {
    fleet.step(fault);
    EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous) << "window " << w;
    EXPECT_NEAR(fleet.result(5).factor, kSlowPath, 0.5);
    EXPECT_NEAR(fleet.result(5).minimum_factor, kSlowPath, 1.0);
    EXPECT_EQ(fleet.count(VerdictKind::kAnomalous), 1U);
  }
  // Longer than the age of a history, which a freeze suspends.
  fleet.step(healthy_us);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kHealthy);
  fleet.step(fault);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
}

// The profile for hosts whose tails say nothing: medians above a floor.
TEST(ShortTermDetector, WithMediansAndAFloorSeesTheStepAndNotTheHost) {
  const ShortTermOptions options{.features = FeatureChoice::kMedian,
                                 .feature_floor = std::chrono::milliseconds(1),
                                 .minimum_factor = 3.0};
  Fleet fleet(8, DetectionConfiguration::kBonescan, options);
  fleet.steps(12, noisy_host_us);
  for (int w = 0; w < 50; ++w) {
    fleet.step(noisy_host_us);
    EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 8U) << "window " << w;
  }
  fleet.step([](PairId pair, double u, double v) {
    return noisy_host_us(pair, u, v) + (pair == PairId(5) ? 5.0 * kMillisecondUs : 0.0);
  });
  EXPECT_EQ(fleet.count(VerdictKind::kAnomalous), 1U);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
  EXPECT_NEAR(fleet.result(5).factor, 5.3, 0.3);
}

TEST(ShortTermDetector, CallsALastingLevelNormalAfterTheTimeout) {
  Fleet fleet(64);
  fleet.detector().set_history_age(minutes(60));
  fleet.steps(12, healthy_us);
  const Traffic fault = slow_pair(PairId(5), kSlowPath, healthy_us);
  for (int w = 0; w < kFreezeWindows; ++w) {
    fleet.step(fault);
    ASSERT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
  }
  for (int w = 0; w < 5; ++w) {
    fleet.step(fault);
    ASSERT_EQ(fleet.result(5).kind, VerdictKind::kInsufficientData);
  }
  fleet.step(fault);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kHealthy);
}

TEST(ShortTermDetector, LearnsAnewWhenALongFreezeIsReleased) {
  Fleet fleet(64);
  fleet.steps(12, healthy_us);
  const Traffic fault = slow_pair(PairId(5), kSlowPath, healthy_us);
  fleet.steps(15, fault);
  fleet.detector().release(PairId(5));
  fleet.step(fault);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kInsufficientData);
  fleet.steps(6, fault);
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kHealthy);
}

TEST(ShortTermDetector, IsNotFooledBySpikesAndStillFindsASlowPathAmongThem) {
  SCOPED_TRACE("seed=7");
  Fleet fleet(64);
  fleet.detector().want_all_factors();
  fleet.steps(7, spiky_us);
  std::size_t anomalous = 0;
  std::size_t judged = 0;
  std::size_t lonely = 0;
  for (int w = 0; w < 320; ++w) {
    fleet.step(spiky_us);
    anomalous += fleet.count(VerdictKind::kAnomalous);
    judged += 64 - fleet.count(VerdictKind::kInsufficientData);
    for (std::uint32_t p = 0; p < 64; ++p) {
      lonely += fleet.result(p).lof > 4.0F ? 1U : 0U;
    }
  }
  EXPECT_EQ(judged, 320U * 64);
  EXPECT_EQ(anomalous, 0U);
  // The factor by itself, without the rule about the minimum: with raw features it is one in ten.
  EXPECT_LE(lonely, judged / 500);
  RecordProperty("lonely", static_cast<int>(lonely));
  fleet.step([](PairId pair, double u, double v) { return spiky_us(pair, u, v) * kSlowPath; });
  EXPECT_EQ(fleet.count(VerdictKind::kAnomalous), 64U);
}

TEST(ShortTermDetector, FindsASmallShiftThatExceedsTheMinimumFactor) {
  Fleet fleet(64);
  fleet.steps(12, healthy_us);
  fleet.step([](PairId pair, double u, double v) { return healthy_us(pair, u, v) * 1.5; });
  EXPECT_GE(fleet.count(VerdictKind::kAnomalous), 62U);
}

TEST(ShortTermDetector, LeavesQueueingAndDecreasesAlone) {
  Fleet fleet(64);
  fleet.detector().want_all_factors();
  fleet.steps(12, healthy_us);
  // Most probes wait 100 us, some find the queue empty: the minimum stays.
  fleet.step([](PairId pair, double u, double v) {
    return healthy_us(pair, u, v) + (v < 0.7 ? 100.0 : 0.0);
  });
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
  EXPECT_GT(fleet.result(0).lof, 4.0F);
  fleet.step([](PairId pair, double u, double v) { return healthy_us(pair, u, v) / 3; });
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
  EXPECT_LT(fleet.result(0).minimum_factor, 0.5F);
}

TEST(ShortTermDetector, IsNotFooledByDuplicatesAndWholeMicroseconds) {
  Fleet fleet(64);
  const Traffic quantised = [](PairId /*pair*/, double /*u*/, double v) {
    return v < 0.02 ? 17.0 : 16.0;
  };
  fleet.steps(7, quantised);
  for (int w = 0; w < 100; ++w) {
    fleet.step(quantised);
    EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
  }
  fleet.step(slow_pair(PairId(9), kSlowPath, quantised));
  EXPECT_EQ(fleet.count(VerdictKind::kAnomalous), 1U);
  EXPECT_EQ(fleet.result(9).kind, VerdictKind::kAnomalous);
}

TEST(ShortTermDetector, DoesNotUseAHistoryThatIsTooOld) {
  Fleet fleet(64);
  fleet.steps(12, healthy_us);
  fleet.wait(minutes(2));  // 2.5 to 5 min old windows are left: six
  fleet.step(healthy_us);
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
  fleet.wait(minutes(4));
  fleet.step(healthy_us);
  EXPECT_EQ(fleet.count(VerdictKind::kInsufficientData), 64U);
}

TEST(ShortTermDetector, UsesAnOlderHistoryWhenSweepsAreLong) {
  Fleet fleet(64);
  fleet.detector().set_history_age(minutes(15));
  fleet.steps(12, healthy_us);
  fleet.wait(minutes(9));
  fleet.step(healthy_us);
  EXPECT_EQ(fleet.count(VerdictKind::kHealthy), 64U);
}

TEST(ShortTermDetector, KeepsClassesApart) {
  Fleet fleet(64);
  for (std::uint32_t p = 32; p < 64; ++p) {
    fleet.detector().set_class(PairId(p), 1);
  }
  // Class 1 is wild; in class 0 a step of 1.35 is far out all the same.
  const Traffic traffic = [](PairId pair, double u, double v) {
    const double sigma = pair.index() < 32 ? 0.05 : 0.8;
    return lognormal_quantile(u, std::log(16.0), sigma) + 0.0 * v;
  };
  fleet.steps(12, traffic);
  fleet.step(slow_pair(PairId(5), 1.35, traffic));
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
  EXPECT_EQ(fleet.count(VerdictKind::kAnomalous), 1U);
  fleet.detector().set_class(PairId(6), 2);
  fleet.step(traffic);
  EXPECT_EQ(fleet.result(6).kind, VerdictKind::kInsufficientData) << "class 2 has no scale";
}

TEST(ShortTermDetector, DoesNotLearnItsScaleFromPairsThatMovedAtTheStart) {
  Fleet fleet(64);
  fleet.steps(2, healthy_us);
  // One pair in eight becomes slow before there is a scale.
  const Traffic fault = [](PairId pair, double u, double v) {
    return healthy_us(pair, u, v) * (pair.index() % 8 == 0 ? kSlowPath : 1.0);
  };
  fleet.step(fault);
  ASSERT_TRUE(fleet.detector().scale().trusted(0));
  EXPECT_LT(fleet.detector().scale().sd(0)[kP50], 0.03);
  fleet.steps(5, fault);
  fleet.step(slow_pair(PairId(5), 1.4, fault));
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
}

// Differential: leaving out factors that the minimum makes irrelevant changes no verdict.
TEST(ShortTermDetector, SaysTheSameWithAllFactors) {
  Fleet lazy(64);
  Fleet thorough(64);
  thorough.detector().want_all_factors();
  std::size_t anomalous = 0;
  for (std::uint32_t w = 0; w < 120; ++w) {
    const double level = w % 20 > 14 ? 1.1 + 0.03 * (w % 10) : 1.0;
    const Traffic moved = [=](PairId pair, double u, double v) {
      return spiky_us(pair, u, v) * (pair.index() % 4 == 0 ? level : 1.0);
    };
    lazy.step(moved);
    thorough.step(moved);
    for (std::uint32_t p = 0; p < 64; ++p) {
      const ShortTermResult& a = lazy.result(p);
      const ShortTermResult& b = thorough.result(p);
      ASSERT_EQ(a.kind, b.kind) << "pair " << p << ", window " << w;
      ASSERT_EQ(a.factor, b.factor);
      ASSERT_EQ(a.minimum_factor, b.minimum_factor);
      if (a.kind == VerdictKind::kAnomalous) {
        ASSERT_EQ(a.lof, b.lof);
        ++anomalous;
      }
    }
  }
  EXPECT_GT(anomalous, 20U);
}

// Differential: medians of the ring, which wraps, against a queue that is sorted.
TEST(ShortTermDetector, ComparesWithTheMediansOfItsHistory) {
  constexpr std::uint32_t kPairs = 40;
  ShortTermDetector detector(WindowOptions{}, {}, DetectionConfiguration::kPaper);
  detector.resize(kPairs);
  const std::size_t history = WindowOptions{}.history;
  std::array<std::array<std::deque<float>, 2>, kPairs> past;
  const auto median = [](std::deque<float> values) {
    std::sort(values.begin(), values.end());
    const double low = values[(values.size() - 1) / 2];
    return (low + static_cast<double>(values[values.size() / 2])) / 2.0;
  };
  Time now;
  std::vector<ShortTermResult> results;
  for (std::uint32_t step = 0; step < 40; ++step) {
    now += kWindow;
    ClosedWindow window;
    for (std::uint32_t p = 0; p < kPairs; ++p) {
      const RngStream stream(9, Purpose::kTest, p);
      FeatureVector features;
      for (std::size_t f = 0; f < kFeatureCount; ++f) {
        features[f] = 10.0 + 5.0 * stream.open01_at(step * kFeatureCount + f);
      }
      window.pairs.emplace_back(p);
      window.features_us.push_back(features);
      window.samples.push_back(1);
    }
    detector.evaluate(now, window, results);
    for (std::uint32_t p = 0; p < kPairs; ++p) {
      const std::array<std::size_t, 2> compared{kP50, kMin};
      for (std::size_t i = 0; i < compared.size(); ++i) {
        std::deque<float>& values = past[p][i];
        const auto query = static_cast<float>(window.features_us[p][compared[i]]);
        const float factor = i == 0 ? results[p].factor : results[p].minimum_factor;
        const float expected =
            values.empty() ? 1.0F : static_cast<float>(static_cast<double>(query) / median(values));
        ASSERT_EQ(factor, expected) << "pair " << p << ", window " << step;
        values.push_back(query);
        if (values.size() > history) {
          values.pop_front();
        }
      }
    }
  }
}

TEST(ShortTermDetector, KeepsWhatItKnowsWhenPairsAreAdded) {
  Fleet fleet(64);
  fleet.steps(12, healthy_us);
  fleet.detector().resize(1000);
  fleet.step(slow_pair(PairId(5), kSlowPath, healthy_us));
  EXPECT_EQ(fleet.result(5).kind, VerdictKind::kAnomalous);
}

// The naive reading learns the fault: with k = 5 the alarm lasts five windows.
TEST(PaperConfiguration, ForgetsALastingFault) {
  Fleet fleet(1, DetectionConfiguration::kPaper);
  fleet.steps(12, healthy_us);
  const Traffic fault = slow_pair(PairId(0), kSlowPath, healthy_us);
  for (int w = 0; w < 5; ++w) {
    fleet.step(fault);
    EXPECT_EQ(fleet.result(0).kind, VerdictKind::kAnomalous) << "window " << w;
  }
  fleet.steps(3, fault);
  EXPECT_EQ(fleet.result(0).kind, VerdictKind::kHealthy);
}

// Rings, batches of unequal histories and silent windows, against queues and one LOF at a time.
TEST(PaperConfiguration, EqualsOneFactorAtATimeOverQueues) {
  SCOPED_TRACE("seed=31");
  constexpr std::uint32_t kPairs = 23;
  const WindowOptions options;
  ShortTermDetector detector(options, ShortTermOptions{}, DetectionConfiguration::kPaper);
  detector.resize(kPairs);
  std::map<PairId, std::deque<std::pair<Time, FeatureVector>>> naive;
  std::vector<ShortTermResult> results;
  std::size_t judged = 0;
  for (std::uint32_t w = 1; w <= 200; ++w) {
    const RngStream stream(31, Purpose::kTest, w);
    const Time now = kStartOfRun + w * seconds(25);
    std::uint64_t draw = 0;
    ClosedWindow window;
    for (std::uint32_t p = 0; p < kPairs; ++p) {
      if (stream.open01_at(draw++) < 0.02 * p) {
        continue;
      }
      FeatureVector features;
      for (double& value : features) {
        value = static_cast<float>(lognormal_quantile(stream.open01_at(draw++), 3.0, 0.2));
      }
      window.pairs.emplace_back(p);
      window.features_us.push_back(features);
      window.samples.push_back(10);
    }
    detector.evaluate(now, window, results);
    ASSERT_EQ(results.size(), window.pairs.size());
    for (std::size_t row = 0; row < results.size(); ++row) {
      auto& queue = naive[window.pairs[row]];
      while (!queue.empty() && now - queue.front().first > options.history_age) {
        queue.pop_front();
      }
      std::vector<FeatureVector> history;
      for (const auto& remembered : queue) {
        history.push_back(remembered.second);
      }
      const auto expected = local_outlier_factor(
          history, window.features_us[row], {.neighbours = 5, .distance_floor = 0.0});
      EXPECT_EQ(results[row].pair, window.pairs[row]);
      EXPECT_EQ(results[row].kind == VerdictKind::kInsufficientData, !expected.has_value());
      EXPECT_EQ(results[row].lof, static_cast<float>(expected.value_or(0.0)));
      judged += expected.has_value() ? 1U : 0U;
      queue.emplace_back(now, window.features_us[row]);
      if (queue.size() > options.history) {
        queue.pop_front();
      }
    }
  }
  EXPECT_GT(judged, 2000U);
}

}  // namespace
}  // namespace bonescan
