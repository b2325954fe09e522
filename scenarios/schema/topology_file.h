// From a topology file to a TopologyDraft, or to an error that says where, what, and how to fix it.
//
//   symmetric_hashing: no
//   switches:
//     - {name: tor-1, addresses: "10.0.1.1, fd00::1"}
//     - {name: agg-1}
//     - {name: patch-1, kind: bridge}
//   links:
//     - {from: host-0.01/rnic-0, to: tor-1}
//     - {from: tor-1, to: agg-1, name: "link(tor-1, agg-1)"}
//
// scenarios/TOPOLOGY.md says what the keys mean.
#pragma once

#include "detectors/backend_trace/topology.h"
#include "detectors/telemetry/endpoint.h"

#include <string>
#include <string_view>

namespace bonescan {

/// ENSURES: find_problem() finds nothing in the draft.
/// @throws ConfigError on anything that is no topology of these endpoints, a missing file included
TopologyDraft load_topology(const std::string& file, const EndpointDirectory& endpoints);

/// The same from memory; `file` is only used in messages.
TopologyDraft parse_topology(std::string_view text,
                             const std::string& file,
                             const EndpointDirectory& endpoints);

}  // namespace bonescan
