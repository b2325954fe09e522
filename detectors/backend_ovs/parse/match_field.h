// One field of a match, as every tool around Open vSwitch prints it: a key, a value, maybe a mask.
//
// Nested groups are spelled with dots, so that a match is a flat list in the order of the tool:
// "ipv4(src=10.0.0.1/0.0.0.0)" is {"ipv4.src", "10.0.0.1", "0.0.0.0"}, a VLAN's inner Ethernet type
// is "encap.eth_type".  Braces (tunnel options) stay inside the value.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bonescan::backend_ovs {

struct MatchField {
  std::string key;
  std::string value;  ///< empty for a bare word such as "udp" or "eth()"
  std::string mask;   ///< empty: exact

  bool operator==(const MatchField&) const = default;
};

/// True if the mask has no bit set ("0", "0.0.0.0", "::", "00:00:00:00:00:00"): the tool prints the
/// packet's value, but the entry takes any.
bool is_wildcard(const MatchField& field);

/// The first field with this key; nullptr if there is none.
const MatchField* find_field(std::span<const MatchField> fields, std::string_view key);

/// "key=value/mask", or only the key of a bare word.
std::string to_string(const MatchField& field);

}  // namespace bonescan::backend_ovs
