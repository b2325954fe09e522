// One cable as topology files and scenarios write it.
#pragma once

#include "model/fabric/wiring.h"
#include "scenarios/schema/key_table.h"

#include <string>

namespace bonescan {

struct LinkItem {
  std::string from;
  std::string to;
  std::string name;
  std::string from_port;
  std::string to_port;
  BitsPerSecond rate{0};
};

KeyTable<LinkItem> link_table();

/// "host/rnic-0" is port rnic-0 of the host.
WiringCable cable_of(const LinkItem& link);

}  // namespace bonescan
