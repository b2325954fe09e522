// The generalized Pareto fit: closed forms, scipy's maximum, and what it must refuse.
#include "detectors/shortterm/tail_fit.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

/// Quantiles at (i + 1/2) / n: a sample that is exactly as it should be.
template <class F>
std::vector<double> exact_sample(std::size_t count, const F& quantile_of_survival) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(
        quantile_of_survival((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
  }
  return values;
}

TEST(TailFit, FindsTheMaximumThatScipyFinds) {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/tail/gpd_golden.json");
  const auto golden = nlohmann::json::parse(file);
  const auto fit = fit_tail(golden["x"].get<std::vector<double>>(), {});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->shape, golden["xi"].get<double>(), 1e-4);
  EXPECT_NEAR(fit->scale, golden["beta"].get<double>(), 1e-4);
  EXPECT_NEAR(fit->log_likelihood, golden["loglik"].get<double>(), 1e-6);
  EXPECT_EQ(fit->exceedances, 200U);
}

TEST(TailFit, KnowsTheShapesOfExactSamples) {
  struct Case {
    const char* name;
    double shape;
    double scale;
  };

  for (const Case& c : {Case{"exponential", 0.0, 3.0},
                        Case{"pareto, finite variance", 0.25, 2.0},
                        Case{"pareto, heavy", 0.6, 0.5},
                        Case{"triangular, with an end", -0.4, 1.0}}) {
    SCOPED_TRACE(c.name);
    const auto sample = exact_sample(20'000, [&](double survival) {
      return c.shape == 0.0 ? -c.scale * std::log(survival)
                            : c.scale / c.shape * (std::pow(survival, -c.shape) - 1.0);
    });
    const auto fit = fit_tail(sample, {});
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->shape, c.shape, 0.005);
    EXPECT_NEAR(fit->scale, c.scale, 0.01 * c.scale);
  }
}

// Uniform: xi = -1, where a maximum does not exist any more.
TEST(TailFit, HoldsTheShapeAtItsBound) {
  const auto sample = exact_sample(2000, [](double survival) { return 1.0 - survival; });
  const auto fit = fit_tail(sample, {});
  ASSERT_TRUE(fit.has_value());
  EXPECT_DOUBLE_EQ(fit->shape, -0.5);
  EXPECT_GT(-fit->scale / fit->shape, *std::max_element(sample.begin(), sample.end()));

  const auto heavy =
      exact_sample(2000, [](double survival) { return 1.0 / (survival * survival); });
  const auto bounded = fit_tail(heavy, {});
  ASSERT_TRUE(bounded.has_value());
  EXPECT_DOUBLE_EQ(bounded->shape, 0.9);
  EXPECT_GT(bounded->scale, 0.0);
}

TEST(TailFit, FollowsTheUnitOfTheScores) {
  const auto sample = exact_sample(500, [](double survival) { return -std::log(survival); });
  auto scaled = sample;
  for (double& value : scaled) {
    value *= 1e6;
  }
  const auto fit = fit_tail(sample, {});
  const auto large = fit_tail(scaled, {});
  ASSERT_TRUE(fit && large);
  EXPECT_NEAR(large->shape, fit->shape, 1e-6);
  EXPECT_NEAR(large->scale, fit->scale * 1e6, 1.0);
}

TEST(TailFit, SaysNothingWhereNothingCanBeSaid) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> good(60, 1.0);
  EXPECT_TRUE(fit_tail(good, {}).has_value());
  EXPECT_FALSE(fit_tail(std::span(good).first(49), {}).has_value());
  EXPECT_FALSE(fit_tail({}, {.least_exceedances = 0}).has_value());
  for (const double bad : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    good[7] = bad;
    EXPECT_FALSE(fit_tail(good, {}).has_value());
  }
  EXPECT_FALSE(fit_tail(std::vector<double>(60, 0.0), {}).has_value());
}

TEST(TailFit, QuantileAndSurvivalAreInverse) {
  for (const double shape : {-0.4, 0.0, 0.3}) {
    SCOPED_TRACE(shape);
    const TailFit fit{.shape = shape, .scale = 2.0};
    for (const double log_probability : {-0.1, -3.0, -20.0}) {
      EXPECT_NEAR(log_tail_survival(fit, tail_quantile(fit, log_probability)),
                  log_probability,
                  1e-9 * -log_probability);
    }
    EXPECT_EQ(log_tail_survival(fit, 0.0), 0.0);
    EXPECT_EQ(log_tail_survival(fit, -1.0), 0.0);
  }
}

TEST(TailFit, EndsAtTheUpperEndPoint) {
  const TailFit fit{.shape = -0.5, .scale = 2.0};
  EXPECT_LT(log_tail_survival(fit, 3.99), 0.0);
  EXPECT_TRUE(std::isfinite(log_tail_survival(fit, 3.99)));
  EXPECT_TRUE(std::isinf(log_tail_survival(fit, 4.0)));
  EXPECT_TRUE(std::isinf(log_tail_survival(fit, 5.0)));
}

}  // namespace
}  // namespace bonescan
