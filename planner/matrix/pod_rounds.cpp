#include "planner/matrix/pod_rounds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr int kMostPasses = 30;  ///< over all links @ours
constexpr int kMostSwaps = 100;  ///< for a link and pass @ours
constexpr std::uint32_t kMostRounds = 8;

/// The pod that `pod` meets in factor `factor` of the complete graph on `pods` (even).
std::uint32_t partner(std::uint32_t pods, std::uint32_t factor, std::uint32_t pod) {
  const std::uint32_t n = pods - 1;
  if (pod == n) {
    return factor;
  }
  const std::uint32_t other = (2 * factor + n - pod) % n;
  return other == pod ? n : other;
}

/// Forbidden are cycles of at most so many links, and grids.
struct Forbidden {
  std::uint32_t cycle_links = 0;
  bool grids = false;
};

Forbidden forbidden_for(std::uint32_t rounds, std::uint32_t beta) {
  if (beta == 0) {
    return {0, false};
  }
  if (rounds > beta) {
    return {2, false};
  }
  return beta == 2 ? Forbidden{4, false} : Forbidden{3, true};
}

/// A design while it is repaired: links 0 ... pods m - 1 are edge links, the others core links.
class Design final {
 public:
  Design(std::uint32_t pods, std::uint32_t m, std::uint32_t rounds, const Forbidden& forbidden)
      : pods_(pods), m_(m), rounds_(rounds), forbidden_(forbidden) {}

  void start(Draws& draws) {
    paths_of_.assign(std::size_t{2} * pods_ * m_, {});
    count_.assign(paths_of_.size(), 0);
    deal_places(draws);
    std::vector<std::uint32_t> edge(static_cast<std::size_t>(pods_) * m_);
    for (std::uint32_t r = 0; r < rounds_; ++r) {
      for (std::uint32_t pod = 0; pod < pods_; ++pod) {
        for (std::uint32_t i = 0; i < m_; ++i) {
          const std::uint32_t j = draws.below(i + 1);
          edge[pod * m_ + i] = edge[pod * m_ + j];
          edge[pod * m_ + j] = i;
        }
      }
      for (std::uint32_t core = 0; core < m_; ++core) {
        for (std::uint32_t pod = 0; pod < pods_; ++pod) {
          const std::uint32_t other = meets(core, r, pod);
          if (pod < other) {
            add({pod, edge[pod * m_ + core], other, edge[other * m_ + core], core});
          }
        }
      }
    }
    link_root_.assign(paths_of_.size(), {});
    path_root_.assign(paths_.size(), {});
  }

