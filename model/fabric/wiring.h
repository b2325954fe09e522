// Cables as somebody found or planned them, and what is different between the two.
//
// A wiring is a list of cables between ports of nodes; where it comes from (a blueprint, a file,
// what neighbours say) does not matter here.  An RNIC is a port of its host.  Comparing is done in
// the order in which a technician would think: two cables whose ends were swapped are one finding,
// a cable in the wrong port is one finding, only what is left is missing or extra. A port that one
// side does not know ("") matches any port: the ports of a node are compared only if the other side
// names ports of that node at all. Cost: sorted lookups, linear in cables, quadratic only in the
// wrong cables of one node.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

struct WiringEnd {
  std::string node;  ///< "host-0.03", "tor-1.3"
  std::string port;  ///< "rnic-3", "7"; empty if not known

  auto operator<=>(const WiringEnd&) const = default;
};

struct WiringCable {
  WiringEnd lower;
  WiringEnd upper;
  BitsPerSecond rate{0};  ///< 0: not known
};

struct Wiring {
  std::vector<WiringCable> cables;
};

enum class WiringFault : std::uint8_t {
  kSwapped,    ///< two cables, each in the other's port
  kMisplaced,  ///< one end is in the wrong port
  kMissing,
  kExtra,
  kRate,
  kHost,  ///< the devices of a host, not a cable
};

std::string_view to_string(WiringFault fault);

struct WiringFinding {
  WiringFault fault = WiringFault::kMissing;
  std::string text;               ///< "tor-1.3 port 7 and port 8 are swapped: ..."
  std::vector<std::string> ends;  ///< the ports to go to, "tor-1.3 port 7"

  bool operator==(const WiringFinding&) const = default;
};

/// "tor-1.3 port 7", "host-0.03 rnic-3", "tor-1.3".
std::string end_text(const WiringEnd& end);

/// What is different, in a fixed order: swapped, misplaced, missing, extra, rates; by name.
std::vector<WiringFinding> check_wiring(const Wiring& blueprint, const Wiring& found);

/// The wiring of a preset.  Ports of a switch count from 1:
///   ToR          first the hosts of its segment (members of a bond side by side), then its spare
///                ports, then the aggregation switches of its group
///   aggregation  first the ToRs of its group, then its core switches
///   core         the aggregation switches, by group
/// A port of a host is called rnic-R, or rnic-R/port-P if there are several.
Wiring wiring_of(const Fabric& fabric);

}  // namespace bonescan
