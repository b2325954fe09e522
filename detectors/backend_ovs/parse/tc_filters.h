// `tc -s [-j] filter show dev DEV ingress`: flower filters as a list in the order of the kernel.
//
// Traps that this parser knows:
// 1. Every priority has a header line without a handle, also when no filter is left: not a filter.
// 2. `in_hw in_hw_count N` or `not_in_hw`; old kernels print neither, and Open vSwitch then takes
//    the filter to be in hardware.
// 3. Statistics are printed for each action; the filter's count is the largest of them.  "Sent
//    hardware" is the part the RNIC counted.
// 4. `pref` decides: lower comes earlier.  A listing restricted to one priority does not print it.
// Pure function, linear time, output bounded by the input.
#pragma once

#include "detectors/backend_ovs/parse/match_field.h"
#include "sim/base/error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct TcAction {
  std::string kind;  ///< "mirred", "tunnel_key", "gact", "pedit", "vlan", "ct", ...
  std::string verb;  ///< "redirect", "mirror", "set", "unset", "drop", "push", "pop"; may be empty
  std::string device;   ///< mirred: where to
  std::string control;  ///< what comes next: "stolen", "pipe", "drop", ...; empty if not said
  std::vector<MatchField> parameters;  ///< tunnel_key: src_ip, dst_ip, key_id, dst_port, ttl, ...
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> hardware_packets;
  std::uint32_t last_used_s = 0;
  std::string cookie;  ///< hex digits, empty if none: no cookie means that it is not Open vSwitch's
};

struct TcFilter {
  std::size_t line = 0;  ///< from 1; of the array's element in JSON: always 1
  std::string protocol;  ///< "ip", "ipv6", "arp", "all", "802.1Q", ...
  std::uint32_t pref = 0;
  std::uint32_t chain = 0;
  std::uint32_t handle = 0;
  std::string kind;              ///< "flower", "u32", "bpf", "matchall"
  std::vector<MatchField> keys;  ///< in tc's words: dst_mac, eth_type, enc_key_id, ...
  bool skip_sw = false;
  bool skip_hw = false;
  std::optional<bool> in_hw;
  std::uint32_t in_hw_count = 0;
  std::vector<TcAction> actions;

  /// The largest over its actions.
  std::uint64_t packets() const;
  std::uint64_t hardware_packets() const;
  std::uint32_t last_used_s() const;
  /// Of the first action that has one.
  std::string_view cookie() const;
};

/// Text or JSON, by the first character.
/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of tc
Expected<std::vector<TcFilter>> parse_tc_filters(std::string_view text);

/// The ufid of a datapath flow in the byte order that tc prints as a cookie; empty if it is no
/// ufid.
std::string cookie_of_ufid(std::string_view ufid);

}  // namespace bonescan::backend_ovs