  bool repair(Draws& draws) {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      std::uint32_t bad_links = 0;
      for (std::uint32_t link = 0; link < paths_of_.size(); ++link) {
        const bool edge = link < pods_ * m_;
        bad_links += (edge ? repair_link(link, draws) : bad(link)) > 0 ? 1 : 0;
      }
      if (bad_links == 0) {
        return true;
      }
    }
    return false;
  }

  std::vector<PodPath> take() { return std::move(paths_); }

 private:
  /// Three factors of a complete graph always hold a triangle.  Where triangles are forbidden, pods
  /// are dealt to the two sides of a bipartite graph, for every core switch anew.
  void deal_places(Draws& draws) {
    if (!forbidden_.grids) {
      return;
    }
    for (std::uint32_t core = 0; core < m_; ++core) {
      std::vector<std::uint32_t> pod_at(pods_);
      std::vector<std::uint32_t> place_of(pods_);
      for (std::uint32_t i = 0; i < pods_; ++i) {
        const std::uint32_t j = draws.below(i + 1);
        pod_at[i] = pod_at[j];
        pod_at[j] = i;
      }
      for (std::uint32_t place = 0; place < pods_; ++place) {
        place_of[pod_at[place]] = place;
      }
      pod_at_.push_back(std::move(pod_at));
      place_of_.push_back(std::move(place_of));
    }
  }

  /// Whom a pod is matched with in a round.  Shifts 0, 1, 3 leave no quadrilateral among 14 pods or
  /// more, and so no grid.
  std::uint32_t meets(std::uint32_t core, std::uint32_t round, std::uint32_t pod) const {
    if (!forbidden_.grids) {
      return partner(pods_, (core * rounds_ + round) % (pods_ - 1), pod);
    }
    const std::uint32_t half = pods_ / 2;
    const std::uint32_t shift = round == 2 && half >= 7 ? 3 : round;
    const std::uint32_t place = place_of_[core][pod];
    return pod_at_[core][place < half ? half + (place + shift) % half
                                      : (place + half - shift % half) % half];
  }

  void add(const PodPath& path) {
    const auto id = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back(path);
    links_of_.push_back({path.pod1 * m_ + path.edge1,
                         path.pod2 * m_ + path.edge2,
                         (pods_ + path.pod1) * m_ + path.core,
                         (pods_ + path.pod2) * m_ + path.core});
    for (const std::uint32_t link : links_of_.back()) {
      paths_of_[link][count_[link]++] = id;
    }
  }

  std::uint32_t repair_link(std::uint32_t link, Draws& draws) {
    std::uint32_t now = bad(link);
    for (int i = 0; now > 0 && i < kMostSwaps; ++i) {
      const std::uint32_t other = link / m_ * m_ + draws.below(m_);
      const std::uint32_t mine = draws.below(rounds_);
      const std::uint32_t theirs = draws.below(rounds_);
      if (other == link) {
        continue;
      }
      const std::uint32_t before = now + bad(other);
      swap(link, mine, other, theirs);
      if (bad(link) + bad(other) > before) {
        swap(link, mine, other, theirs);
      }
      now = bad(link);
    }
    return now;
  }

  void swap(std::uint32_t link, std::uint32_t mine, std::uint32_t other, std::uint32_t theirs) {
    const std::uint32_t a = paths_of_[link][mine];
    const std::uint32_t b = paths_of_[other][theirs];
    if (a == b) {
      return;
    }
    move(a, link, other);
    move(b, other, link);
    std::swap(paths_of_[link][mine], paths_of_[other][theirs]);
  }

  void move(std::uint32_t path, std::uint32_t from, std::uint32_t to) {
    const std::size_t side = links_of_[path][0] == from ? 0 : 1;
    links_of_[path][side] = to;
    (side == 0 ? paths_[path].edge1 : paths_[path].edge2) = to % m_;
  }

  /// A mark that holds for one walk.
  struct Mark {
    std::uint32_t walk = 0;
    std::uint32_t root = 0;
  };

  struct Step {
    std::uint32_t node = 0;
    std::uint32_t from = 0;
    std::uint32_t root = 0;
  };

  /// Forbidden things that the link is part of, each at least once: a walk from the link outwards,
  /// in which every node remembers by which of the link's paths it was reached.
  std::uint32_t bad(std::uint32_t link) {
    if (forbidden_.cycle_links == 0) {
      return 0;
    }
    ++walk_;
    std::uint32_t count = 0;
    link_root_[link] = {walk_, kNone};
    path_front_.clear();
    for (std::uint32_t r = 0; r < rounds_; ++r) {
      const std::uint32_t path = paths_of_[link][r];
      count += path_root_[path].walk == walk_ ? 1 : 0;
      path_root_[path] = {walk_, r};
      path_front_.push_back({path, link, r});
    }
    for (std::uint32_t length = 2; length <= forbidden_.cycle_links; ++length) {
      // A cycle of `length` links closes at a link if that is even, at a path if it is odd.
      link_front_.clear();
      for (const Step& step : path_front_) {
        for (const std::uint32_t next : links_of_[step.node]) {
          count += reach(link_root_[next], next, step, link_front_);
        }
      }
      if (++length > forbidden_.cycle_links) {
        break;
      }
      path_front_.clear();
      for (const Step& step : link_front_) {
        for (std::uint32_t r = 0; r < rounds_; ++r) {
          const std::uint32_t next = paths_of_[step.node][r];
          count += reach(path_root_[next], next, step, path_front_);
        }
      }
    }
    return count + (forbidden_.grids ? grids(link) : 0);
  }

  /// One if the node was reached by another root before.
  std::uint32_t reach(Mark& mark, std::uint32_t node, const Step& step, std::vector<Step>& front) {
    if (node == step.from || (mark.walk == walk_ && mark.root == kNone)) {
      return 0;
    }
    if (mark.walk == walk_) {
      return mark.root == step.root ? 0 : 1;
    }
    mark = {walk_, step.root};
    front.push_back({node, step.node, step.root});
    return 0;
  }

  bool meet(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t r = 0; r < rounds_; ++r) {
      const auto& paths = paths_of_[b];
      if (std::find(paths.begin(), paths.begin() + rounds_, paths_of_[a][r]) !=
          paths.begin() + rounds_) {
        return true;
      }
    }
    return false;
  }

  /// Grids of three links that cross `link`, one on each of its paths, and two more across these.
  std::uint32_t grids(std::uint32_t link) const {
    std::uint32_t count = 0;
    for (const std::uint32_t a : links_of_[paths_of_[link][0]]) {
      for (const std::uint32_t b : links_of_[paths_of_[link][1]]) {
        for (const std::uint32_t c : links_of_[paths_of_[link][2]]) {
          if (a != link && b != link && c != link && across(link, a, b, c) > 1) {
            ++count;
          }
        }
      }
    }
    return count;
  }

  /// Other links that cross three links.
  std::uint32_t across(std::uint32_t link,
                       std::uint32_t a,
                       std::uint32_t b,
                       std::uint32_t c) const {
    std::uint32_t count = 0;
    for (std::uint32_t r = 0; r < rounds_; ++r) {
      const auto& candidates = links_of_[paths_of_[a][r]];
      if (std::find(candidates.begin(), candidates.end(), link) != candidates.end()) {
        continue;
      }
      for (const std::uint32_t other : candidates) {
        count += other != a && meet(other, b) && meet(other, c) ? 1 : 0;
      }
    }
    return count;
  }

  std::uint32_t pods_;
  std::uint32_t m_;
  std::uint32_t rounds_;
  Forbidden forbidden_;
  std::vector<std::vector<std::uint32_t>> pod_at_;    ///< by core switch and place
  std::vector<std::vector<std::uint32_t>> place_of_;  ///< by core switch and pod
  std::vector<PodPath> paths_;
  std::vector<std::array<std::uint32_t, 4>> links_of_;  ///< by path: two edge links, two core links
  std::vector<std::array<std::uint32_t, kMostRounds>> paths_of_;  ///< by link
  std::vector<std::uint32_t> count_;                              ///< by link, while it is filled
  std::vector<Mark> link_root_;
  std::vector<Mark> path_root_;
  std::vector<Step> link_front_;
  std::vector<Step> path_front_;
  std::uint32_t walk_ = 0;
};

}  // namespace

