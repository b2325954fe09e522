#include "planner/matrix/pmc.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint64_t kMostSets = 4'000'000;

/// Which links candidates join, by the smallest link of each component.
class Joined final {
 public:
  explicit Joined(const PathSet& paths) : parent_(paths.link_count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (std::size_t p = 0; p < paths.size(); ++p) {
      for (const std::uint32_t link : paths[p]) {
        join(paths[p].front(), link);
      }
    }
  }

  std::uint32_t root(std::uint32_t link) {
    while (parent_[link] != link) {
      parent_[link] = parent_[parent_[link]];
      link = parent_[link];
    }
    return link;
  }

 private:
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::uint32_t> parent_;
};

/// One component: its candidates with links renumbered from 0.
struct Part {
  PathSet paths;
  std::vector<std::uint32_t> names;  ///< by path: its number among all candidates
};

std::vector<Part> parts_of(const PathSet& candidates) {
  Joined joined(candidates);
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::uint32_t> part_of(candidates.link_count, kNone);
  std::vector<std::uint32_t> number(candidates.link_count, kNone);
  std::vector<Part> parts;
  std::vector<std::uint32_t> links;
  for (std::uint32_t p = 0; p < candidates.size(); ++p) {
    if (candidates[p].empty()) {
      continue;
    }
    const std::uint32_t root = joined.root(candidates[p].front());
    if (part_of[root] == kNone) {
      part_of[root] = static_cast<std::uint32_t>(parts.size());
      parts.emplace_back();
    }
    Part& part = parts[part_of[root]];
    links.clear();
    for (const std::uint32_t link : candidates[p]) {
      if (number[link] == kNone) {
        number[link] = part.paths.link_count++;
      }
      links.push_back(number[link]);
    }
    part.paths.add(links);
    part.names.push_back(p);
  }
  return parts;
}

std::uint64_t set_count(std::uint64_t n, std::uint32_t beta) {
  std::uint64_t count = 1 + n;
  count += beta > 1 ? n * (n - 1) / 2 : 0;
  count += beta > 2 && n > 2 ? n * (n - 1) * (n - 2) / 6 : 0;
  return count;
}

/// Cells of all sets of at most beta links.  Member 0 is the empty set.
class Cells final {
 public:
  Cells(std::uint32_t links, std::uint32_t beta) : by_link_(links) {
    for (std::uint32_t a = 0; a < links; ++a) {
      add({&a, 1});
      for (std::uint32_t b = a + 1; beta > 1 && b < links; ++b) {
        const std::uint32_t two[] = {a, b};
        add(two);
        for (std::uint32_t c = b + 1; beta > 2 && c < links; ++c) {
          const std::uint32_t three[] = {a, b, c};
          add(three);
        }
      }
    }
    cell_.assign(members_, 0);
    seen_.assign(members_, 0);
    size_.push_back(members_);
    crossed_.push_back(0);
  }

  std::uint32_t splits(std::span<const std::uint32_t> path) {
    cross(path);
    std::uint32_t count = 0;
    for (const std::uint32_t cell : touched_) {
      count += crossed_[cell] < size_[cell] ? 1 : 0;
      crossed_[cell] = 0;
    }
    return count;
  }

  void split(std::span<const std::uint32_t> path) {
    cross(path);
    std::vector<std::uint32_t> to(size_.size());
    for (const std::uint32_t cell : touched_) {
      to[cell] = cell;
      if (crossed_[cell] < size_[cell]) {
        to[cell] = static_cast<std::uint32_t>(size_.size());
        size_.push_back(crossed_[cell]);
        crossed_.push_back(0);
        size_[cell] -= crossed_[cell];
      }
      crossed_[cell] = 0;
    }
    for (const std::uint32_t member : hit_) {
      cell_[member] = to[cell_[member]];
    }
  }

  bool all_single() const { return size_.size() == members_; }

 private:
  void add(std::span<const std::uint32_t> set) {
    for (const std::uint32_t link : set) {
      by_link_[link].push_back(members_);
    }
    ++members_;
  }

  void cross(std::span<const std::uint32_t> path) {
    ++stamp_;
    hit_.clear();
    touched_.clear();
    for (const std::uint32_t link : path) {
      for (const std::uint32_t member : by_link_[link]) {
        if (seen_[member] == stamp_) {
          continue;
        }
        seen_[member] = stamp_;
        hit_.push_back(member);
        if (crossed_[cell_[member]]++ == 0) {
          touched_.push_back(cell_[member]);
        }
      }
    }
  }

