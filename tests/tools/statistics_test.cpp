#include "tools/evaluate/statistics.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <vector>

namespace bonescan {
namespace {

/// The rows of one table; a copy, because a loop would not keep the whole document alive.
nlohmann::json golden(const char* table) {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/eval/intervals.json");
  nlohmann::json rows = nlohmann::json::parse(file).at(table);
  EXPECT_GE(rows.size(), 5U);
  return rows;
}

TEST(Statistics, WilsonEqualsTheGolden) {
  for (const auto& row : golden("wilson")) {
    SCOPED_TRACE(row.dump());
    const auto interval = wilson_interval(row[0], row[1]);
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, row[2].get<double>(), 1e-9);
    EXPECT_NEAR(interval->high, row[3].get<double>(), 1e-9);
  }
}

TEST(Statistics, ClopperPearsonEqualsTheGolden) {
  for (const auto& row : golden("cp")) {
    SCOPED_TRACE(row.dump());
    const auto interval = clopper_pearson_interval(row[0], row[1]);
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, row[2].get<double>(), 1e-9);
    EXPECT_NEAR(interval->high, row[3].get<double>(), 1e-9);
  }
}

TEST(Statistics, McNemarEqualsTheGolden) {
  for (const auto& row : golden("mcnemar")) {
    SCOPED_TRACE(row.dump());
    EXPECT_NEAR(mcnemar_exact_p(row[0], row[1]), row[2].get<double>(), 1e-9);
    EXPECT_NEAR(mcnemar_exact_p(row[1], row[0]), row[2].get<double>(), 1e-9);
  }
}

TEST(Statistics, PoissonBoundOfNoEventsIsMinusLogOfTheRest) {
  EXPECT_NEAR(poisson_upper_bound(0, 1.0).value(), -std::log(0.05), 1e-12);
  EXPECT_NEAR(poisson_upper_bound(0, 4.0).value(), -std::log(0.05) / 4, 1e-12);
}

TEST(Statistics, PoissonBoundLeavesFivePercentBelow) {
  const double rate = poisson_upper_bound(2, 1.0).value();
  EXPECT_NEAR(std::exp(-rate) * (1 + rate + rate * rate / 2), 0.05, 1e-12);
}

TEST(Statistics, QuantileInterpolatesLinearly) {
  struct Case {
    const char* name;
    std::vector<double> values;
    double level;
    double expected;
  };
  const std::vector<Case> cases = {
      {"one value", {3}, 0.95, 3},
      {"unsorted median", {4, 1, 3, 2}, 0.5, 2.5},
      {"minimum", {4, 1, 3}, 0, 1},
      {"maximum", {4, 1, 3}, 1, 4},
      {"p95 of five", {1, 2, 3, 4, 5}, 0.95, 4.8},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_NEAR(quantile(c.values, c.level).value(), c.expected, 1e-12);
  }
}

TEST(Statistics, NothingIsUndefinedAndNotZero) {
  EXPECT_FALSE(wilson_interval(0, 0));
  EXPECT_FALSE(clopper_pearson_interval(0, 0));
  EXPECT_FALSE(poisson_upper_bound(0, 0.0));
  EXPECT_FALSE(quantile({}, 0.5));
  EXPECT_FALSE(mean({}));
}

}  // namespace
}  // namespace bonescan
