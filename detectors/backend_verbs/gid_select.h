// Which entry of a port's GID table to probe from.
//
// Indices are no identity: the table is sparse, its order differs between drivers and boots, and
// an entry moves when addresses come and go.  So a wish names what must hold (index, type, family,
// address), and is looked up anew after every change.  Among several that fit: addresses that are
// routable before link-local ones, IPv4 before IPv6, then the lowest index.
#pragma once

#include "detectors/backend_verbs/device.h"
#include "sim/base/error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bonescan::verbs {

enum class GidFamily : std::uint8_t {
  kAny,
  kIpv4,
  kIpv6,
};

/// All that is given must hold.
struct GidWish {
  std::optional<std::uint32_t> index = std::nullopt;
  GidType type = GidType::kRoceV2;
  GidFamily family = GidFamily::kAny;
  std::optional<GidBytes> address = std::nullopt;
};

bool is_ipv4(const GidBytes& gid);
bool is_link_local(const GidBytes& gid);
bool is_zero(const GidBytes& gid);

/// @errors kNotFound: nothing fits; the detail says what was wanted and what is there
Expected<GidEntry> select_gid(std::span<const GidEntry> table, const GidWish& wish);

}  // namespace bonescan::verbs
