// The work of `bonescan topology`: read what was found, read the blueprint, say what is different.
#pragma once

#include "model/fabric/wiring.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bonescan {

struct TopologyArguments {
  std::vector<std::string> files;
  std::string blueprint;  ///< a scenario or a topology file
  std::string format = "graph";
  std::string names;  ///< a file with other names of nodes, or empty
  bool as_json = false;
  bool export_blueprint = false;
};

struct TopologyReport {
  std::string blueprint;
  std::string subject;  ///< what was compared, in words
  std::vector<WiringFinding> findings;
};

/// The cables that a blueprint asks for.
/// @throws ConfigError
Wiring blueprint_wiring(const std::string& file);

/// @throws ConfigError if a file cannot be read or understood
TopologyReport check_topology_files(const TopologyArguments& arguments);

std::string topology_text(const TopologyReport& report);
std::string topology_json(const TopologyReport& report);

}  // namespace bonescan
