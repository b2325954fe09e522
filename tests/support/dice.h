// Reads one stream of random numbers from its beginning, for tests that try random things.
#pragma once

#include "sim/base/rng_stream.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan::test {

class Dice {
 public:
  /// `entity` tells the dice of different tests apart.
  Dice(std::uint64_t seed, std::uint32_t entity) : stream_(seed, Purpose::kTest, entity) {}

  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(stream_.at(next_++) % bound);
  }

  /// Below `limit` and even: where ticks fall on even nanoseconds and everything else on odd ones,
  /// nothing ties with a tick.
  Duration even(Duration limit) {
    const auto half = static_cast<std::uint64_t>(limit.count()) / 2;
    return Duration(2 * static_cast<std::int64_t>(stream_.at(next_++) % half));
  }

  double uniform(double from, double to) { return from + (to - from) * stream_.open01_at(next_++); }

  Duration between(Duration from, Duration to) {
    return from + Duration(static_cast<std::int64_t>(
                      uniform(0.0, static_cast<double>((to - from).count()))));
  }

 private:
  RngStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace bonescan::test
