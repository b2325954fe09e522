// What a host's own report proves that no probe can see.
//
// Intuition: probes pass through a slot that has lost half of its lanes, a bond on one leg, or a
// job that fell back to TCP without a word; the host's own tables show each at a glance.  Limits
// that a device prints are compared with themselves; what has no limit is compared with what most
// of the fleet has; a table that should not move is compared with its own earlier reading.
//   sparse GID table    an unused index between used ones: a fixed index works on some hosts only
//   no RoCE v2          no row of that type, or link-local ones alone: RDMA over routed Ethernet
//   has
//                       no address
//   GID table changed   an address stands at another index, or is gone: who remembered is cut off
//   huge pages          fewer than the configuration expects, or than most of the fleet has
//   bond degraded       a member is down: half of the capacity, all probes pass
//   RDMA unused         counters stand still while most of the fleet's move: the job does not use
//                       RDMA here; no fault of the network
//   PCIe width, speed   below what the device is capable of
//   port state, speed   not active, or below its limit
// Invariants: 1. what is absent gives no finding; 2. no majority, no comparison: it takes more than
// half of at least three other reports; 3. indexes of GIDs are never compared between hosts, they
// differ where all is well.  Pure functions; thread-compatible.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class HostFindingKind : std::uint8_t {
  kGidSparse,
  kGidType,
  kGidChanged,
  kHugepages,
  kBondDegraded,
  kRdmaUnused,
  kPcieWidth,
  kPcieSpeed,
  kPortState,
  kPortSpeed,
};

/// "gid-sparse", "pcie-width", ...: the kind of an incident about it.
std::string_view to_string(HostFindingKind kind);

struct HostFinding {
  HostFindingKind kind = HostFindingKind::kGidSparse;
  ComponentId at;    ///< the host, or its RNIC
  std::string text;  ///< one sentence with its numbers
};

struct HostRules {
  Duration flat_after = std::chrono::seconds(60);  ///< counters must stand still so long
  /// Bytes per second that probes and connection management move at most. @ours
  double idle_rate = 100'000.0;
};

/// What most other reports have; absent where there is no such majority.
struct HostReference {
  std::optional<PcieLink> pcie;
  std::optional<std::vector<HugepagePool>> hugepages;  ///< free pages count 0
  std::optional<bool> rdma_moves;
  const HostReport* earlier = nullptr;  ///< of the same endpoint
};

/// Bytes per second, sent and received, between the two readings; nullopt if they are not
/// flat_after apart, or a counter went back.
std::optional<double> rdma_rate(const HostReport& report, const HostRules& rules);

std::vector<HostFinding> check_host(const HostReport& report,
                                    const HostReference& reference,
                                    const HostRules& rules);

/// The newest report of every endpoint.
class HostFleet final {
 public:
  explicit HostFleet(const HostRules& rules) : rules_(rules) {}

  /// Of the others' reports, and of its own earlier one.  Valid until the next put() or forget().
  HostReference reference(EndpointId at) const;

  void put(EndpointId at, HostReport report) { reports_[at] = std::move(report); }

  void forget(EndpointId at) { reports_.erase(at); }

 private:
  HostRules rules_;
  std::map<EndpointId, HostReport> reports_;
};

}  // namespace bonescan
