// The links of a round trip, whichever way.
#pragma once

#include "detectors/telemetry/inspection.h"

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

}  // namespace bonescan
