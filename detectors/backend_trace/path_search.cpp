#include "detectors/backend_trace/path_search.h"

#include <algorithm>
#include <limits>

namespace bonescan {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

/// A node after a number of routers; what lies behind the last answer counts as one layer.
struct Place {
  std::uint32_t cables = kUnreached;
  std::uint32_t walks = 0;
  std::uint32_t from = 0;  ///< the place before it on one of the walks
  CableStep step;
};

class Search {
 public:
  Search(const Topology& topology, std::span<const TopologyNodeId> routers)
      : topology_(topology),
        routers_(routers),
        places_((routers.size() + 1) * topology.node_count()) {}

  void walk(TopologyNodeId from, TopologyNodeId to) {
    Place& start = places_[index(from, 0)];
    start.cables = 0;
    start.walks = 1;
    std::vector<std::uint32_t> now = {index(from, 0)};
    std::vector<std::uint32_t> next;
    while (!now.empty() && places_[index(to, routers_.size())].cables == kUnreached) {
      next.clear();
      for (const std::uint32_t place : now) {
        expand(place, to, next);
      }
      now.swap(next);
    }
  }

  PathSearch result(TopologyNodeId from, TopologyNodeId to) const {
    PathSearch found;
    const Place& end = places_[index(to, routers_.size())];
    found.path_count = end.walks;
    if (end.walks == 0) {
      return found;
    }
    const std::uint32_t start = index(from, 0);
    for (std::uint32_t at = index(to, routers_.size()); at != start; at = places_[at].from) {
      found.steps.push_back(places_[at].step);
      found.nodes.push_back(node_at(at));
    }
    std::reverse(found.steps.begin(), found.steps.end());
    std::reverse(found.nodes.begin(), found.nodes.end());
    return found;
  }

 private:
  std::uint32_t index(TopologyNodeId node, std::size_t layer) const {
    return static_cast<std::uint32_t>(layer * topology_.node_count()) + node.index();
  }

  TopologyNodeId node_at(std::uint32_t place) const {
    return TopologyNodeId(static_cast<std::uint32_t>(place % topology_.node_count()));
  }

  void expand(std::uint32_t from, TopologyNodeId target, std::vector<std::uint32_t>& reached) {
    const std::size_t layer = from / topology_.node_count();
    for (const Topology::Exit& exit : topology_.exits(node_at(from))) {
      std::size_t next_layer = layer;
      switch (topology_.node(exit.to).kind) {
        case Topology::Node::Kind::kEndpoint:
          if (exit.to != target || layer != routers_.size()) {
            continue;
          }
          break;
        case Topology::Node::Kind::kRouter:
          if (layer < routers_.size()) {
            if (routers_[layer].valid() && routers_[layer] != exit.to) {
              continue;
            }
            ++next_layer;
          }
          break;
        case Topology::Node::Kind::kBridge:
          break;
      }
      arrive(index(exit.to, next_layer), from, {exit.cable, exit.direction}, reached);
    }
  }

  void arrive(std::uint32_t at,
              std::uint32_t from,
              const CableStep& step,
              std::vector<std::uint32_t>& reached) {
    Place& place = places_[at];
    const std::uint32_t cables = places_[from].cables + 1;
    if (place.cables == kUnreached) {
      place.cables = cables;
      place.from = from;
      place.step = step;
      reached.push_back(at);
    }
    if (place.cables == cables) {
      place.walks = std::min(place.walks + places_[from].walks, kManyPaths);
    }
  }

  const Topology& topology_;
  std::span<const TopologyNodeId> routers_;
  std::vector<Place> places_;
};

}  // namespace

PathSearch find_paths(const Topology& topology,
                      TopologyNodeId from,
                      TopologyNodeId to,
                      std::span<const TopologyNodeId> routers) {
  Search search(topology, routers);
  search.walk(from, to);
  return search.result(from, to);
}

}  // namespace bonescan
