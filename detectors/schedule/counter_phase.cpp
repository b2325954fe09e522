#include "detectors/schedule/counter_phase.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// An edge, from the end that visits it first.
struct Edge {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t colour = kNone;
};

/// Pairs that both ends list, by the places of their ends among the members.
class PairGraph final {
 public:
  PairGraph(std::span<const EndpointId> members, const PingLists& lists);

  void orient();
  void colour();
  /// Sorts a list by the places of its edges.
  void sort(std::uint32_t member,
            std::span<const EndpointId> members,
            std::vector<EndpointId>& list) const;

 private:
  /// One end of an edge; the last edges join odd vertices to a vertex that is none.
  struct Stub {
    std::uint32_t edge = 0;
    std::uint32_t to = 0;
  };

  std::uint32_t root_of(std::uint32_t vertex);
  void walk_from(std::uint32_t start, std::vector<std::uint8_t>& used);
  void join_odd();
  static std::uint32_t free_colour(const std::uint32_t* colours, std::uint32_t count);
  void swap_path(std::uint32_t at, std::uint32_t in_use, std::uint32_t wanted);

  std::uint32_t count_ = 0;  ///< members
  std::vector<Edge> edges_;
  std::vector<std::vector<Stub>> stubs_;  ///< by vertex
  std::vector<std::size_t> walked_;       ///< stubs of the vertex that were looked at
  std::vector<std::uint32_t> parent_;     ///< of the connected parts
  std::vector<std::uint32_t> halves_;     ///< by root: colours that its part needs
  std::size_t stride_ = 0;                ///< the most of them
  std::vector<std::uint32_t> leaving_;    ///< edge by (vertex, colour)
  std::vector<std::uint32_t> coming_;     ///< edge by (vertex, colour)
};

std::uint32_t place_of(std::span<const EndpointId> members, EndpointId endpoint) {
  const auto found = std::lower_bound(members.begin(), members.end(), endpoint);
  return found != members.end() && *found == endpoint
             ? static_cast<std::uint32_t>(found - members.begin())
             : kNone;
}

PairGraph::PairGraph(std::span<const EndpointId> members, const PingLists& lists)
    : count_(static_cast<std::uint32_t>(members.size())),
      stubs_(members.size() + 1),
      walked_(members.size() + 1),
      parent_(members.size()) {
  std::iota(parent_.begin(), parent_.end(), 0U);
  std::vector<std::vector<EndpointId>> sorted(lists.begin(), lists.end());
  for (std::vector<EndpointId>& list : sorted) {
    std::sort(list.begin(), list.end());
  }
  for (std::uint32_t member = 0; member < count_; ++member) {
    for (const EndpointId target : lists[member]) {
      const std::uint32_t other = place_of(members, target);
      if (other == kNone || other <= member ||
          !std::binary_search(sorted[other].begin(), sorted[other].end(), members[member])) {
        continue;
      }
      const auto edge = static_cast<std::uint32_t>(edges_.size());
      edges_.push_back({member, other, kNone});
      stubs_[member].push_back({edge, other});
      stubs_[other].push_back({edge, member});
      parent_[root_of(member)] = root_of(other);
    }
  }
}

std::uint32_t PairGraph::root_of(std::uint32_t vertex) {
  while (parent_[vertex] != vertex) {
    parent_[vertex] = parent_[parent_[vertex]];
    vertex = parent_[vertex];
  }
  return vertex;
}

/// A walk that leaves every vertex it enters ends where it began only if all degrees are even.
void PairGraph::join_odd() {
  for (std::uint32_t vertex = 0; vertex < count_; ++vertex) {
    if (stubs_[vertex].size() % 2 == 1) {
      const auto edge = static_cast<std::uint32_t>(edges_.size());
      edges_.push_back({vertex, count_, kNone});
      stubs_[vertex].push_back({edge, count_});
      stubs_[count_].push_back({edge, vertex});
    }
  }
}

void PairGraph::walk_from(std::uint32_t start, std::vector<std::uint8_t>& used) {
  for (std::uint32_t at = start; walked_[at] < stubs_[at].size();) {
    const Stub stub = stubs_[at][walked_[at]++];
    if (used[stub.edge] != 0) {
      continue;
    }
    used[stub.edge] = 1;
    edges_[stub.edge].first = at;
    edges_[stub.edge].second = stub.to;
    at = stub.to;
  }
}

