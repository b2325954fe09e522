#include "detectors/localize/link_use.h"

#include "detectors/localize/path_hops.h"

#include <utility>

namespace bonescan {

LinkUse::Link& LinkUse::at(ComponentId link) {
  if (link.index() >= links_.size()) {
    links_.resize(link.index() + std::size_t{1});
  }
  return links_[link.index()];
}

void LinkUse::add(const TracedPath& path) {
  for_each_hop(path, [&](const PathHop& hop) {
    Link& link = at(hop.link);
    ++link.crossings;
    link.left = 0;
    if (hop.direction == LinkDirection::kUp) {
      ++link.up;
      link.left_up = 0;
    }
  });
}

void LinkUse::remove(const TracedPath& path) {
  for_each_hop(path, [&](const PathHop& hop) {
    Link& link = at(hop.link);
    --link.crossings;
    link.up -= hop.direction == LinkDirection::kUp ? 1 : 0;
  });
}

void LinkUse::move(const TracedPath& from, const TracedPath& to) {
  remove(from);
  for_each_hop(from, [&](const PathHop& hop) {
    Link& link = at(hop.link);
    if (!crosses(to, hop.link) && ++link.left == kFewestLeft) {
      left_.push_back(hop.link);
      link.left = 0;
    }
    if (hop.direction == LinkDirection::kUp && !crosses(to, hop) && ++link.left_up == kFewestLeft) {
      left_up_.push_back(hop.link);
      link.left_up = 0;
    }
  });
  for_each_hop(to, [&](const PathHop& hop) {
    Link& link = at(hop.link);
    ++link.crossings;
    link.left = crosses(from, hop.link) ? link.left : 0;
    if (hop.direction == LinkDirection::kUp) {
      ++link.up;
      link.left_up = crosses(from, hop) ? link.left_up : 0;
    }
  });
}

std::vector<ComponentId> LinkUse::take_left() {
  return std::exchange(left_, {});
}

std::vector<ComponentId> LinkUse::take_left_up() {
  return std::exchange(left_up_, {});
}

}  // namespace bonescan
