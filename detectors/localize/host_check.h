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
  ComponentId at;      ///< the host, or its RNIC
  std::string text;    ///< one sentence with its numbers
  std::string port{};  ///< of a bond: the member that is down, as the host names it
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

/// How often each value was told.  Who tells none is not counted.
template <class T>
class Tally final {
 public:
  void add(const std::optional<T>& value) {
    if (value) {
      ++counts_[*value];
      ++total_;
    }
  }

  /// REQUIRES: it was added.
  void remove(const std::optional<T>& value) {
    if (value) {
      const auto found = counts_.find(*value);
      if (--found->second == 0) {
        counts_.erase(found);
      }
      --total_;
    }
  }

  /// What more than half of the others tell, if they are kLeastReports at least.
  /// @param own  one that was added and does not count
  std::optional<T> majority(const std::optional<T>& own) const {
    const std::size_t others = total_ - (own ? 1 : 0);
    for (const auto& [value, count] : counts_) {
      const std::size_t told = count - (own && *own == value ? 1 : 0);
      if (others >= kLeastReports && 2 * told > others) {
        return value;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kLeastReports = 3;  ///< @ours

  std::map<T, std::size_t> counts_;  ///< few values
  std::size_t total_ = 0;
};

/// The newest report of every endpoint, and what most of them say.
class HostFleet final {
 public:
  explicit HostFleet(const HostRules& rules) : rules_(rules) {}

  /// Of the others' reports, and of its own earlier one.  Valid until the next put() or forget().
  HostReference reference(EndpointId at) const;

  void put(EndpointId at, HostReport report);

  void forget(EndpointId at);

 private:
  /// What of a report is compared.
  struct Told {
    std::optional<PcieLink> pcie;
    std::optional<std::vector<HugepagePool>> hugepages;  ///< free pages count 0
    std::optional<bool> rdma_moves;
  };

  struct Known {
    HostReport report;
    Told told;
  };

  Told told(const HostReport& report) const;

  HostRules rules_;
  std::map<EndpointId, Known> known_;
  Tally<PcieLink> pcie_;
  Tally<std::vector<HugepagePool>> hugepages_;
  Tally<bool> rdma_moves_;
};

}  // namespace bonescan
