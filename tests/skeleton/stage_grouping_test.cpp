#include "skeleton/stage_grouping.h"

#include "skeleton/burst_features.h"
#include "skeleton/low_rank.h"
#include "skeleton/stage_lags.h"
#include "tests/support/burst_job.h"
#include "tests/support/dice.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <vector>

namespace bonescan {
namespace {

DoubleMatrix random_points(std::size_t count, std::size_t width, std::uint64_t seed) {
  test::Dice dice(seed, 1);
  DoubleMatrix points(count, width);
  for (double& x : points.values) {
    x = dice.uniform(-1.0, 1.0);
  }
  return points;
}

double distance(const DoubleMatrix& points, std::size_t a, std::size_t b) {
  double square = 0.0;
  for (std::size_t d = 0; d < points.columns; ++d) {
    square += std::pow(points.row(a)[d] - points.row(b)[d], 2.0);
  }
  return std::sqrt(square);
}

/// The textbook: look for the closest pair of clusters, again and again.
std::vector<double> naive_heights(const DoubleMatrix& points) {
  std::vector<std::vector<std::size_t>> clusters;
  for (std::size_t i = 0; i < points.rows; ++i) {
    clusters.push_back({i});
  }
  std::vector<double> heights;
  while (clusters.size() > 1) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t best_a = 0;
    std::size_t best_b = 0;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        double sum = 0.0;
        for (const std::size_t i : clusters[a]) {
          for (const std::size_t j : clusters[b]) {
            sum += distance(points, i, j);
          }
        }
        const double mean = sum / static_cast<double>(clusters[a].size() * clusters[b].size());
        if (mean < least) {
          least = mean;
          best_a = a;
          best_b = b;
        }
      }
    }
    clusters[best_b].insert(
        clusters[best_b].end(), clusters[best_a].begin(), clusters[best_a].end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(best_a));
    heights.push_back(least);
  }
  return heights;
}

TEST(AverageLinkage, EqualsTheTextbookOnRandomPoints) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const DoubleMatrix points = random_points(24, 3, seed);
    const auto tree = average_linkage(points);
    const auto heights = naive_heights(points);
    ASSERT_EQ(tree.size(), heights.size());
    for (std::size_t i = 0; i < heights.size(); ++i) {
      EXPECT_NEAR(tree[i].height, heights[i], 1e-12);
    }
  }
}

TEST(PrincipalCoordinates, KeepDistancesOfRowsOfLowRank) {
  const DoubleMatrix truth = random_points(40, 3, 9);
  const DoubleMatrix mixing = random_points(3, 50, 10);
  FloatMatrix rows(40, 50);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t d = 0; d < rows.columns; ++d) {
      double x = 5.0;
      for (std::size_t k = 0; k < 3; ++k) {
        x += truth.row(i)[k] * mixing.row(k)[d];
      }
      rows.row(i)[d] = static_cast<float>(x);
    }
  }
  DoubleMatrix gram(40, 40);
  add_gram(rows, 0, 21, gram);
  add_gram(rows, 21, 50, gram);
  const DoubleMatrix found = principal_coordinates(gram, 3);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double square = 0.0;
      double product = 0.0;
      for (std::size_t d = 0; d < 50; ++d) {
        const double a = static_cast<double>(rows.row(i)[d]);
        const double b = static_cast<double>(rows.row(j)[d]);
        square += (a - b) * (a - b);
        product += a * b;
      }
      EXPECT_NEAR(gram.row(i)[j], product, 1e-3);
      EXPECT_NEAR(distance(found, i, j), std::sqrt(square), 1e-3);
    }
  }
}

struct Golden {
  FloatMatrix series{16, 160};
  std::vector<std::uint32_t> truth;
  nlohmann::json json;
};

Golden golden() {
  Golden result;
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/skeleton/cluster_golden.json");
  result.json = nlohmann::json::parse(file);
  const auto& x = result.json.at("X");
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t t = 0; t < 160; ++t) {
      result.series.row(i)[t] =
          x.at(0).is_array() ? x[i][t].get<float>() : x[i * 160 + t].get<float>();
    }
  }
  result.truth = result.json.at("truth").get<std::vector<std::uint32_t>>();
  return result;
}

TEST(StageGrouping, EqualsTheGoldenClusters) {
  const Golden g = golden();
  const StftOptions options{};
  const BurstFeatures features = burst_features(g.series, Stft(options), options);
  DoubleMatrix points(16, features.rows.columns);
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    points.values[i] = static_cast<double>(features.rows.values[i]);
  }
  for (std::size_t j = 0; j < 16; ++j) {
    EXPECT_NEAR(distance(points, 0, j), g.json.at("dist_row0")[j].get<double>(), 1e-6);
  }
  const Grouping grouping = group_stages(points, average_linkage(points), 4, {});
  EXPECT_NEAR(grouping.within_ss, g.json.at("within_ss").get<double>(), 1e-6);
  EXPECT_EQ(adjusted_rand_index(grouping.labels,
                                g.json.at("balanced_labels").get<std::vector<std::uint32_t>>()),
            1.0);
}

TEST(StageGrouping, FindsTheGoldenClustersInALowRankPicture) {
  const Golden g = golden();
  const StftOptions options{};
  const BurstFeatures features = burst_features(g.series, Stft(options), options);
  DoubleMatrix gram(16, 16);
  add_gram(features.rows, 0, features.rows.columns, gram);
  const DoubleMatrix points = principal_coordinates(gram, 3);
  const Grouping grouping = group_stages(points, average_linkage(points), 4, {});
  EXPECT_EQ(adjusted_rand_index(grouping.labels, g.truth), 1.0);
}

TEST(StageLags, EqualTheGoldenLags) {
  const Golden g = golden();
  const DoubleMatrix means = stage_means(g.series, g.truth, 4);
  const StageOrder order = order_stages(means, burst_rhythm(means, 0.0).period, 0.0);
  // In the file stage 3 is the first.
  const auto golden_lag = [&](std::size_t stage) {
    return g.json.at("group_lags_vs_stage0_s")[stage].get<double>();
  };
  for (std::uint32_t s = 0; s < 4; ++s) {
    EXPECT_EQ(order.rank[s], 3 - s);
    EXPECT_NEAR(order.lags[order.rank[s]], golden_lag(s) - golden_lag(3), 1e-2);
  }
}

TEST(StageGrouping, GivesEveryGroupTheSameSize) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const DoubleMatrix points = random_points(48, 4, seed);
    for (const std::size_t groups : {1U, 2U, 3U, 6U, 24U}) {
      const Grouping grouping = group_stages(points, average_linkage(points), groups, {});
      for (std::uint32_t group = 0; group < groups; ++group) {
        EXPECT_EQ(std::count(grouping.labels.begin(), grouping.labels.end(), group),
                  static_cast<std::ptrdiff_t>(48 / groups));
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
