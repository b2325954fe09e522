// The keys of a topology file, for whoever reads one: the twin (wiring_file.h) and the tracing of
// paths on real networks (topology_file.h).  A scenario's own links have the keys of one cable.
#pragma once

#include "model/fabric/wiring.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/schema_key.h"

#include <string>
#include <vector>

namespace bonescan {

struct LinkItem {
  std::string from;
  std::string to;
  std::string name;
  std::string from_port;
  std::string to_port;
  BitsPerSecond rate{0};
};

struct SwitchItem {
  std::string name;
  bool routes = true;
  std::string addresses;  ///< with commas between them
};

struct TopologyFile {
  bool symmetric_hashing = false;
  std::vector<SwitchItem> switches;
  std::vector<LinkItem> links;
};

KeyTable<LinkItem> link_table();

KeyTable<TopologyFile> topology_table();

/// Every key of a topology file, for its documentation.
std::vector<SchemaKey> topology_keys();

/// "host/rnic-0" is port rnic-0 of the host.
WiringCable cable_of(const LinkItem& link);

}  // namespace bonescan
