#include "detectors/longterm/drift_math.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr double kLeastDegrees = 4.0;
constexpr double kMostDegrees = 400.0;
constexpr double kMostPhi = 0.95;

}  // namespace

double ewma_variance_factor(double weight, double phi) {
  const double kept = phi * (1.0 - weight);
  return weight / (2.0 - weight) * (1.0 + kept) / (1.0 - kept);
}

double mean_variance_factor(double count, double phi) {
  return std::min(1.0, (1.0 + phi) / ((1.0 - phi) * count));
}

double phi_of_differences(double one, double three) {
  if (three <= one) {
    return 0.0;
  }
  if (one <= 0.0) {
    return kMostPhi;
  }
  return std::min(kMostPhi, (std::sqrt(4.0 * three / one - 3.0) - 1.0) / 2.0);
}

double variance_of_differences(double one, double phi) {
  return one / (2.0 * (1.0 - phi));
}

double cusum_log_p(double h, double k, double mean_error) {
  const double square = mean_error * mean_error;
  const double turn = square > 0.0 ? k / (2.0 * square) : h;
  const double reach = std::min(h, turn);
  return -2.0 * k * reach + 2.0 * square * reach * reach;
}

double prior_degrees(double excess_variance) {
  // trigamma(x) is close to 1 / (x - 1/2).
  if (excess_variance <= 2.0 / (kMostDegrees - 1.0)) {
    return kMostDegrees;
  }
  return std::clamp(1.0 + 2.0 / excess_variance, kLeastDegrees, kMostDegrees);
}

}  // namespace bonescan