std::optional<std::vector<PodPath>> pod_rounds(std::uint32_t pods,
                                               std::uint32_t links_per_pod,
                                               std::uint32_t rounds,
                                               std::uint32_t beta,
                                               Draws& draws) {
  const bool enough = rounds >= std::max(beta, 1U) && !(beta == 1 && rounds == 1);
  if (pods < 2 || pods % 2 != 0 || rounds >= pods || rounds > kMostRounds || !enough ||
      links_per_pod == 0) {
    return std::nullopt;
  }
  Design design(pods, links_per_pod, rounds, forbidden_for(rounds, beta));
  design.start(draws);
  if (!design.repair(draws)) {
    return std::nullopt;
  }
  return design.take();
}

PathSet pod_links(std::uint32_t pods,
                  std::uint32_t links_per_pod,
                  const std::vector<PodPath>& paths) {
  const std::uint32_t m = links_per_pod;
  PathSet set{.link_count = 2 * pods * m};
  for (const PodPath& path : paths) {
    const std::uint32_t links[] = {path.pod1 * m + path.edge1,
                                   path.pod2 * m + path.edge2,
                                   (pods + path.pod1) * m + path.core,
                                   (pods + path.pod2) * m + path.core};
    set.add(links);
  }
  return set;
}

}  // namespace bonescan
