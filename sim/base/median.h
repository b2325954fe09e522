// The middle of some values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

namespace bonescan {

/// The middle value, the mean of both if there are two; 0 of nothing.  Changes the order of
/// `values`.
template <class T>
T median(std::vector<T>& values) {
  if (values.empty()) {
    return T{0};
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  const T below = *std::max_element(values.begin(), middle);
  if constexpr (std::is_integral_v<T>) {
    return std::midpoint(below, *middle);
  } else {
    return (below + *middle) / T{2};
  }
}

}  // namespace bonescan
