// Whom an endpoint sends to, and how much, by the entries of its host's datapath.
//
// An entry is the endpoint's if packets come in by its port.  Whom it is for is what it matches on,
// or where it sends: the inner IP address, the inner Ethernet address, the far end of its tunnel.
// Traps: 1. with -m a field that any value matches is printed as well, with the address of the
// first packet, and says nothing; 2. a packet that is recirculated passes several entries, and is
// counted by each; 3. if several endpoints are behind one tunnel end, an entry may be for each of
// them: each gets its bytes, since a peer too many is safe; 4. an entry that takes packets to
// anybody hides whom they are for: then nothing is known; 5. a datapath does not say how old an
// entry is: its age counts from when this process saw it first, or saw it start anew.
#pragma once

#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "detectors/backend_ovs/port_names.h"
#include "detectors/backend_ovs/walk_chain.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::backend_ovs {

struct CountedPeer {
  EndpointId id;
  ChainEnd end;
};

struct CounterQuestion {
  std::string endpoint;  ///< whose tables
  std::string host;
  std::vector<CountedPeer> peers;  ///< everybody whom it may send to; ascending
  Time asked;
};

/// Bytes by peer of the entries that take packets from `port`; peers without an entry are left out.
/// Ages are 0.
/// @errors kUnavailable if an entry does not tell whom it is for
Expected<std::vector<FlowCounter>> count_by_peer(std::span<const DatapathFlow> entries,
                                                 std::string_view port,
                                                 const PortNames& ports,
                                                 std::span<const CountedPeer> peers);

/// Reads counters and remembers since when entries are there.  Belongs to the worker thread.
class CounterBook final {
 public:
  /// @errors kUnavailable
  Expected<std::vector<FlowCounter>> read(const CounterQuestion& question, HostSet& hosts);

 private:
  struct Seen {
    Time since;
    std::uint64_t bytes = 0;
  };

  void tell_ages(const CounterQuestion& question, std::vector<FlowCounter>& flows);

  std::map<std::string, std::map<EndpointId, Seen>> seen_;  ///< by endpoint
};

}  // namespace bonescan::backend_ovs
