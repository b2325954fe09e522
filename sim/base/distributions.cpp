#include "sim/base/distributions.h"

#include <cmath>

namespace bonescan {
namespace {

constexpr double kA[] = {-3.969683028665376e+01,
                         2.209460984245205e+02,
                         -2.759285104469687e+02,
                         1.383577518672690e+02,
                         -3.066479806614716e+01,
                         2.506628277459239e+00};
constexpr double kB[] = {-5.447609879822406e+01,
                         1.615858368580409e+02,
                         -1.556989798598866e+02,
                         6.680131188771972e+01,
                         -1.328068155288572e+01};
constexpr double kC[] = {-7.784894002430293e-03,
                         -3.223964580411365e-01,
                         -2.400758277161838e+00,
                         -2.549732539343734e+00,
                         4.374664141464968e+00,
                         2.938163982698783e+00};
constexpr double kD[] = {
    7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
constexpr double kTail = 0.02425;

double tail_quantile(double u) {
  const double q = std::sqrt(-2.0 * std::log(u));
  return (((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5]) /
         ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1.0);
}

}  // namespace

double normal_quantile(double u) {
  if (u < kTail) {
    return tail_quantile(u);
  }
  if (u > 1.0 - kTail) {
    return -tail_quantile(1.0 - u);
  }
  const double q = u - 0.5;
  const double r = q * q;
  return (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
         (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1.0);
}

double exponential_quantile(double u, double mean) {
  return -mean * std::log1p(-u);
}

double lognormal_quantile(double u, double mu, double sigma) {
  return std::exp(mu + sigma * normal_quantile(u));
}

}  // namespace bonescan
