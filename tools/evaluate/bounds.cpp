#include "tools/evaluate/bounds.h"

#include "sim/base/check.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

double normal_quantile(double level) {
  return boost::math::quantile(boost::math::normal(), level);
}

/// Tango's score statistic of the hypothesis that second minus first is `difference`.
double tango_score(const PairedCounts& counts, double difference) {
  const auto n = static_cast<double>(counts.pairs());
  const auto gained = static_cast<double>(counts.only_second);
  const auto lost = static_cast<double>(counts.only_first);
  // Maximum likelihood of the probability of a loss, given the difference: a quadratic.
  const double a = 2 * n;
  const double b = -gained - lost + (2 * n - gained + lost) * difference;
  const double c = -lost * difference * (1 - difference);
  const double loss_ratio = (std::sqrt(std::max(0.0, b * b - 4 * a * c)) - b) / (2 * a);
  const double variance = n * (2 * loss_ratio + difference * (1 - difference));
  const double distance = gained - lost - n * difference;
  if (variance <= 0) {
    return distance == 0 ? 0.0 : std::copysign(1e300, distance);
  }
  return distance / std::sqrt(variance);
}

/// The difference at which the score falls to `level`; the score falls as the difference rises.
double tango_root(const PairedCounts& counts, double level) {
  double low = -1.0;
  double high = 1.0;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (tango_score(counts, middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Estimate proportion_estimate(std::size_t successes, std::size_t trials, double confidence) {
  BONESCAN_CHECK(successes <= trials);
  if (trials == 0) {
    return {};
  }
  using Binomial = boost::math::binomial_distribution<double>;
  const double n = static_cast<double>(trials);
  const double k = static_cast<double>(successes);
  const double risk = 1 - confidence;
  return {.value = k / n,
          .lower = Binomial::find_lower_bound_on_p(n, k, risk),
          .upper = successes == trials ? 1.0 : Binomial::find_upper_bound_on_p(n, k, risk)};
}

Estimate rate_estimate(std::size_t count, double exposure, double confidence) {
  if (!(exposure > 0)) {
    return {};
  }
  const double k = static_cast<double>(count);
  const boost::math::chi_squared above(2 * k + 2);
  Estimate estimate{.value = k / exposure,
                    .lower = 0.0,
                    .upper = boost::math::quantile(above, confidence) / 2 / exposure};
  if (count > 0) {
    const boost::math::chi_squared below(2 * k);
    estimate.lower = boost::math::quantile(below, 1 - confidence) / 2 / exposure;
  }
  return estimate;
}

std::size_t trials_without_failure(double ratio, double confidence) {
  BONESCAN_CHECK(ratio > 0 && ratio < 1);
  return static_cast<std::size_t>(std::ceil(std::log(1 - confidence) / std::log(ratio)));
}

Estimate paired_difference(const PairedCounts& counts, double confidence) {
  if (counts.pairs() == 0) {
    return {};
  }
  const double z = normal_quantile(confidence);
  const double gained = static_cast<double>(counts.only_second);
  const double lost = static_cast<double>(counts.only_first);
  return {.value = (gained - lost) / static_cast<double>(counts.pairs()),
          .lower = tango_root(counts, z),
          .upper = tango_root(counts, -z)};
}

std::size_t pairs_for_margin(double discordant_ratio, double margin) {
  BONESCAN_CHECK(discordant_ratio >= 0);
  BONESCAN_CHECK(margin > 0);
  const double reach = normal_quantile(kClaimConfidence) + normal_quantile(0.80);
  return static_cast<std::size_t>(std::ceil(reach * reach * discordant_ratio / (margin * margin)));
}

}  // namespace bonescan
