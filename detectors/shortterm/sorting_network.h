// Medians of several short columns at once, by a sorting network.
//
// Intuition: a network compares the same places whatever the values are, so all lanes of a register
// go through it together, no branch waits for a value, and what only the outer places need is left
// out by the compiler.  Sixteen rows always: those that a shorter column does not have are filled
// from both sides, so that the middle stays the middle.
//
// Rough model: 63 comparators of one minimum and one maximum each.  Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bonescan {

constexpr std::size_t kNetworkRows = 16;

using FourFloats = float __attribute__((vector_size(16)));

struct Comparator {
  std::uint8_t low;
  std::uint8_t high;
};

constexpr std::size_t kComparators = 63;

/// Batcher's odd-even merge sort of sixteen.  @paper Batcher 1968
constexpr std::array<Comparator, kComparators> batcher_network() {
  std::array<Comparator, kComparators> network{};
  std::size_t next = 0;
  for (std::size_t p = 1; p < kNetworkRows; p *= 2) {
    for (std::size_t k = p; k >= 1; k /= 2) {
      for (std::size_t j = k % p; j + k < kNetworkRows; j += 2 * k) {
        for (std::size_t i = 0; i < k && i + j + k < kNetworkRows; ++i) {
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) {
            network[next++] = {static_cast<std::uint8_t>(i + j),
                               static_cast<std::uint8_t>(i + j + k)};
          }
        }
      }
    }
  }
  return network;
}

inline constexpr auto kBatcherNetwork = batcher_network();

/// The smaller one into `low`, the larger one into `high`, lane by lane.
template <class Lanes>
void order_rows(Lanes& low, Lanes& high) {
  const Lanes a = low;
  const Lanes b = high;
  low = a < b ? a : b;
  high = a < b ? b : a;
}

#if defined(__SSE2__)
/// The same in two instructions: the compiler finds them for integers only.
inline void order_rows(FourFloats& low, FourFloats& high) {
  const __m128 a = low;
  const __m128 b = high;
  low = _mm_min_ps(a, b);
  high = _mm_max_ps(b, a);
}
#endif

template <std::size_t Index, class Lanes>
void compare_rows(std::array<Lanes, kNetworkRows>& rows) {
  constexpr Comparator kOne = kBatcherNetwork[Index];
  order_rows(rows[kOne.low], rows[kOne.high]);
}

// Unrolled, so that rows live in registers.
template <class Lanes, std::size_t... Indices>
void sort_rows(std::array<Lanes, kNetworkRows>& rows, std::index_sequence<Indices...> /*order*/) {
  (compare_rows<Indices>(rows), ...);
}

/// Sorts every lane on its own.  REQUIRES: no NaN.
template <class Lanes>
void sort_rows(std::array<Lanes, kNetworkRows>& rows) {
  sort_rows(rows, std::make_index_sequence<kComparators>());
}

/// Fills rows [count, kNetworkRows), so that the middle of the first `count` becomes that of all:
/// row kNetworkRows / 2 - 1 once sorted, and the one behind it where `count` is even.
template <class Value, class Lanes>
void fill_rest(std::array<Lanes, kNetworkRows>& rows, std::size_t count) {
  constexpr Lanes kNothing{};
  constexpr Lanes kLeast = kNothing + std::numeric_limits<Value>::lowest();
  constexpr Lanes kMost = kNothing + std::numeric_limits<Value>::max();
  for (std::size_t i = count; i < kNetworkRows; ++i) {
    rows[i] = (i - count) % 2 == 0 ? kMost : kLeast;
  }
}

}  // namespace bonescan
