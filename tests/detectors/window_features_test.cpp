#include "detectors/window/features.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

struct Case {
  const char* name;
  std::vector<std::uint32_t> rtt_ns;
  FeatureVector expected_us;  ///< P25, P50, P75, min, mean, std, max
};

TEST(WindowFeatures, EqualTheirClosedForm) {
  const std::array cases = {
      Case{"one", {16000}, {16, 16, 16, 16, 16, 0, 16}},
      Case{"two", {20000, 10000}, {12.5, 15, 17.5, 10, 15, 5, 20}},
      // numpy.percentile([1, 2, 3, 4, 10], [25, 50, 75]); std = sqrt(10).
      Case{"five", {3000, 10000, 1000, 4000, 2000}, {2, 3, 4, 1, 4, std::sqrt(10.0), 10}},
      // numpy.percentile of 1..10: ranks 2.25, 4.5, 6.75; std = sqrt(99 / 12).
      Case{"ten",
           {10000, 9000, 8000, 7000, 6000, 5000, 4000, 3000, 2000, 1000},
           {3.25, 5.5, 7.75, 1, 5.5, std::sqrt(8.25), 10}},
      Case{"equal", {7, 7, 7, 7}, {0.007, 0.007, 0.007, 0.007, 0.007, 0, 0.007}},
      Case{"largest answered RTT",
           {0xFFFFFFFD, 0xFFFFFFFD, 0xFFFFFFFD},
           {4294967.293, 4294967.293, 4294967.293, 4294967.293, 4294967.293, 0, 4294967.293}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::uint32_t> rtt_ns = c.rtt_ns;
    const FeatureVector features = window_features(rtt_ns);
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      EXPECT_DOUBLE_EQ(features[f], c.expected_us[f]) << "feature " << f;
    }
    EXPECT_TRUE(std::is_sorted(rtt_ns.begin(), rtt_ns.end()));
  }
}

// Lengths around both changes of the sort, values that differ in one to four digits, against the
// textbook.
TEST(WindowFeatures, EqualTheTextbookForEveryLength) {
  std::vector<std::uint32_t> counts = {300, 1023, 1024, 1025, 3000};
  for (std::uint32_t count = 1; count <= 70; ++count) {
    counts.push_back(count);
  }
  for (const std::uint32_t count : counts) {
    SCOPED_TRACE(count);
    const RngStream stream(11, Purpose::kTest, count);
    const std::uint64_t spread = std::uint64_t{1} << (count * 7 % 31);
    std::vector<std::uint32_t> rtt_ns;
    for (std::uint32_t i = 0; i < count; ++i) {
      rtt_ns.push_back(static_cast<std::uint32_t>(10000 + stream.at(i) % spread));
    }
    std::vector<double> sorted(rtt_ns.begin(), rtt_ns.end());
    std::sort(sorted.begin(), sorted.end());
    double sum = 0.0;
    for (const double value : sorted) {
      sum += value;
    }
    const double mean = sum / count;
    double squares = 0.0;
    for (const double value : sorted) {
      squares += (value - mean) * (value - mean);
    }
    const auto percentile = [&sorted](double q) {
      const double rank = q * static_cast<double>(sorted.size() - 1);
      const auto below = static_cast<std::size_t>(rank);
      const std::size_t above = std::min(below + 1, sorted.size() - 1);
      return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below)) / 1e3;
    };
    const FeatureVector features = window_features(rtt_ns);
    EXPECT_DOUBLE_EQ(features[kP25], percentile(0.25));
    EXPECT_DOUBLE_EQ(features[kP50], percentile(0.5));
    EXPECT_DOUBLE_EQ(features[kP75], percentile(0.75));
    EXPECT_EQ(features[kMin], sorted.front() / 1e3);
    EXPECT_EQ(features[kMax], sorted.back() / 1e3);
    EXPECT_DOUBLE_EQ(features[kMean], mean / 1e3);
    EXPECT_NEAR(features[kStdDev], std::sqrt(squares / count) / 1e3, 1e-12 * mean);
    EXPECT_TRUE(std::is_sorted(rtt_ns.begin(), rtt_ns.end()));
  }
}

TEST(WindowFeatures, DoNotDependOnTheOrderOfProbes) {
  for (const std::uint32_t count : {10U, 57U, 1500U}) {
    const RngStream stream(12, Purpose::kTest, count);
    std::vector<std::uint32_t> forward;
    for (std::uint32_t i = 0; i < count; ++i) {
      forward.push_back(static_cast<std::uint32_t>(16000 + stream.at(i) % 4096));
    }
    std::vector<std::uint32_t> backward(forward.rbegin(), forward.rend());
    EXPECT_EQ(window_features(forward), window_features(backward));
  }
}

TEST(LogFeatures, FloorASpreadOfZero) {
  const FeatureVector logs = log_features({16, 16, 16, 16, 16, 0, 16}, 0.5);
  EXPECT_DOUBLE_EQ(logs[kP50], std::log(16.0));
  EXPECT_DOUBLE_EQ(logs[kStdDev], std::log(0.5));
}

}  // namespace
}  // namespace bonescan
