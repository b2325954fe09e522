// When things happen by chance: a renewal process, as a list of moments.
//
// Each gap is drawn from a row of its own, so a longer span only appends.  Thread-safe.
#pragma once

#include "sim/base/rng_stream.h"
#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct Arrival {
  Duration at{};           ///< after the start of the span
  std::uint64_t bits = 0;  ///< 64 random ones, to choose what it happens to
};

/// More arrivals than this are a scenario's mistake, not an experiment. @ours
inline constexpr std::size_t kMostArrivals = 1'000'000;

/// Exponential gaps: a Poisson process.
/// @param per_second mean rate of all together; at most kMostArrivals come
std::vector<Arrival> poisson_arrivals(const RngStream& stream, double per_second, Duration span);

/// Weibull gaps with the same mean, the first one counted from the start of the span.
std::vector<Arrival> weibull_arrivals(const RngStream& stream,
                                      double per_second,
                                      double shape,
                                      Duration span);

/// A number in [0, 1) from the low half of `bits`.
constexpr double low_unit(std::uint64_t bits) {
  return static_cast<double>(bits & 0xFFFF'FFFFu) * 0x1.0p-32;
}

}  // namespace bonescan
