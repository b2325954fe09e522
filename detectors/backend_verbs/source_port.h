// Which UDP source port a RoCE v2 datagram leaves with, and how to get the one that is wanted.
//
// ECMP hashes the five-tuple, of which only the source port is free.  Adapters that honour the
// flow label derive the port from it by a rule that all of them share; with others it is a hash of
// the sending queue pair's number, and several queue pairs give several paths.
// What `source_port` of a record means: the port that was asked for.  With flow labels it is the
// port on the wire (if it is in 49152..65535, as all that the scheduler asks for are).  Without, it
// selects the queue pair, always the same one for the same port, and the wire's port is
// wire_source_port() where the driver's rule is known.
// @source IBTA RoCE v2 annex; the rule as in Linux's rdma_flow_label_to_udp_sport()
#pragma once

#include "detectors/backend_verbs/device.h"

#include <cstdint>
#include <optional>

namespace bonescan::verbs {

constexpr std::uint16_t kFirstRocePort = 0xC000;

/// The port that a flow label of 20 bits gives: its low 14 bits, with the high 6 folded in.
constexpr std::uint16_t port_of_flow_label(std::uint32_t flow_label) {
  const std::uint32_t low = flow_label & 0x03FFF;
  const std::uint32_t high = (flow_label & 0xFC000) >> 14;
  return static_cast<std::uint16_t>((low ^ high) | kFirstRocePort);
}

/// A flow label that gives this port; never 0, which drivers take for "none, choose yourself".
/// For ports below 0xC000 it gives the port of the same low 14 bits.
constexpr std::uint32_t flow_label_of_port(std::uint16_t port) {
  const std::uint32_t low = port & 0x3FFFu;
  return low != 0 ? low : 0x04001u;
}

/// The queue pair that sends from (or answers to) this port.
constexpr std::uint16_t queue_pair_of_port(std::uint16_t port, std::size_t count) {
  return count == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(port % count);
}

/// The port of soft-RoCE: hash_32(qpn, 14) of Linux from 0xC000 on.
constexpr std::uint16_t rxe_port_of_qpn(std::uint32_t qpn) {
  return static_cast<std::uint16_t>(kFirstRocePort + ((qpn * 0x61C88647u) >> 18));
}

/// @errors nullopt if this driver's rule is not known
std::optional<std::uint16_t> wire_source_port(const DeviceInfo& device,
                                              std::uint16_t wanted,
                                              std::uint32_t qpn);

}  // namespace bonescan::verbs
