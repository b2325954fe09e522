// Sorts a few integers without a branch that depends on one.
//
// Intuition: comparisons of random RTTs are mispredicted half of the time.  Each value's rank is
// how many are smaller, and four of these comparisons are one instruction.  Equal values share a
// rank; the places that stay empty behind it are filled afterwards.
//
// Rough model: n^2 / 4 comparisons, of vectors that stay in registers.  Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace bonescan {

/// Longer spans are somebody else's.
constexpr std::size_t kLongestRanking = 32;

/// REQUIRES: values.size() <= 4 * kQuads.
template <std::size_t kQuads>
void sort_by_rank(std::span<std::uint32_t> values) {
  using Quad = std::int32_t __attribute__((vector_size(16)));
  constexpr std::uint32_t kSign = 0x80000000;  // signed order of flipped values is unsigned order
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<std::int32_t, 4 * kQuads> flipped;
  flipped.fill(std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < values.size(); ++i) {
    flipped[i] = static_cast<std::int32_t>(values[i] ^ kSign);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<Quad, kQuads> lanes;
  std::memcpy(lanes.data(), flipped.data(), sizeof(lanes));
  std::array<Quad, kQuads> ranks{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Quad one = Quad{} + flipped[i];
    for (std::size_t q = 0; q < kQuads; ++q) {
      ranks[q] -= lanes[q] > one;
    }
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<std::int32_t, 4 * kQuads> rank;
  std::memcpy(rank.data(), ranks.data(), sizeof(rank));
  std::array<std::uint32_t, 4 * kQuads> sorted{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    sorted[static_cast<std::size_t>(rank[i])] = values[i];
  }
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    most = std::max(most, sorted[i]);
    values[i] = most;
  }
}

/// REQUIRES: values.size() <= kLongestRanking.
inline void sort_by_rank(std::span<std::uint32_t> values) {
  if (values.size() <= 12) {
    sort_by_rank<3>(values);
  } else if (values.size() <= 20) {
    sort_by_rank<5>(values);
  } else {
    sort_by_rank<8>(values);
  }
}

}  // namespace bonescan
