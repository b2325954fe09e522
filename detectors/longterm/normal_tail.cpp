#include "detectors/longterm/normal_tail.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bonescan {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// From here on the continued fraction needs no more than kTerms for the last bit.
constexpr double kFar = 10.0;
constexpr int kTerms = 60;

constexpr int kNewtonSteps = 100;

// ln of the density over the tail: what one step of z costs.
double log_hazard(double z) {
  return -0.5 * z * z - kHalfLogTwoPi - normal_log_sf(z);
}

}  // namespace

double normal_log_sf(double z) {
  if (z >= kFar) {
    // P(Z > z) / density = 1 / (z + 1 / (z + 2 / (z + 3 / ...))), from the inside out.
    double denominator = z;
    for (int n = kTerms; n >= 1; --n) {
      denominator = z + n / denominator;
    }
    return -0.5 * z * z - kHalfLogTwoPi - std::log(denominator);
  }
  const double root = z / std::numbers::sqrt2;
  return z > -1.0 ? std::log(0.5 * std::erfc(root)) : std::log1p(-0.5 * std::erfc(-root));
}

double normal_log_p_two_sided(double z) {
  return std::min(0.0, std::numbers::ln2 + normal_log_sf(std::abs(z)));
}

double normal_z_of_log_sf(double log_p) {
  BONESCAN_CHECK(std::isfinite(log_p));
  BONESCAN_CHECK(log_p < 0.0);
  // ln P(Z > z) falls and is concave, so its tangents lie above it: after one step Newton comes
  // from the right and never leaves.
  double z = log_p < -std::numbers::ln2 ? std::sqrt(-2.0 * log_p) : 0.0;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double step = (normal_log_sf(z) - log_p) / std::exp(log_hazard(z));
    z += step;
    if (std::abs(step) <= 1e-14 * std::max(1.0, std::abs(z))) {
      break;
    }
  }
  return z;
}

double student_as_normal(double t, double degrees) {
  BONESCAN_CHECK(degrees > 0.0);
  const double shrink = (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0);
  const double size = shrink * std::sqrt(degrees * std::log1p(t * t / degrees));
  return t < 0.0 ? -size : size;
}

}  // namespace bonescan
