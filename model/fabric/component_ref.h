// A component of the world, named the way an operator names it.
//
// Grammar (indices in range of the fabric; blanks after the comma are optional):
//   host-S.H          host-S.H/rnic-R          host-S.H/ovs          host-S.H/agent
//   tor-S.R           agg-A                    S segment, R rail, H host of the segment
//   link(host-S.H/rnic-R, tor-S.R)             link(tor-S.R, agg-A)
// With several ports per RNIC (bonds, hpn):
//   host-S.H/rnic-R/port-P                     link(host-S.H/rnic-R/port-P, tor-S.R)
// Two planes (hpn):
//   tor-S.R.P         agg-P.A                  P plane; the port may be left out of a link, as the
//                                              ToR tells it
// Groups (rail-only: G rail; three-tier: G pod) and core switches (three-tier):
//   agg-G.A           core-C                   link(tor-S.R, agg-G.A)    link(agg-G.A, core-C)
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class RefKind : std::uint8_t {
  kHost,
  kRnic,
  kSwitch,
  kCable,
  kOvs,
  kAgent,
  kPort,  ///< of an RNIC, with its cable and the ToR's port: no probe tells them apart
};

struct ComponentRef {
  RefKind kind = RefKind::kHost;
  std::uint32_t index = 0;  ///< HostId for kHost, kOvs, kAgent; CableId for kCable and kPort;
                            ///< RnicId, SwitchId else

  constexpr auto operator<=>(const ComponentRef&) const = default;

  HostId host() const { return HostId(index); }

  RnicId rnic() const { return RnicId(index); }

  SwitchId switch_id() const { return SwitchId(index); }

  CableId cable() const { return CableId(index); }
};

/// @errors kInvalid (not of the grammar), kNotFound (no such component in this fabric); the detail
/// says what would be accepted
Expected<ComponentRef> parse_component(const Fabric& fabric, std::string_view text);

std::string component_name(const Fabric& fabric, const ComponentRef& ref);

/// The cables that go down with a component's ports: one of a cable or a port, all of an RNIC.
/// @returns nothing for other kinds
std::vector<CableId> cables_of(const Fabric& fabric, const ComponentRef& ref);

}  // namespace bonescan
