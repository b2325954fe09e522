// Pearson's chi-square statistic, for tests of uniformity and independence.
//
// A statistic with f degrees of freedom has mean f and standard deviation sqrt(2 f); a fixed seed
// makes a test with it deterministic.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan::test {

inline double chi_square_uniform(const std::vector<std::uint64_t>& counts) {
  double total = 0.0;
  for (const std::uint64_t count : counts) {
    total += static_cast<double>(count);
  }
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const std::uint64_t count : counts) {
    const double deviation = static_cast<double>(count) - expected;
    sum += deviation * deviation / expected;
  }
  return sum;
}

/// Five standard deviations above the mean: about one seed in a million is beyond it.
inline double chi_square_bound(std::size_t degrees) {
  const auto f = static_cast<double>(degrees);
  return f + 5.0 * std::sqrt(2.0 * f) + 5.0;
}

}  // namespace bonescan::test
