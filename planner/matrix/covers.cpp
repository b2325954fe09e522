#include "planner/matrix/covers.h"

#include "planner/matrix/incidence.h"
#include "planner/matrix/path_search.h"
#include "planner/matrix/pmc.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
/// Fruitless searches for one link before it is given up. @ours
constexpr std::uint32_t kMostFailures = 16;
/// Paths that are listed where a search did not find what it was asked for. @ours
constexpr std::uint64_t kMostListed = 100'000;

/// Links in no order, any of which can be left out at once.
class LinkBag final {
 public:
  explicit LinkBag(std::uint32_t links) : at_(links) {
    for (std::uint32_t link = 0; link < links; ++link) {
      at_[link] = link;
      links_.push_back(link);
    }
  }

  std::span<const std::uint32_t> links() const { return links_; }

  bool holds(std::uint32_t link) const { return at_[link] != kNone; }

  void erase(std::uint32_t link) {
    if (!holds(link)) {
      return;
    }
    links_[at_[link]] = links_.back();
    at_[links_.back()] = at_[link];
    links_.pop_back();
    at_[link] = kNone;
  }

  std::uint32_t any(Draws& draws) const {
    return links_[draws.below(static_cast<std::uint32_t>(links_.size()))];
  }

 private:
  std::vector<std::uint32_t> at_;
  std::vector<std::uint32_t> links_;
};

/// The cells of single links.  Cell 0 has one member more than links: no link at all.
class LinkCells final {
 public:
  explicit LinkCells(std::uint32_t links)
      : cell_(links), weight_(links), size_{links + 1}, shared_(links), uncovered_(links) {
    sum_.push_back(static_cast<std::uint64_t>(links) * (links - 1) / 2);
  }

  PathScore score(std::span<const std::uint32_t> path) const {
    std::int64_t splits = 0;
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto [first, crossed] = crossed_of(path, i);
      splits += first && crossed < size_[cell_[path[i]]] ? 1 : 0;
      weight += std::min(weight_[path[i]], 8U);
    }
    if (splits == 0) {
      return {-1, false};
    }
    const bool best = weight == 0 || splits == static_cast<std::int64_t>(path.size());
    return {64 * splits + 63 - weight, best};
  }

  void split(std::span<const std::uint32_t> path) {
    std::array<std::uint32_t, 6> to = {};
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::uint32_t cell = cell_[path[i]];
      const auto [first, crossed] = crossed_of(path, i);
      to[i] = cell;
      if (crossed == size_[cell]) {
        continue;
      }
      if (first) {
        to[i] = static_cast<std::uint32_t>(size_.size());
        size_.push_back(0);
        sum_.push_back(0);
      } else {
        for (std::size_t j = 0; j < i; ++j) {
          to[i] = cell_[path[j]] == cell ? to[j] : to[i];
        }
      }
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      move(path[i], to[i]);
      ++weight_[path[i]];
      uncovered_.erase(path[i]);
    }
  }

  const LinkBag& shared() const { return shared_; }

  const LinkBag& uncovered() const { return uncovered_; }

  void give_up(std::uint32_t link) {
    shared_.erase(link);
    uncovered_.erase(link);
  }

 private:
  /// Is the i-th link the first of its cell on the path, and how many of the cell are on it?
  std::pair<bool, std::uint32_t> crossed_of(std::span<const std::uint32_t> path,
                                            std::size_t i) const {
    std::uint32_t crossed = 0;
    bool first = true;
    for (std::size_t j = 0; j < path.size(); ++j) {
      const bool same = cell_[path[j]] == cell_[path[i]];
      crossed += same ? 1 : 0;
      first = first && !(same && j < i);
    }
    return {first, crossed};
  }

  void move(std::uint32_t link, std::uint32_t to) {
    const std::uint32_t from = cell_[link];
    if (from == to) {
      return;
    }
    cell_[link] = to;
    --size_[from];
    ++size_[to];
    sum_[from] -= link;
    sum_[to] += link;
    settle(from);
    settle(to);
  }

  /// Of a cell with one link `sum_` is its number.  It may yet grow within this split(), so
  /// forget_lone() looks again; after that, cells only shrink.
  void settle(std::uint32_t cell) {
    if (cell != 0 && size_[cell] == 1) {
      lone_.push_back(static_cast<std::uint32_t>(sum_[cell]));
    }
  }

 public:
  /// Links that came to be alone since the last call leave the shared ones.
  void forget_lone() {
    for (const std::uint32_t link : lone_) {
      if (size_[cell_[link]] == 1) {
        shared_.erase(link);
      }
    }
    lone_.clear();
  }

 private:
  std::vector<std::uint32_t> cell_;
  std::vector<std::uint32_t> weight_;
  std::vector<std::uint32_t> size_;
  std::vector<std::uint64_t> sum_;  ///< by cell: of its links' numbers
  std::vector<std::uint32_t> lone_;
  LinkBag shared_;
  LinkBag uncovered_;
};

}  // namespace

