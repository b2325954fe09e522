// A tabulated quantile function: one multiplication where the exact one costs a logarithm.
//
// The table holds the function at kBins + 1 points and interpolates linearly inside; the two
// outermost bins, where a quantile function may run to infinity, call the exact function.
// Invariant: the result is a pure function of the 32 bits, on every platform that rounds as IEEE
// 754.
#pragma once

#include "sim/base/rng_stream.h"

#include <array>
#include <cstdint>

namespace bonescan {

class QuantileTable final {
 public:
  using Exact = double (*)(double u, double parameter);

  QuantileTable(Exact exact, double parameter) : exact_(exact), parameter_(parameter) {
    for (std::uint32_t i = 1; i < kBins; ++i) {
      values_[i] = exact(static_cast<double>(i) / kBins, parameter);
    }
  }

  double operator()(std::uint32_t bits) const {
    const std::uint32_t bin = bits >> kShift;
    if (bin == 0 || bin == kBins - 1) [[unlikely]] {
      return exact_(open01(bits), parameter_);
    }
    const double fraction = static_cast<double>(bits & kMask) * (1.0 / (1u << kShift));
    return values_[bin] + fraction * (values_[bin + 1] - values_[bin]);
  }

 private:
  static constexpr std::uint32_t kBins = 1024;
  static constexpr std::uint32_t kShift = 22;
  static constexpr std::uint32_t kMask = (1u << kShift) - 1;
  Exact exact_;
  double parameter_;
  std::array<double, kBins + 1> values_{};
};

}  // namespace bonescan
