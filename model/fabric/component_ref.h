// A component of the world, named the way an operator names it.
//
// Grammar (indices in range of the fabric; blanks after the comma are optional):
//   host-S.H          host-S.H/rnic-R          host-S.H/ovs          host-S.H/agent
//   tor-S.R           agg-A
//   link(host-S.H/rnic-R, tor-S.R)             link(tor-S.R, agg-A)
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan {

enum class RefKind : std::uint8_t {
  kHost,
  kRnic,
  kSwitch,
  kCable,
  kOvs,
  kAgent
};

struct ComponentRef {
  RefKind kind = RefKind::kHost;
  std::uint32_t index = 0;  ///< HostId for kHost, kOvs and kAgent; RnicId, SwitchId or CableId else

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

}  // namespace bonescan
