// Paths as sets of links, in one column: what probe matrices are made of and judged by.
//
// Links are numbered 0 ... link_count - 1 by whoever makes the set; a number says nothing but which
// link is meant.  Invariants: 1. `first` holds one more entry than there are paths and ascends;
// 2. a path holds no link twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct PathSet {
  std::uint32_t link_count = 0;
  std::vector<std::uint32_t> first{0};  ///< by path: where its links begin in `links`
  std::vector<std::uint32_t> links{};

  std::size_t size() const { return first.size() - 1; }

  std::span<const std::uint32_t> operator[](std::size_t path) const {
    return std::span(links).subspan(first[path], first[path + 1] - first[path]);
  }

  void add(std::span<const std::uint32_t> path) {
    links.insert(links.end(), path.begin(), path.end());
    first.push_back(static_cast<std::uint32_t>(links.size()));
  }
};

/// What chosen paths must be able to tell.
struct PmcGoal {
  std::uint32_t alpha = 1;  ///< every link lies on at least so many chosen paths
  std::uint32_t beta = 1;  ///< any two sets of at most so many links differ in the paths they cross
};

}  // namespace bonescan
