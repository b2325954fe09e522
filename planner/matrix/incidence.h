// Designs in which two links have at most one path in common: which paths a link has so far.
//
// Complexity: a look at a path of L links is O(L^2 w) for w paths a link.
#pragma once

#include "planner/matrix/path_search.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bonescan {

/// The links of each path, and the paths of each link.
class Incidence final {
 public:
  /// @param wanted  by link: how many paths it is to have
  explicit Incidence(std::vector<std::uint32_t> wanted)
      : wanted_(std::move(wanted)), paths_(wanted_.size()) {}

  bool deficient(std::uint32_t link) const { return weight(link) < wanted_[link]; }

  std::uint32_t weight(std::uint32_t link) const {
    return static_cast<std::uint32_t>(paths_[link].size());
  }

  /// More deficient links are better, then links that are covered less.
  PathScore score(std::span<const std::uint32_t> path) const {
    std::int64_t wanted = 0;
    std::int64_t weight_sum = 0;
    for (const std::uint32_t link : path) {
      wanted += deficient(link) ? 1 : 0;
      weight_sum += std::min(weight(link), 10U);
    }
    if (wanted == 0) {
      return {-1, false};
    }
    if (!is_linear(path)) {
      return {-1, false};
    }
    return {64 * wanted + 63 - weight_sum, wanted == static_cast<std::int64_t>(path.size())};
  }

  /// Do no two links of the path have a path in common yet?
  bool is_linear(std::span<const std::uint32_t> path) const {
    for (std::size_t i = 0; i < path.size(); ++i) {
      for (std::size_t j = i + 1; j < path.size(); ++j) {
        if (share_path(path[i], path[j])) {
          return false;
        }
      }
    }
    return true;
  }

  void add(std::uint32_t path, std::span<const std::uint32_t> links) {
    for (const std::uint32_t link : links) {
      paths_[link].push_back(path);
    }
  }

 private:
  /// Lists ascend and are short.
  bool share_path(std::uint32_t a, std::uint32_t b) const {
    const auto& one = paths_[a];
    const auto& other = paths_[b];
    for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
      if (one[i] == other[j]) {
        return true;
      }
      ++(one[i] < other[j] ? i : j);
    }
    return false;
  }

  std::vector<std::uint32_t> wanted_;
  std::vector<std::vector<std::uint32_t>> paths_;
};

}  // namespace bonescan
