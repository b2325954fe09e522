// Asks for the row of a column before it is needed.
//
// A loop over many pairs touches rows that are in no cache, one after the other, and would wait for
// each.  Told a few turns ahead, the memory fetches them while earlier rows are worked on.  It is a
// hint: whatever is asked for, no result depends on it.
//
// CORRECTNESS: functions that do nothing but ask are inlined by force.  g++ takes them for
// functions without any effect, and leaves calls of them out.
#pragma once

#include <cstddef>

namespace bonescan {

/// Rows are asked for this many turns early: time enough, and few enough to stay in the cache.
constexpr std::size_t kPrefetchAhead = 8;

/// `size` bytes from `first` on.
[[gnu::always_inline]] inline void prefetch(const void* first, std::size_t size) {
  constexpr std::size_t kCacheLine = 64;
  const auto* bytes = static_cast<const char*>(first);
  for (std::size_t offset = 0; offset < size; offset += kCacheLine) {
    __builtin_prefetch(bytes + offset);
  }
  __builtin_prefetch(bytes + size - 1);
}

/// The first `width` values of a row of a paged column, if there is one.
template <class Column, class Id>
[[gnu::always_inline]] inline void prefetch_row(const Column& column,
                                                Id id,
                                                std::size_t width = 1) {
  if (const auto* row = column.find(id)) {
    prefetch(row, width * sizeof(*row));
  }
}

/// The element of a plain column, if it has it.
template <class Column, class Id>
[[gnu::always_inline]] inline void prefetch_element(const Column& column, Id id) {
  if (column.contains(id)) {
    prefetch(&column[id], sizeof(column[id]));
  }
}

}  // namespace bonescan