CoverDesign split_cover(const DesignSpace& space, std::vector<DesignPath> start, Draws& draws) {
  CoverDesign design{.paths = std::move(start)};
  if (space.link_count() == 0) {
    return design;
  }
  LinkCells cells(space.link_count());
  std::vector<std::uint32_t> failures(space.link_count());
  std::vector<std::uint32_t> links;
  for (const DesignPath& path : design.paths) {
    space.links(path, links);
    cells.split(links);
  }
  cells.forget_lone();
  const auto score = [&cells](std::span<const std::uint32_t> path) { return cells.score(path); };
  while (!cells.shared().links().empty()) {
    const LinkBag& bag = cells.uncovered().links().empty() ? cells.shared() : cells.uncovered();
    const std::uint32_t link = bag.any(draws);
    if (const auto path = search_path(space, link, bag.links(), draws, score)) {
      space.links(*path, links);
      cells.split(links);
      cells.forget_lone();
      design.paths.push_back(*path);
    } else if (++failures[link] == kMostFailures) {
      design.unfinished.push_back(link);
      cells.give_up(link);
    }
  }
  std::sort(design.unfinished.begin(), design.unfinished.end());
  design.complete = design.unfinished.empty();
  return design;
}

CoverDesign linear_cover(const DesignSpace& space, std::uint32_t weight, Draws& draws) {
  return linear_cover(space, std::vector(space.link_count(), weight), {}, draws);
}

CoverDesign linear_cover(const DesignSpace& space,
                         std::vector<std::uint32_t> weights,
                         std::vector<DesignPath> start,
                         Draws& draws) {
  CoverDesign design{.paths = std::move(start)};
  Incidence incidence(std::move(weights));
  std::vector<std::uint32_t> failures(space.link_count());
  std::vector<std::uint32_t> links;
  for (std::uint32_t p = 0; p < design.paths.size(); ++p) {
    space.links(design.paths[p], links);
    incidence.add(p, links);
  }
  LinkBag wanted(space.link_count());
  for (std::uint32_t link = 0; link < space.link_count(); ++link) {
    if (!incidence.deficient(link)) {
      wanted.erase(link);
    }
  }
  const auto score = [&](std::span<const std::uint32_t> path) { return incidence.score(path); };
  while (!wanted.links().empty()) {
    const std::uint32_t link = wanted.any(draws);
    const auto path = search_path(space, link, wanted.links(), draws, score);
    if (path) {
      space.links(*path, links);
      incidence.add(static_cast<std::uint32_t>(design.paths.size()), links);
      design.paths.push_back(*path);
      for (const std::uint32_t crossed : links) {
        if (!incidence.deficient(crossed)) {
          wanted.erase(crossed);
        }
      }
    } else if (++failures[link] == kMostFailures) {
      design.unfinished.push_back(link);
      wanted.erase(link);
    }
  }
  std::sort(design.unfinished.begin(), design.unfinished.end());
  design.complete = design.unfinished.empty();
  return design;
}

std::optional<std::vector<DesignPath>> all_paths(const DesignSpace& space, std::uint64_t most) {
  std::vector<DesignPath> paths;
  for (std::uint32_t one = 0; one < space.end_count(); ++one) {
    for (std::uint32_t other = one + 1; other < space.end_count(); ++other) {
      const std::uint32_t ways = space.joins(one, other) ? space.aggregation_count() : 0;
      const std::uint32_t cores = space.core_count(one, other);
      for (std::uint32_t way = 0; way < ways * cores; ++way) {
        if (paths.size() == most) {
          return std::nullopt;
        }
        paths.push_back({one, other, space.first_aggregation() + way / cores, way % cores});
      }
    }
  }
  return paths;
}

std::optional<CoverDesign> listed_cover(const DesignSpace& space, const PmcGoal& goal) {
  const auto paths = all_paths(space, kMostListed);
  if (!paths) {
    return std::nullopt;
  }
  PathSet candidates{.link_count = space.link_count()};
  std::vector<std::uint32_t> links;
  for (const DesignPath& path : *paths) {
    space.links(path, links);
    candidates.add(links);
  }
  const auto found = construct_probe_matrix(candidates, goal);
  if (!found) {
    return std::nullopt;
  }
  CoverDesign design;
  for (const std::uint32_t path : found->chosen) {
    design.paths.push_back((*paths)[path]);
  }
  design.complete = found->covered && found->identifiable;
  return design;
}

}  // namespace bonescan
