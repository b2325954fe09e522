// A 4-ary min-heap of 128-bit keys, laid out so that four siblings fill one cache line.
//
// Why this shape: a pop walks from the root to a leaf, and what it pays for is the lines it
// touches. Four children of 16 bytes are one aligned line, so a heap of a million keys is ten lines
// deep where a binary heap is twenty.  The smallest of four is found without a branch; the lines of
// the next level are requested before that minimum is known, because its latency is what a large
// heap would otherwise wait for. Invariants: 1. no key is smaller than its parent; 2. the cells
// behind the last key hold kNone, so a group of siblings is always full; 3. keys are unique, and
// smaller than kNone. Thread-compatible.
#pragma once

#include "sim/base/check.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace bonescan {

__extension__ using Key128 = unsigned __int128;

class KeyHeap final {
 public:
  bool empty() const { return end_ == kRoot; }

  std::size_t size() const { return end_ - kRoot; }

  /// REQUIRES: !empty().
  Key128 top() const {
    BONESCAN_DCHECK(!empty());
    return cells_[kRoot];
  }

  /// @complexity O(log n) at worst, O(1) for keys in random order
  void push(Key128 key) {
    if (end_ >= cells_.size()) {
      cells_.resize(cells_.size() + kArity, kNone);
    }
    std::size_t hole = end_++;
    while (hole != kRoot) {
      const std::size_t parent = parent_of(hole);
      if (!(key < cells_[parent])) {
        break;
      }
      cells_[hole] = cells_[parent];
      hole = parent;
    }
    cells_[hole] = key;
  }

  /// Removes the smallest key.  REQUIRES: !empty().
  /// @complexity O(log n)
  void pop() {
    BONESCAN_DCHECK(!empty());
    --end_;
    const Key128 last = cells_[end_];
    cells_[end_] = kNone;
    if (end_ != kRoot) {
      sift_down(kRoot, last);
    }
  }

  /// Removes every key that `dead` accepts.
  /// @complexity O(n)
  template <class Predicate>
  void erase_if(Predicate&& dead) {
    std::size_t kept = kRoot;
    for (std::size_t i = kRoot; i < end_; ++i) {
      if (!dead(cells_[i])) {
        cells_[kept++] = cells_[i];
      }
    }
    for (std::size_t i = kept; i < end_; ++i) {
      cells_[i] = kNone;
    }
    end_ = kept;
    if (size() > 1) {
      for (std::size_t i = parent_of(end_ - 1) + 1; i-- > kRoot;) {
        sift_down(i, cells_[i]);
      }
    }
  }

 private:
  /// Cell kRoot is the root, and the children of cell p are the cells 4p - 8 to 4p - 5: every
  /// group of siblings starts at a multiple of four.
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kRoot = 3;
  static constexpr std::size_t kLineSize = 64;
  static constexpr Key128 kNone = ~Key128{0};

  static constexpr std::size_t parent_of(std::size_t cell) { return cell / kArity + 2; }

  static constexpr std::size_t first_child_of(std::size_t cell) { return kArity * cell - 8; }

  template <class T>
  struct LineAllocator {
    using value_type = T;  // NOLINT(readability-identifier-naming): std's name.

    LineAllocator() = default;

    template <class U>
    explicit LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t count) {
      return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kLineSize}));
    }

    void deallocate(T* cells, std::size_t) noexcept {
      ::operator delete (cells, std::align_val_t{kLineSize});
    }

    bool operator==(const LineAllocator&) const = default;
  };

  static std::size_t smallest_of_group(const Key128* cells, std::size_t first) {
    const std::size_t left = first + (cells[first + 1] < cells[first] ? 1 : 0);
    const std::size_t right = first + 2 + (cells[first + 3] < cells[first + 2] ? 1 : 0);
    return cells[right] < cells[left] ? right : left;
  }

  void sift_down(std::size_t hole, Key128 key) {
    Key128* const cells = cells_.data();
    for (std::size_t child = first_child_of(hole); child < end_; child = first_child_of(hole)) {
      const std::size_t grandchild = first_child_of(child);
      if (grandchild + kArity * kArity <= cells_.size()) {
        for (std::size_t i = 0; i < kArity; ++i) {
          __builtin_prefetch(cells + grandchild + i * kArity);
        }
      }
      const std::size_t smallest = smallest_of_group(cells, child);
      if (!(cells[smallest] < key)) {
        break;
      }
      cells[hole] = cells[smallest];
      hole = smallest;
    }
    cells[hole] = key;
  }

  std::vector<Key128, LineAllocator<Key128>> cells_;
  std::size_t end_ = kRoot;
};

}  // namespace bonescan