  std::uint32_t members_ = 1;
  std::vector<std::vector<std::uint32_t>> by_link_;
  std::vector<std::uint32_t> cell_;
  std::vector<std::uint32_t> size_;
  std::vector<std::uint32_t> crossed_;  ///< by cell, within one look
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> hit_;
  std::vector<std::uint32_t> touched_;
};

struct Offer {
  std::uint32_t splits = 0;
  std::uint64_t weight = 0;
  std::uint32_t path = 0;

  /// Is the other one better?
  bool operator<(const Offer& other) const {
    return splits != other.splits ? splits < other.splits
                                  : std::pair(weight, path) > std::pair(other.weight, other.path);
  }
};

/// The greedy search over one component.
class Search final {
 public:
  Search(const PathSet& paths, const PmcGoal& goal)
      : paths_(&paths),
        goal_(goal),
        cells_(paths.link_count, goal.beta),
        weight_(paths.link_count),
        taken_(paths.size()) {}

  void split_all() {
    std::priority_queue<Offer> heap;
    for (std::uint32_t p = 0; p < paths_->size(); ++p) {
      heap.push(offer(p));
    }
    while (!heap.empty() && !cells_.all_single()) {
      const Offer best = heap.top();
      heap.pop();
      const Offer now = offer(best.path);
      if (now.splits == best.splits && now.weight == best.weight) {
        cells_.split((*paths_)[best.path]);
        take(best.path);
      } else if (now.splits > 0) {
        heap.push(now);
      }
    }
  }

  void cover_all() {
    std::priority_queue<Offer> heap;
    for (std::uint32_t p = 0; p < paths_->size(); ++p) {
      if (!taken_[p]) {
        heap.push({0, weight(p), p});
      }
    }
    while (!heap.empty() && !covered()) {
      Offer best = heap.top();
      heap.pop();
      if (!helps(best.path)) {
        continue;
      }
      const std::uint64_t now = weight(best.path);
      if (now == best.weight) {
        take(best.path);
      } else {
        heap.push({0, now, best.path});
      }
    }
  }

  bool covered() const {
    return std::all_of(
        weight_.begin(), weight_.end(), [this](std::uint32_t w) { return w >= goal_.alpha; });
  }

  bool identifiable() const { return goal_.beta == 0 || cells_.all_single(); }

  bool taken(std::size_t path) const { return taken_[path]; }

 private:
  std::uint64_t weight(std::uint32_t path) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t link : (*paths_)[path]) {
      sum += weight_[link];
    }
    return sum;
  }

  bool helps(std::uint32_t path) const {
    const auto links = (*paths_)[path];
    return std::any_of(links.begin(), links.end(), [this](std::uint32_t link) {
      return weight_[link] < goal_.alpha;
    });
  }

  Offer offer(std::uint32_t path) { return {cells_.splits((*paths_)[path]), weight(path), path}; }

  void take(std::uint32_t path) {
    taken_[path] = true;
    for (const std::uint32_t link : (*paths_)[path]) {
      ++weight_[link];
    }
  }

  const PathSet* paths_;
  PmcGoal goal_;
  Cells cells_;
  std::vector<std::uint32_t> weight_;
  std::vector<bool> taken_;
};

}  // namespace

Expected<PmcResult> construct_probe_matrix(const PathSet& candidates, const PmcGoal& goal) {
  if (goal.beta > 3) {
    return fail(ErrorCode::kInvalid, fmt::format("beta is {}, and at most 3", goal.beta));
  }
  PmcResult result{.covered = true, .identifiable = true};
  for (const Part& part : parts_of(candidates)) {
    if (set_count(part.paths.link_count, goal.beta) > kMostSets) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("a component of {} links has too many sets", part.paths.link_count));
    }
    Search search(part.paths, goal);
    if (goal.beta > 0) {
      search.split_all();
    }
    search.cover_all();
    for (std::size_t p = 0; p < part.names.size(); ++p) {
      if (search.taken(p)) {
        result.chosen.push_back(part.names[p]);
      }
    }
    result.covered = result.covered && search.covered();
    result.identifiable = result.identifiable && search.identifiable();
    ++result.components;
  }
  std::sort(result.chosen.begin(), result.chosen.end());
  return result;
}

std::uint64_t fewest_paths(std::uint64_t links, std::uint64_t longest, const PmcGoal& goal) {
  const auto share = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  std::uint64_t fewest = share(goal.alpha * links, longest);
  if (goal.beta == 1) {
    fewest = std::max(fewest, share(2 * links, longest + 1));
  } else if (goal.beta > 1) {
    fewest = std::max(fewest, share(goal.beta * links, longest));
  }
  return fewest;
}

}  // namespace bonescan
