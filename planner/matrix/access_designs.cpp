#include "planner/matrix/access_designs.h"

#include "planner/matrix/incidence.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
/// Draws of a neighbour before a ring is given up. @ours
constexpr int kMostDraws = 200;
/// Rings that are tried: a path may find no way left between its ToRs. @ours
constexpr int kMostRings = 10;

/// The way between two ends whose links between switches have been used least.
DesignPath lightest_way(const DesignSpace& space,
                        DesignPath path,
                        std::uint32_t other_than,
                        const std::vector<std::uint32_t>& weight,
                        Draws& draws) {
  const std::uint32_t cores = space.core_count(path.end1, path.end2);
  const std::uint32_t ways = cores * space.aggregation_count();
  const std::uint32_t from = draws.below(ways);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  DesignPath best = path;
  std::vector<std::uint32_t> links;
  for (std::uint32_t w = 0; w < ways; ++w) {
    const std::uint32_t way = (from + w) % ways;
    path.aggregation = space.first_aggregation() + way / cores;
    path.core = way % cores;
    if (path.aggregation == other_than && space.aggregation_count() > 1) {
      continue;
    }
    space.links(path, links);
    std::uint64_t sum = 0;
    for (std::size_t i = 2; i < links.size(); ++i) {
      // Squares: two links used twice are better than one used thrice.
      sum += static_cast<std::uint64_t>(weight[links[i]]) * weight[links[i]];
    }
    if (sum < least) {
      least = sum;
      best = path;
    }
  }
  return best;
}

std::vector<std::uint32_t> shuffled(std::span<const std::uint32_t> values, Draws& draws) {
  std::vector<std::uint32_t> order(values.begin(), values.end());
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[draws.below(static_cast<std::uint32_t>(i))]);
  }
  return order;
}

/// Ends in an order in which neighbours, the last and the first too, are joined.
std::optional<std::vector<std::uint32_t>> ring_order(const DesignSpace& space,
                                                     std::span<const std::uint32_t> pool,
                                                     Draws& draws) {
  std::vector<std::uint32_t> order = shuffled(pool, draws);
  const std::size_t n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = (i + 1) % n;
    const auto fits = [&](std::size_t place, std::uint32_t end) {
      return space.joins(order[(place + n - 1) % n], end) &&
             space.joins(end, order[(place + 1) % n]);
    };
    for (int tries = 0; !space.joins(order[i], order[at]); ++tries) {
      // Change places with somebody if both then have two partners.
      const std::size_t other = draws.below(static_cast<std::uint32_t>(n));
      const bool apart = (other + 1) % n != at && (at + 1) % n != other && other != at;
      if (apart && fits(at, order[other]) && fits(other, order[at])) {
        std::swap(order[at], order[other]);
      } else if (tries == kMostDraws) {
        return std::nullopt;
      }
    }
  }
  return order;
}

/// The paths of one ring: every way is the lightest that is allowed.
class RingWays final {
 public:
  RingWays(const DesignSpace& space, Draws& draws)
      : space_(&space),
        draws_(&draws),
        incidence_(std::vector<std::uint32_t>(space.link_count(), 0)) {}

  bool add(const std::vector<std::uint32_t>& order) {
    const std::size_t n = order.size();
    const std::size_t first = paths_.size();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::uint32_t> near;
      for (const std::size_t back : {1, 2}) {
        if (i >= back) {
          near.push_back(paths_[first + i - back].aggregation);
        }
        if (i + back >= n) {
          near.push_back(paths_[first + i + back - n].aggregation);
        }
      }
      if (!add(order[i], order[(i + 1) % n], near)) {
        return false;
      }
    }
    return true;
  }

  std::vector<DesignPath> take() { return std::move(paths_); }

 private:
  bool add(std::uint32_t end1, std::uint32_t end2, const std::vector<std::uint32_t>& near) {
    const std::uint32_t cores = space_->core_count(end1, end2);
    const std::uint32_t ways = cores * space_->aggregation_count();
    const std::uint32_t from = draws_->below(ways);
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    DesignPath best;
    for (std::uint32_t w = 0; w < ways; ++w) {
      const std::uint32_t way = (from + w) % ways;
      const DesignPath path{end1, end2, space_->first_aggregation() + way / cores, way % cores};
      if (std::find(near.begin(), near.end(), path.aggregation) != near.end()) {
        continue;
      }
      space_->links(path, links_);
      std::uint64_t sum = 0;
      for (const std::uint32_t link : links_) {
        sum += std::uint64_t{incidence_.weight(link)} * incidence_.weight(link);
      }
      if (sum < least && incidence_.is_linear(links_)) {
        least = sum;
        best = path;
      }
    }
    if (least == std::numeric_limits<std::uint64_t>::max()) {
      return false;
    }
    space_->links(best, links_);
    incidence_.add(static_cast<std::uint32_t>(paths_.size()), links_);
    paths_.push_back(best);
    return true;
  }

  const DesignSpace* space_;
  Draws* draws_;
  Incidence incidence_;
  std::vector<DesignPath> paths_;
  std::vector<std::uint32_t> links_;
};

std::optional<std::vector<DesignPath>> try_ring(const DesignSpace& space, Draws& draws) {
  RingWays ways(space, draws);
  for (std::uint32_t p = 0; p < space.pool_count(); ++p) {
    if (space.pool(p).empty()) {
      continue;
    }
    const auto order = ring_order(space, space.pool(p), draws);
    if (!order || !ways.add(*order)) {
      return std::nullopt;
    }
  }
  return ways.take();
}

}  // namespace

std::vector<DesignPath> triples(const DesignSpace& space, Draws& draws) {
  std::vector<DesignPath> paths;
  std::vector<std::uint32_t> weight(space.link_count());
  std::vector<std::uint32_t> links;
  const auto join = [&](std::uint32_t middle, std::uint32_t end, std::uint32_t other_than) {
    const DesignPath path = lightest_way(space, {middle, end}, other_than, weight, draws);
    space.links(path, links);
    for (const std::uint32_t link : links) {
      ++weight[link];
    }
    paths.push_back(path);
    return path.aggregation;
  };
  for (std::uint32_t p = 0; p < space.pool_count(); ++p) {
    const std::vector<std::uint32_t> ends = shuffled(space.pool(p), draws);
    for (std::size_t i = 0; i + 2 < ends.size(); i += 3) {
      // Whoever is not joined here is left to split_cover().
      std::uint32_t used = kNone;
      for (const std::size_t j : {i, i + 2}) {
        if (space.joins(ends[i + 1], ends[j])) {
          used = join(ends[i + 1], ends[j], used);
        }
      }
    }
  }
  return paths;
}

std::optional<std::vector<DesignPath>> ring(const DesignSpace& space, Draws& draws) {
  bool fits = space.aggregation_count() >= 5;
  for (std::uint32_t p = 0; p < space.pool_count(); ++p) {
    fits = fits && (space.pool(p).empty() || space.pool(p).size() >= 5);
  }
  std::optional<std::vector<DesignPath>> found;
  for (int i = 0; fits && !found && i < kMostRings; ++i) {
    found = try_ring(space, draws);
  }
  return found;
}

}  // namespace bonescan
