#include "tools/evaluate/statistics.h"

#include "sim/base/check.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bonescan {

std::optional<Interval> wilson_interval(std::size_t successes,
                                        std::size_t trials,
                                        double confidence) {
  BONESCAN_CHECK(successes <= trials);
  if (trials == 0) {
    return std::nullopt;
  }
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + confidence / 2);
  const double scale = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // At the ends the formula is exact, but its rounding is not.
  return Interval{.low = successes == 0 ? 0.0 : centre - half,
                  .high = successes == trials ? 1.0 : centre + half};
}

std::optional<Interval> clopper_pearson_interval(std::size_t successes,
                                                 std::size_t trials,
                                                 double confidence) {
  BONESCAN_CHECK(successes <= trials);
  if (trials == 0) {
    return std::nullopt;
  }
  using Binomial = boost::math::binomial_distribution<double>;
  const double n = static_cast<double>(trials);
  const double k = static_cast<double>(successes);
  const double tail = (1 - confidence) / 2;
  return Interval{
      .low = Binomial::find_lower_bound_on_p(n, k, tail),
      .high = successes == trials ? 1.0 : Binomial::find_upper_bound_on_p(n, k, tail),
  };
}

std::optional<double> poisson_upper_bound(std::size_t count, double exposure, double confidence) {
  if (!(exposure > 0)) {
    return std::nullopt;
  }
  const boost::math::chi_squared distribution(2.0 * (static_cast<double>(count) + 1));
  return boost::math::quantile(distribution, confidence) / 2 / exposure;
}

double mcnemar_exact_p(std::size_t only_first, std::size_t only_second) {
  const std::size_t discordant = only_first + only_second;
  if (discordant == 0) {
    return 1.0;
  }
  const boost::math::binomial distribution(static_cast<double>(discordant), 0.5);
  const double fewer = static_cast<double>(std::min(only_first, only_second));
  return std::min(1.0, 2 * boost::math::cdf(distribution, fewer));
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> quantile(std::span<const double> values, double level) {
  BONESCAN_CHECK(level >= 0 && level <= 1);
  if (values.empty()) {
    return std::nullopt;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace bonescan