void PairGraph::orient() {
  const std::size_t real = edges_.size();
  join_odd();
  std::vector<std::uint8_t> used(edges_.size(), 0);
  for (std::uint32_t vertex = 0; vertex <= count_; ++vertex) {
    while (walked_[vertex] < stubs_[vertex].size()) {
      walk_from(vertex, used);
    }
  }
  edges_.resize(real);
}

std::uint32_t PairGraph::free_colour(const std::uint32_t* colours, std::uint32_t count) {
  const std::uint32_t* found = std::find(colours, colours + count, kNone);
  return static_cast<std::uint32_t>(found - colours);
}

/// Exchanges two colours along the path of edges that begins at the target `at` with `in_use`, so
/// that `in_use` is free there.
void PairGraph::swap_path(std::uint32_t at, std::uint32_t in_use, std::uint32_t wanted) {
  std::vector<std::uint32_t> path;
  std::uint32_t colour = in_use;
  bool at_target = true;
  for (std::uint32_t vertex = at;;) {
    const std::vector<std::uint32_t>& side = at_target ? coming_ : leaving_;
    const std::uint32_t edge = side[vertex * stride_ + colour];
    if (edge == kNone) {
      break;
    }
    path.push_back(edge);
    vertex = at_target ? edges_[edge].first : edges_[edge].second;
    at_target = !at_target;
    colour = colour == in_use ? wanted : in_use;
  }
  for (const std::uint32_t edge : path) {
    const Edge& item = edges_[edge];
    leaving_[item.first * stride_ + item.colour] = kNone;
    coming_[item.second * stride_ + item.colour] = kNone;
  }
  for (const std::uint32_t edge : path) {
    Edge& item = edges_[edge];
    item.colour = item.colour == in_use ? wanted : in_use;
    leaving_[item.first * stride_ + item.colour] = edge;
    coming_[item.second * stride_ + item.colour] = edge;
  }
}

void PairGraph::colour() {
  halves_.assign(count_, 0);
  for (std::uint32_t vertex = 0; vertex < count_; ++vertex) {
    // A vertex of odd degree has its stub to nowhere by now.
    std::uint32_t& half = halves_[root_of(vertex)];
    half = std::max(half, static_cast<std::uint32_t>(stubs_[vertex].size() / 2));
    stride_ = std::max<std::size_t>(stride_, half);
  }
  leaving_.assign(count_ * stride_, kNone);
  coming_.assign(count_ * stride_, kNone);
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    Edge& item = edges_[edge];
    const std::uint32_t count = halves_[root_of(item.first)];
    const std::uint32_t here = free_colour(&leaving_[item.first * stride_], count);
    const std::uint32_t there = free_colour(&coming_[item.second * stride_], count);
    BONESCAN_CHECK(here < count);
    BONESCAN_CHECK(there < count);
    if (coming_[item.second * stride_ + here] != kNone) {
      swap_path(item.second, here, there);
    }
    item.colour = here;
    leaving_[item.first * stride_ + here] = edge;
    coming_[item.second * stride_ + here] = edge;
  }
}

void PairGraph::sort(std::uint32_t member,
                     std::span<const EndpointId> members,
                     std::vector<EndpointId>& list) const {
  std::vector<std::pair<std::uint32_t, EndpointId>> keys;
  keys.reserve(list.size());
  for (const EndpointId target : list) {
    keys.emplace_back(kNone, target);
  }
  for (const Stub& stub : stubs_[member]) {
    if (stub.to == count_) {
      continue;
    }
    const Edge& edge = edges_[stub.edge];
    const auto half = static_cast<std::uint32_t>(stride_);
    const auto place = std::find(list.begin(), list.end(), members[stub.to]);
    keys[static_cast<std::size_t>(place - list.begin())].first =
        edge.first == member ? edge.colour : half + edge.colour;
  }
  std::stable_sort(
      keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] = keys[i].second;
  }
}

}  // namespace

void counter_phase(std::span<const EndpointId> members, PingLists& lists) {
  BONESCAN_CHECK(members.size() == lists.size());
  if (pair_count(lists) > kMostCounterPhased) {
    return;
  }
  PairGraph graph(members, lists);
  graph.orient();
  graph.colour();
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    graph.sort(member, members, lists[member]);
  }
}

}  // namespace bonescan
