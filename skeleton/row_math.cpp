#include "skeleton/row_math.h"

#include <cstddef>

namespace bonescan {

double dot(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kLanes = 4;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += a[i + lane] * b[i + lane];
    }
  }
  double result = (static_cast<double>(lanes[0]) + static_cast<double>(lanes[1])) +
                  (static_cast<double>(lanes[2]) + static_cast<double>(lanes[3]));
  for (; i < a.size(); ++i) {
    result += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return result;
}

double square_distance(std::span<const double> a, std::span<const double> b) {
  double square = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    square += (a[d] - b[d]) * (a[d] - b[d]);
  }
  return square;
}

}  // namespace bonescan
