// Topology files: who is cabled to whom, as YAML or JSON.
//
//   switches:
//     - {name: tor-0.0}
//   links:                                  # lower end, upper end
//     - {from: host-0.00/rnic-0, to: tor-0.0, to_port: 1, rate: 400Gbps}
//     - {from: tor-0.0, from_port: 17, to: agg-0, to_port: 1}
//
// An end with a slash is a port of a host: "host/rnic-0".  Keys that only path tracing needs (kind,
// addresses, symmetric_hashing) are accepted and not used here, so that one file serves both.
#pragma once

#include "model/fabric/wiring.h"
#include "scenarios/schema/load_scenario.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

/// @throws ConfigError with file, line and column
Wiring parse_wiring(std::string_view text, const std::string& file);

/// Reads a file of at most 1 MiB.
/// @throws ConfigError
Wiring load_wiring(const std::string& file);

/// Other names for nodes: `names: [{is: leaf-a07, as: tor-0.7}]`.
/// @throws ConfigError
std::vector<std::pair<std::string, std::string>> parse_node_names(std::string_view text,
                                                                  const std::string& file);

/// A wiring as a topology file.
std::string wiring_text(const Wiring& wiring);

}  // namespace bonescan
