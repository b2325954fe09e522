// Numbers for searches, one after the other from one stream.
#pragma once

#include "sim/base/rng_stream.h"

#include <cstdint>

namespace bonescan {

class Draws final {
 public:
  explicit Draws(RngStream stream) : stream_(stream) {}

  /// Uniform in 0 ... bound - 1; one row of the stream.  REQUIRES: bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((stream_.at(next_++) >> 32) * bound >> 32);
  }

 private:
  RngStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace bonescan
