#include "tools/evaluate/bootstrap.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

std::array<Estimate, 1> mean_of(const std::vector<std::vector<double>>& clusters,
                                const BootstrapOptions& options) {
  return cluster_bootstrap<1>(clusters.size(), options, [&](std::span<const std::uint32_t> drawn) {
    std::vector<double> values;
    for (const std::uint32_t index : drawn) {
      values.insert(values.end(), clusters[index].begin(), clusters[index].end());
    }
    return Figures<1>{mean(values)};
  });
}

std::vector<std::vector<double>> normal_clusters(std::uint64_t seed,
                                                 std::size_t count,
                                                 std::size_t size) {
  std::vector<std::vector<double>> clusters;
  for (std::size_t i = 0; i < count; ++i) {
    const RngStream stream(seed, Purpose::kTest, static_cast<std::uint32_t>(i));
    const double angle = 2 * 3.14159265358979 * stream.open01_at(1);
    const double value = std::sqrt(-2 * std::log(stream.open01_at(0))) * std::cos(angle);
    clusters.emplace_back(size, value);
  }
  return clusters;
}

TEST(Bootstrap, EqualClustersLeaveNoDoubt) {
  const auto estimates = mean_of(std::vector<std::vector<double>>(40, {3.0}), {});
  EXPECT_EQ(*estimates[0].value, 3.0);
  EXPECT_EQ(*estimates[0].lower, 3.0);
  EXPECT_EQ(*estimates[0].upper, 3.0);
}

TEST(Bootstrap, AHandfulOfClustersHasNoBounds) {
  const auto estimates = mean_of(normal_clusters(1, kLeastClusters - 1, 1), {});
  EXPECT_TRUE(estimates[0].value);
  EXPECT_FALSE(estimates[0].lower);
  EXPECT_FALSE(estimates[0].upper);
}

/// The mean of n values with deviation s moves by 1.645 s / sqrt(n).
TEST(Bootstrap, BoundsOfAMeanAreThoseOfTheNormalLaw) {
  const auto clusters = normal_clusters(7, 400, 1);
  double sum = 0.0;
  double squares = 0.0;
  for (const auto& cluster : clusters) {
    sum += cluster[0];
    squares += cluster[0] * cluster[0];
  }
  const double deviation = std::sqrt(squares / 400 - sum * sum / 160'000);
  const auto estimates = mean_of(clusters, {});
  const double half = 1.6449 * deviation / 20;
  EXPECT_NEAR(*estimates[0].value - *estimates[0].lower, half, half * 0.08);
  EXPECT_NEAR(*estimates[0].upper - *estimates[0].value, half, half * 0.08);
}

/// Ten equal values in a cluster are one observation, not ten.
TEST(Bootstrap, RepeatedValuesInAClusterDoNotNarrowTheBounds) {
  const auto single = mean_of(normal_clusters(3, 100, 1), {});
  const auto repeated = mean_of(normal_clusters(3, 100, 10), {});
  EXPECT_NEAR(*single[0].lower, *repeated[0].lower, 1e-12);
  EXPECT_NEAR(*single[0].upper, *repeated[0].upper, 1e-12);
}

TEST(Bootstrap, TheSameSeedGivesTheSameBounds) {
  const auto clusters = normal_clusters(5, 50, 2);
  const BootstrapOptions options{.confidence = 0.95, .seed = 11, .resamples = 200};
  EXPECT_EQ(mean_of(clusters, options)[0].lower, mean_of(clusters, options)[0].lower);
  const BootstrapOptions other{.confidence = 0.95, .seed = 12, .resamples = 200};
  EXPECT_NE(mean_of(clusters, options)[0].lower, mean_of(clusters, other)[0].lower);
}

/// The one-sided bound is at or below the truth in about 95 of 100 samples.
TEST(Bootstrap, LowerBoundCoversTheTruthAsOftenAsItSays) {
  int covered = 0;
  for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
    const BootstrapOptions options{.confidence = 0.95, .seed = seed, .resamples = 400};
    covered += *mean_of(normal_clusters(seed, 60, 1), options)[0].lower <= 0.0 ? 1 : 0;
  }
  EXPECT_GE(covered, 364);
  EXPECT_LE(covered, 394);
}

}  // namespace
}  // namespace bonescan
