// The links of a round trip, whichever way.
#pragma once

#include "detectors/telemetry/inspection.h"

#include <algorithm>

namespace bonescan {

/// Calls `body(hop)` for every link of the round trip.
template <class F>
void for_each_hop(const TracedPath& path, F&& body) {
  for (const PathHop& hop : path.request) {
    body(hop);
  }
  for (const PathHop& hop : path.answer) {
    body(hop);
  }
}

inline bool crosses(const TracedPath& path, ComponentId link) {
  bool found = false;
  for_each_hop(path, [&](const PathHop& hop) { found = found || hop.link == link; });
  return found;
}

/// In that direction.
inline bool crosses(const TracedPath& path, const PathHop& way) {
  bool found = false;
  for_each_hop(path, [&](const PathHop& hop) { found = found || hop == way; });
  return found;
}

/// Does the answer come back over the links of the request?  Then its way was no choice.
inline bool symmetric(const TracedPath& path) {
  return std::equal(path.request.begin(),
                    path.request.end(),
                    path.answer.rbegin(),
                    path.answer.rend(),
                    [](const PathHop& a, const PathHop& b) { return a.link == b.link; });
}

}  // namespace bonescan
