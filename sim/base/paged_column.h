// A column by dense ids whose rows can be given back.
//
// Ids of a long run only grow, while what they name comes and goes, so a plain array by id would
// grow for ever.  Rows lie in pages of 64 neighbouring ids; a page is made when one of its rows is
// first written and goes when all of its ids have been released.  Things that come together have
// neighbouring ids and mostly go together, so little is held for others.
// Invariants: 1. a row reads as the initial value until it is written, and after its release;
// 2. a row never moves; 3. what stays of 64 released ids is one empty page of 16 bytes.
// Rough model: an access is one load more than that of an array.  Thread-compatible.
#pragma once

#include "sim/base/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bonescan {

template <class Id, class T>
class PagedColumn final {
 public:
  static constexpr std::size_t kPageIds = 64;

  /// `width` values an id, next to each other.
  explicit PagedColumn(std::size_t width = 1, const T& initial = T())
      : width_(width), initial_(initial) {}

  /// The first value of the row; nullptr if its page was never written or is gone.
  const T* find(Id id) const {
    const std::size_t page = id.index() / kPageIds;
    return page < pages_.size() && pages_[page].rows ? pages_[page].rows.get() + offset(id)
                                                     : nullptr;
  }

  /// The first value, or the initial one.
  const T& value(Id id) const {
    const T* found = find(id);
    return found == nullptr ? initial_ : *found;
  }

  /// The first value of the row, made on first use.  REQUIRES: not released.
  T& at(Id id) {
    const std::size_t page = id.index() / kPageIds;
    if (page >= pages_.size() || !pages_[page].rows) {
      make_page(page);
    }
    return pages_[page].rows[offset(id)];
  }

  /// As at(), without a check.  REQUIRES: at() or grow() made the row, and it is not released.
  T& operator[](Id id) { return pages_[id.index() / kPageIds].rows[offset(id)]; }

  const T& operator[](Id id) const { return pages_[id.index() / kPageIds].rows[offset(id)]; }

  bool contains(Id id) const { return find(id) != nullptr; }

  /// Makes the rows of all ids below `count` that are above those of every earlier page.
  void grow(std::size_t count) {
    while (pages_.size() * kPageIds < count) {
      make_page(pages_.size());
    }
  }

  /// The ids [first, first + count) are never written again.
  /// REQUIRES: an id is released once at most.
  void release(Id first, std::size_t count) {
    for (std::size_t i = first.index(); i < first.index() + count; ++i) {
      const std::size_t page = i / kPageIds;
      if (page >= pages_.size()) {
        pages_.resize(page + 1);
      }
      Page& of_id = pages_[page];
      if (of_id.rows) {
        std::fill_n(of_id.rows.get() + i % kPageIds * width_, width_, initial_);
      }
      BONESCAN_DCHECK(of_id.released < kPageIds);
      if (++of_id.released == kPageIds && of_id.rows) {
        of_id.rows.reset();
        --held_;
      }
    }
  }

  /// Calls `body(id, value)` for every row of the pages that are held, ascending.
  template <class F>
  void for_each(F&& body) {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page].rows) {
        continue;
      }
      const auto first = static_cast<std::uint32_t>(page * kPageIds);
      for (std::uint32_t i = 0; i < kPageIds; ++i) {
        body(Id(first + i), pages_[page].rows[i * width_]);
      }
    }
  }

  /// Of the pages that are held, without what their values own elsewhere.
  std::size_t held_size() const { return held_ * kPageIds * width_ * sizeof(T); }

  /// Of what never goes.
  std::size_t kept_size() const { return pages_.size() * sizeof(Page); }

 private:
  struct Page {
    std::unique_ptr<T[]> rows;
    std::uint32_t released = 0;
  };

  std::size_t offset(Id id) const { return id.index() % kPageIds * width_; }

  void make_page(std::size_t page) {
    if (page >= pages_.size()) {
      pages_.resize(page + 1);
    }
    BONESCAN_DCHECK(pages_[page].released < kPageIds);
    pages_[page].rows = std::make_unique<T[]>(kPageIds * width_);
    std::fill_n(pages_[page].rows.get(), kPageIds * width_, initial_);
    ++held_;
  }

  std::size_t width_;
  T initial_;
  std::vector<Page> pages_;
  std::size_t held_ = 0;
};

}  // namespace bonescan
