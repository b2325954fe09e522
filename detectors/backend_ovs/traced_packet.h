// The probe's packet as ofproto/trace wants it: a flow in OpenFlow's words.
//
// Everything that goes into the text is checked or canonical, since it becomes an argument of a
// command.  Pure functions.
#pragma once

#include "detectors/backend_ovs/datapath_exit.h"
#include "sim/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan::backend_ovs {

/// RoCE v2.
constexpr std::uint16_t kRoceUdpPort = 4791;

struct InnerPacket {
  std::string eth_source;  ///< empty: not said
  std::string eth_target;
  std::string ip_source;  ///< canonical
  std::string ip_target;
  std::uint16_t udp_source = 0;  ///< 0: not said
};

/// The packet with what the datapath did to it.
InnerPacket rewritten(const InnerPacket& packet, const HeaderEdits& edits);

/// "in_port=1,udp,nw_src=..."; `tunnel` is where it comes from, nullptr if from an endpoint.
std::string flow_text(const InnerPacket& packet,
                      std::uint32_t in_port,
                      const TunnelExit* tunnel = nullptr);

/// An IP address in its shortest form; an IPv4-mapped IPv6 address becomes IPv4.
/// @errors kInvalid
Expected<std::string> canonical_ip(std::string_view text);

/// @errors kInvalid unless "aa:bb:cc:dd:ee:ff"
Expected<std::string> canonical_mac(std::string_view text);

}  // namespace bonescan::backend_ovs
