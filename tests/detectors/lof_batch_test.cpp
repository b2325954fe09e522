#include "detectors/shortterm/lof_batch.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

struct Case {
  const char* name;
  double quantum;     ///< 0: continuous
  double duplicates;  ///< share of windows that repeat the pair's first one
  double scale;
  double bad;  ///< put into one lane; 0: none
};

constexpr std::array kCases = {
    Case{"continuous", 0, 0, 1, 0},
    Case{"exact ties", 1, 0.1, 1, 0},
    Case{"duplicates", 0.5, 0.8, 1, 0},
    Case{"tiny", 0, 0.3, 1e-160, 0},
    Case{"large", 0, 0, 1e140, 0},
    Case{"not a number", 0, 0, 1, std::numeric_limits<double>::quiet_NaN()},
    Case{"infinity", 0, 0.2, 1, -std::numeric_limits<double>::infinity()},
    Case{"overflowing distance", 0, 0, 1, 1e300},
};

struct Pairs {
  std::array<std::vector<FeatureVector>, kLofLanes> history;
  std::array<FeatureVector, kLofLanes> query{};
};

Pairs pairs_of(const Case& c, std::size_t history_count, std::uint64_t seed) {
  const RngStream stream(seed, Purpose::kTest, static_cast<std::uint32_t>(history_count));
  std::uint64_t draw = 0;
  const auto window = [&] {
    FeatureVector features;
    for (double& value : features) {
      value = normal_quantile(stream.open01_at(draw++));
      value = c.quantum > 0 ? std::round(value / c.quantum) * c.quantum : value;
      value *= c.scale;
    }
    return features;
  };
  Pairs pairs;
  for (std::size_t lane = 0; lane < kLofLanes; ++lane) {
    for (std::size_t w = 0; w < history_count; ++w) {
      const bool repeats = w > 0 && stream.open01_at(draw++) < c.duplicates;
      pairs.history[lane].push_back(repeats ? pairs.history[lane][0] : window());
    }
    pairs.query[lane] = stream.open01_at(draw++) < c.duplicates ? pairs.history[lane][0] : window();
  }
  if (c.bad != 0) {
    const std::size_t lane = stream.at(draw++) % kLofLanes;
    const std::size_t w = stream.at(draw++) % (history_count + 1);
    (w == history_count ? pairs.query[lane] : pairs.history[lane][w])[seed % kFeatureCount] = c.bad;
  }
  return pairs;
}

LofBlock block_of(const Pairs& pairs) {
  LofBlock block;
  for (std::size_t lane = 0; lane < kLofLanes; ++lane) {
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      for (std::size_t w = 0; w < pairs.history[lane].size(); ++w) {
        block.history[w][f][lane] = pairs.history[lane][w][f];
      }
      block.query[f][lane] = pairs.query[lane][f];
    }
  }
  return block;
}

class LofBatch : public ::testing::TestWithParam<LofKernel> {
 protected:
  void SetUp() override {
    if (!lof_kernel_available(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

void expect_equal_bits(const Pairs& pairs,
                       std::size_t history_count,
                       const LofOptions& options,
                       LofKernel kernel) {
  const LofLanes batch = local_outlier_factors(block_of(pairs), history_count, options, kernel);
  for (std::size_t lane = 0; lane < kLofLanes; ++lane) {
    const auto one = local_outlier_factor(pairs.history[lane], pairs.query[lane], options);
    if (one.has_value()) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(batch[lane]), std::bit_cast<std::uint64_t>(*one))
          << batch[lane] << " against " << *one << " in lane " << lane;
    } else {
      EXPECT_TRUE(std::isnan(batch[lane])) << batch[lane];
    }
  }
}

TEST_P(LofBatch, HasTheBitsOfOneByOne) {
  for (const Case& c : kCases) {
    for (std::size_t history_count = 2; history_count <= kMaxHistory; ++history_count) {
      for (std::size_t neighbours = 1; neighbours < history_count; ++neighbours) {
        for (const double floor : {0.0, 0.05}) {
          const std::uint64_t seed = 100 * neighbours + (floor > 0 ? 1 : 0);
          SCOPED_TRACE(std::string(c.name) + " n=" + std::to_string(history_count) +
                       " k=" + std::to_string(neighbours) + " seed=" + std::to_string(seed));
          expect_equal_bits(pairs_of(c, history_count, seed),
                            history_count,
                            {.neighbours = neighbours, .distance_floor = floor},
                            GetParam());
        }
      }
    }
  }
}

TEST_P(LofBatch, HasTheBitsOfOneByOneInTheUsualShape) {
  for (const Case& c : kCases) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      SCOPED_TRACE(std::string(c.name) + " seed=" + std::to_string(seed));
      expect_equal_bits(pairs_of(c, 10, seed), 10, LofOptions{}, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels,
                         LofBatch,
                         ::testing::Values(LofKernel::kPortable, LofKernel::kAvx2),
                         [](const auto& kernel) {
                           return kernel.param == LofKernel::kPortable ? "Portable" : "Avx2";
                         });

TEST(LofKernel, TheBestOneIsAvailable) {
  EXPECT_TRUE(lof_kernel_available(LofKernel::kPortable));
  EXPECT_TRUE(lof_kernel_available(best_lof_kernel()));
}

}  // namespace
}  // namespace bonescan
