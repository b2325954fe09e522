// Files of a host that say in what state it is: bonding, port state, rates, huge pages.
//
// Traps that these parsers know:
// 1. The first "MII Status" of a bond is the bond's own; a member's follows its "Slave Interface".
// 2. A member whose link is up may sit in another aggregator than the active one: it carries
//    nothing.
// 3. A port's state is "4: ACTIVE", a rate "400 Gb/sec (4X NDR)", a PCIe speed "32.0 GT/s PCIe" or,
//    where the device is gone, "Unknown".
// Pure functions, linear time, output bounded by the input.
#pragma once

#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// `/proc/net/bonding/BOND`, in the order of the file.
/// @errors kInvalid "line:column: expected ...", if there is no member
Expected<std::vector<BondMember>> parse_bonding(std::string_view text);

/// `ports/N/state`: the word after the number; nullopt for another form.
std::optional<std::string> parse_port_state(std::string_view text);

/// `ports/N/rate`.
std::optional<BitsPerSecond> parse_port_rate(std::string_view text);

/// `current_link_speed` and `max_link_speed` of a PCI device.  @units GT/s
std::optional<double> parse_pcie_speed(std::string_view text);

/// "hugepages-2048kB": the size of such a page in bytes.
std::optional<std::uint64_t> parse_hugepage_folder(std::string_view name);

}  // namespace bonescan::backend_ovs
