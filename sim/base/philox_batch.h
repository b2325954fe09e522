// Evenly spaced rows of one random stream at once.
//
// Intuition: the ten rounds of Philox wait for each other, but rows do not; four rows fill one
// 256-bit register, and three registers keep the multiplier busy.  Where the processor has no such
// registers the rows are drawn one by one.
// Invariant: the result is philox4x32_10's, bit for bit, on every machine.
#pragma once

#include "sim/base/rng_stream.h"

#include <cstdint>
#include <span>

namespace bonescan {

/// out[i] is row first + i * step of the stream, modulo 2^64.
void draw_rows(const RngStream& stream,
               std::uint64_t first,
               std::uint64_t step,
               std::span<PhiloxCounter> out);

}  // namespace bonescan
