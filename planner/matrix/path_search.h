// The best of some paths through a link: what searches over a design space share.
//
// The first end lies below the link; the second is, every other time, one through which another
// wanted link goes, else anybody in reach.  For each pair of ends all ways are scored, at most
// kMostWays of them from a random one on.
// Complexity: kTries * kMostWays scores, fewer if a path is as good as can be.
#pragma once

#include "planner/matrix/design_space.h"
#include "planner/matrix/draws.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bonescan {

constexpr std::uint32_t kTries = 24;     ///< pairs of ends @ours
constexpr std::uint32_t kMostWays = 16;  ///< of a pair @ours

/// What a score function answers.
struct PathScore {
  std::int64_t value = 0;  ///< negative: not to be taken
  bool best = false;       ///< no path can be better
};

namespace path_search {

inline std::uint32_t end_in(const PathSeed& seed, Draws& draws) {
  return seed.first_end + (seed.end_count > 1 ? draws.below(seed.end_count) : 0);
}

}  // namespace path_search

/// @param wanted  links that are looked for; one of them is likely on the path
/// @param score   PathScore(std::span<const std::uint32_t> links)
/// ENSURES: nothing if every path that was tried has a negative score
template <class Score>
std::optional<DesignPath> search_path(const DesignSpace& space,
                                      std::uint32_t link,
                                      std::span<const std::uint32_t> wanted,
                                      Draws& draws,
                                      const Score& score) {
  const PathSeed seed = space.through(link);
  std::optional<DesignPath> found;
  PathScore best{-1, false};
  std::vector<std::uint32_t> links;
  for (std::uint32_t i = 0; i < kTries && !best.best; ++i) {
    DesignPath path;
    path.end1 = path_search::end_in(seed, draws);
    const auto pool = space.pool(space.pool_of(path.end1));
    if (i % 2 == 0 && !wanted.empty()) {
      const auto at = draws.below(static_cast<std::uint32_t>(wanted.size()));
      path.end2 = path_search::end_in(space.through(wanted[at]), draws);
    } else {
      path.end2 = pool[draws.below(static_cast<std::uint32_t>(pool.size()))];
    }
    const bool far = space.between_pods(path.end1, path.end2);
    if (!space.joins(path.end1, path.end2) || (seed.core != PathSeed::kAny && !far)) {
      continue;
    }
    const bool core_free = seed.core == PathSeed::kAny;
    const bool aggregation_free = seed.aggregation == PathSeed::kAny;
    const std::uint32_t cores = core_free ? space.core_count(path.end1, path.end2) : 1;
    const std::uint32_t ways = cores * (aggregation_free ? space.aggregation_count() : 1);
    const std::uint32_t from = ways > 1 ? draws.below(ways) : 0;
    for (std::uint32_t w = 0; w < std::min(ways, kMostWays) && !best.best; ++w) {
      const std::uint32_t way = (from + w) % ways;
      path.core = core_free ? way % cores : seed.core;
      path.aggregation =
          aggregation_free ? space.first_aggregation() + way / cores : seed.aggregation;
      space.links(path, links);
      if (const PathScore now = score(std::span<const std::uint32_t>(links));
          now.value > best.value) {
        best = now;
        found = path;
      }
    }
  }
  return found;
}

}  // namespace bonescan
