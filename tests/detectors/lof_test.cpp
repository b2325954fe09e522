#include "detectors/shortterm/lof.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr LofOptions kBreunig{.neighbours = 5, .distance_floor = 0.0};

FeatureVector at(double x) {
  return {x, 0, 0, 0, 0, 0, 0};
}

std::vector<FeatureVector> normal_windows(std::uint64_t seed, std::size_t count) {
  const RngStream stream(seed, Purpose::kTest, 0);
  std::vector<FeatureVector> windows(count);
  std::uint64_t draw = 0;
  for (FeatureVector& window : windows) {
    for (double& value : window) {
      value = normal_quantile(stream.open01_at(draw++));
    }
  }
  return windows;
}

// History at 0, 1 and 3, k = 1.  k-distances 1, 1, 2; mean reaches 1, 1, 2.
TEST(LocalOutlierFactor, EqualsItsClosedFormOnThreePoints) {
  const std::array history = {at(0), at(1), at(3)};
  struct Case {
    const char* name;
    double query;
    double floor;
    double expected;
  };
  const std::array cases = {
      Case{"beyond the end: reach 3, its neighbour's 2", 6, 0, 1.5},
      Case{"inside a k-distance: reach 1, its neighbour's 1", 0.4, 0, 1.0},
      Case{"a tie: neighbours 1 and 3, reach (1 + 2) / 2, ratios 1.5 and 0.75", 2, 0, 1.125},
      Case{"floor above every reach", 6, 4, 1.0},
      Case{"floor above the history's reaches only", 6, 2.5, 1.2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const LofOptions options{.neighbours = 1, .distance_floor = c.floor};
    EXPECT_DOUBLE_EQ(local_outlier_factor(history, at(c.query), options).value(), c.expected);
  }
}

TEST(LocalOutlierFactor, NeedsOneWindowMoreThanNeighbours) {
  const std::vector<FeatureVector> windows = normal_windows(1, 10);
  const auto of = [&windows](std::size_t count, std::size_t neighbours) {
    return local_outlier_factor(
        std::span(windows).first(count), windows.back(), {.neighbours = neighbours});
  };
  EXPECT_FALSE(of(0, 1).has_value());
  EXPECT_FALSE(of(1, 1).has_value());
  EXPECT_TRUE(of(2, 1).has_value());
  EXPECT_FALSE(of(5, 5).has_value());
  EXPECT_TRUE(of(6, 5).has_value());
}

TEST(LocalOutlierFactor, GivesNoVerdictOnNanOrInfinity) {
  const std::vector<FeatureVector> windows = normal_windows(2, 11);
  for (const double bad : {kNan, kInfinity, -kInfinity, 1e200}) {
    for (std::size_t w = 0; w < windows.size(); ++w) {
      for (std::size_t f = 0; f < kFeatureCount; ++f) {
        std::vector<FeatureVector> spoilt = windows;
        spoilt[w][f] = bad;
        EXPECT_FALSE(
            local_outlier_factor(std::span(spoilt).first(10), spoilt.back(), {}).has_value())
            << bad << " in window " << w;
      }
    }
  }
}

// Our convention where Breunig's definition says 0/0 or 1/0.
TEST(LocalOutlierFactor, OfDuplicatesIsOneOrBounded) {
  const std::vector<FeatureVector> equal(10, at(16));
  EXPECT_EQ(local_outlier_factor(equal, at(16), kBreunig), 1.0);
  EXPECT_EQ(local_outlier_factor(equal, at(16.001), kBreunig), kMaxDensityRatio);
  // With a floor: one quantum away counts as distance / floor.
  EXPECT_DOUBLE_EQ(local_outlier_factor(equal, at(17), {}).value(), 1.0 / 0.05);
  EXPECT_DOUBLE_EQ(local_outlier_factor(equal, at(16.01), {}).value(), 1.0);
}

TEST(LocalOutlierFactor, DoesNotDependOnTheOrderOfWindows) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    std::vector<FeatureVector> windows = normal_windows(seed, 11);
    for (FeatureVector& window : windows) {
      for (double& value : window) {
        value = std::round(value * 2.0);  // many exact ties
      }
    }
    const FeatureVector query = windows.back();
    windows.pop_back();
    const double expected = local_outlier_factor(windows, query, {}).value();
    std::reverse(windows.begin(), windows.end());
    EXPECT_NEAR(local_outlier_factor(windows, query, {}).value(), expected, 1e-12 * expected);
    std::rotate(windows.begin(), windows.begin() + 3, windows.end());
    EXPECT_NEAR(local_outlier_factor(windows, query, {}).value(), expected, 1e-12 * expected);
  }
}

TEST(LocalOutlierFactor, WithoutAFloorDoesNotDependOnScaleOrOrigin) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    const std::vector<FeatureVector> windows = normal_windows(seed, 11);
    std::vector<FeatureVector> moved = windows;
    for (FeatureVector& window : moved) {
      for (double& value : window) {
        value = 1000.0 * value + 16.0;
      }
    }
    const double expected =
        local_outlier_factor(std::span(windows).first(10), windows.back(), kBreunig).value();
    const double got =
        local_outlier_factor(std::span(moved).first(10), moved.back(), kBreunig).value();
    EXPECT_NEAR(got, expected, 1e-9 * expected);
  }
}

TEST(LocalOutlierFactor, IsAtMostTheLargestDistanceOverTheFloor) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    std::vector<FeatureVector> windows = normal_windows(seed, 11);
    for (std::size_t w = 0; w < 7; ++w) {
      windows[w] = windows[0];
    }
    double largest = 0.05;
    for (const FeatureVector& a : windows) {
      for (const FeatureVector& b : windows) {
        double squares = 0.0;
        for (std::size_t f = 0; f < kFeatureCount; ++f) {
          squares += (a[f] - b[f]) * (a[f] - b[f]);
        }
        largest = std::max(largest, std::sqrt(squares));
      }
    }
    const double factor =
        local_outlier_factor(std::span(windows).first(10), windows.back(), {}).value();
    EXPECT_LE(factor, largest / 0.05 * (1 + 1e-12));
    EXPECT_GT(factor, 0.0);
  }
}

TEST(LocalOutlierFactor, GrowsWithTheDistance) {
  const std::vector<FeatureVector> windows = normal_windows(3, 10);
  double previous = 0.0;
  for (const double x : {10.0, 20.0, 40.0, 80.0}) {
    const double factor = local_outlier_factor(windows, at(x), {}).value();
    EXPECT_GT(factor, previous * 1.5);
    previous = factor;
  }
}

}  // namespace
}  // namespace bonescan
