// Follows a probe's packet from bridge to bridge and from host to host, by asking each host's Open
// vSwitch what it would do with it.
//
// ofproto/trace itself follows patch ports and native tunnels within a host.  What leaves through a
// tunnel is taken up again at the host that owns the tunnel's far end, until the packet comes out
// of the target's port, or does not.
//
// Careful words: a chain is broken only where a trace says so.  Where a host cannot be asked, or
// the packet leaves through a port that nothing is known about, the chain is out of view, which is
// neither delivered nor broken.
// Bounded: at most `kHostsMax` traces.  Belongs to the worker thread.
#pragma once

#include "detectors/backend_ovs/host_tools.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/backend_ovs/traced_packet.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// The inspectable hosts.
class HostSet final {
 public:
  /// REQUIRES: both outlive the set.
  HostSet(const OvsConfig& config, CommandGate& gate);

  /// nullptr if it is not one of them.
  HostTools* named(std::string_view host);
  HostTools* with_vtep(std::string_view address);

 private:
  std::vector<std::unique_ptr<HostTools>> hosts_;
};

/// One end of a flow, in the words of the inventory.
struct ChainEnd {
  std::string endpoint;
  std::string host;
  std::string ip;
  std::string mac;   ///< empty: unknown
  std::string vtep;  ///< empty: unknown
};

struct ChainQuestion {
  ChainEnd source;
  ChainEnd target;
  std::uint16_t source_port = 0;  ///< 0: unknown
};

struct ChainHop {
  std::string bridge;  ///< "host-a/br-int"
  std::string rule;
  std::string action;
};

/// An OverlayWalk before its names become ids.
struct ChainAnswer {
  std::vector<ChainHop> hops;
  WalkEnd end = WalkEnd::kDelivered;
  std::optional<Component> culprit;
  std::string reason;
};

inline constexpr std::size_t kHostsMax = 8;

/// The packet as its source sends it.
InnerPacket packet_of(const ChainQuestion& question);

/// @errors kUnavailable if not even the first bridge could be asked
Expected<ChainAnswer> walk_chain(const ChainQuestion& question, HostSet& hosts);

}  // namespace bonescan::backend_ovs
