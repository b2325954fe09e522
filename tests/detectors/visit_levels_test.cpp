// Order statistics of a visit as small integers, and medians of a history by a sorting network.
#include "detectors/shortterm/visit_levels.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

TEST(VisitLevels, AreLogarithmsToOnePartInTwoThousand) {
  std::int16_t before = 0;
  for (double rtt = 500.0; rtt < 4e9; rtt *= 1.0007) {
    const auto rtt_ns = static_cast<std::uint32_t>(rtt);
    const double exact = std::log(rtt_ns / 500.0) * kLevelsPerNat;
    const std::int16_t level = level_of(rtt_ns);
    ASSERT_NEAR(level, exact, 1.05) << rtt_ns;
    ASSERT_GE(level, before) << rtt_ns;
    before = level;
  }
  EXPECT_EQ(level_of(500), 0);
  EXPECT_EQ(level_of(0), 0);
  EXPECT_GT(level_of(std::numeric_limits<std::uint32_t>::max()), 32'000);
}

TEST(VisitLevels, AreThoseOfTheAnsweredProbes) {
  VisitLevels levels{};
  const std::vector<std::uint32_t> rtts = {
      40'000, kLostRtt, 10'000, 30'000, local_error_rtt(LocalError::kPortDown), 20'000, 50'000};
  EXPECT_EQ(visit_levels(rtts, 0, levels), 5U);
  EXPECT_EQ(levels[kLevelMin], level_of(10'000));
  EXPECT_EQ(levels[kLevelP25], level_of(20'000));
  EXPECT_EQ(levels[kLevelMedian], level_of(30'000));
  EXPECT_EQ(levels[kLevelP75], level_of(40'000));
  EXPECT_EQ(visit_levels(rtts, 35'000, levels), 5U);
  EXPECT_EQ(levels[kLevelMin], level_of(35'000));
}

TEST(VisitLevels, LeaveAVisitWithoutAnswersAlone) {
  VisitLevels levels{1, 2, 3, 4};
  EXPECT_EQ(visit_levels(std::vector<std::uint32_t>(10, kLostRtt), 0, levels), 0U);
  EXPECT_EQ(visit_levels({}, 0, levels), 0U);
  EXPECT_EQ(levels, (VisitLevels{1, 2, 3, 4}));
}

TEST(VisitLevels, InterpolateAndSortVisitsOfAnyLength) {
  const RngStream stream(1, Purpose::kTest, 9);
  for (std::size_t count = 1; count <= 256; ++count) {
    std::vector<std::uint32_t> rtts;
    for (std::size_t i = 0; i < count; ++i) {
      rtts.push_back(static_cast<std::uint32_t>(1000 + stream.at(count * 300 + i) % 100'000));
    }
    VisitLevels levels{};
    ASSERT_EQ(visit_levels(rtts, 0, levels), count);
    std::sort(rtts.begin(), rtts.end());
    const double rank = static_cast<double>(count - 1) * 0.25;
    const auto below = static_cast<std::size_t>(rank);
    const auto above = std::min(below + 1, count - 1);
    const double p25 =
        rtts[below] + (rank - static_cast<double>(below)) * (rtts[above] - rtts[below]);
    ASSERT_EQ(levels[kLevelP25], level_of(static_cast<std::uint32_t>(p25))) << count;
    ASSERT_EQ(levels[kLevelMin], level_of(rtts.front()));
  }
}

// Differential: against std::sort, for every length, with ties and extremes.
TEST(VisitLevels, MediansAreThoseOfSortedHistories) {
  const RngStream stream(1, Purpose::kTest, 10);
  std::uint64_t draw = 0;
  for (std::size_t count = 1; count <= kMostVisits; ++count) {
    for (int trial = 0; trial < 500; ++trial) {
      std::vector<VisitLevels> history(count);
      const auto values = trial % 3 == 0 ? std::uint64_t{4} : std::uint64_t{32'768};
      for (VisitLevels& levels : history) {
        for (std::int16_t& level : levels) {
          level = static_cast<std::int16_t>(stream.at(draw++) % values);
        }
      }
      const auto doubled = doubled_medians(history);
      for (std::size_t f = 0; f < kLevelFeatures; ++f) {
        std::vector<int> column;
        for (const VisitLevels& levels : history) {
          column.push_back(levels[f]);
        }
        std::sort(column.begin(), column.end());
        ASSERT_EQ(doubled[f], column[(count - 1) / 2] + column[count / 2]) << count;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
