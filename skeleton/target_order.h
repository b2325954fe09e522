// In which order a source visits its targets: a permutation of its own.
//
// With a common order all sources would meet one target in the same second and then leave it alone
// for a whole sweep.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/rng_stream.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

/// Fisher-Yates.  Position i reads row i of the stream; row 0 is never read.
inline void shuffle_targets(std::vector<EndpointId>& targets, const RngStream& stream) {
  for (std::size_t i = targets.size(); i-- > 1;) {
    const std::uint64_t word = stream.block(i)[0];
    const std::size_t other = static_cast<std::size_t>((word * (i + 1)) >> 32);
    std::swap(targets[i], targets[other]);
  }
}

}  // namespace bonescan
