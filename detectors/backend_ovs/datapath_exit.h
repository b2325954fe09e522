// How a packet leaves a datapath: what its actions do to it, and where it goes.
//
// Reads the actions that ofproto/trace ends in, in order: header rewrites, tunnels in both forms
// (tnl_push of the userspace datapath, set(tunnel()) of the kernel's), ports.  Actions inside
// clone() count as if they stood alone.  Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct TunnelExit {
  std::string source;  ///< outer addresses
  std::string target;
  std::optional<std::uint64_t> key;  ///< VNI
};

/// New values of header fields; empty: unchanged.
struct HeaderEdits {
  std::string eth_source;
  std::string eth_target;
  std::string ip_source;
  std::string ip_target;
};

struct DatapathExit {
  std::vector<std::string> ports;  ///< names or numbers, as printed
  std::vector<TunnelExit> tunnels;
  HeaderEdits edits;  ///< what was set before the packet left, encapsulations left out
};

/// What cannot be read is left out: the caller sees that the packet goes nowhere it knows.
DatapathExit read_datapath_exit(std::string_view actions);

}  // namespace bonescan::backend_ovs
