#include "faults/processes/failure_laws.h"

#include "sim/base/distributions.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr int kMostTerms = 10'000;
constexpr int kHalvings = 200;
constexpr double kTiny = 1e-300;
/// Of the standard normal at 90 %.
constexpr double kNormalP90 = 1.2815515655446004;
/// Longest time that a Duration holds with room to add one.
constexpr double kLongestS = 4e9;

double by_series(double shape, double x) {
  double term = 1.0 / shape;
  double sum = term;
  for (int n = 1; n < kMostTerms && std::abs(term) > std::abs(sum) * 1e-16; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum * std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

double by_fraction(double shape, double x) {
  double b = x + 1.0 - shape;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double h = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double a = -n * (n - shape);
    b += 2.0;
    d = a * d + b;
    d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + a / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    h *= d * c;
    if (std::abs(d * c - 1.0) < 1e-16) {
      break;
    }
  }
  return 1.0 - h * std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

}  // namespace

double weibull_quantile(double u, double shape, double mean) {
  const double scale = mean / std::tgamma(1.0 + 1.0 / shape);
  return scale * std::pow(-std::log1p(-u), 1.0 / shape);
}

double gamma_cdf(double shape, double x) {
  if (x <= 0.0) {
    return 0.0;
  }
  return x < shape + 1.0 ? by_series(shape, x) : by_fraction(shape, x);
}

double gamma_quantile(double u, double shape) {
  double low = std::log(kTiny);
  double high = std::log(1e6);
  for (int i = 0; i < kHalvings && high - low > 1e-13; ++i) {
    const double middle = 0.5 * (low + high);
    (gamma_cdf(shape, shape * std::exp(middle)) < u ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

Duration repair_quantile(double u, Duration median, Duration p90) {
  const double mu = std::log(seconds(median));
  const double sigma = std::log(seconds(p90) / seconds(median)) / kNormalP90;
  return from_seconds(std::min(kLongestS, lognormal_quantile(u, mu, sigma)));
}

}  // namespace bonescan
