// What this host tells about itself and its RNICs, from sysfs and procfs.
//
//   ROOT/sys/class/infiniband/DEVICE/ports/N/{state,rate}          port
//   .../ports/N/gids/I, gid_attrs/types/I, gid_attrs/ndevs/I       GID table, and the netdev
//   .../ports/N/counters/{port_xmit_data,port_rcv_data}            4-byte words
//   .../DEVICE/device/{current,max}_link_{width,speed}             PCIe
//   ROOT/sys/kernel/mm/hugepages/hugepages-SkB/{nr,free}_hugepages
//   ROOT/proc/net/bonding/NETDEV                                   bond
//
// Invariants: 1. a file that is missing or odd leaves its part of the report out, never makes it
// zero; 2. a report has two counts once readings lie `count_gap` apart: the older stays until a
// newer one is that old; 3. reads are bounded.  Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bonescan::backend_ovs {

/// An RNIC of this host.
struct HostPort {
  EndpointId endpoint;
  std::string device;  ///< "mlx5_0"
  std::uint32_t port = 1;
};

struct HostReaderOptions {
  std::string root;  ///< before /sys and /proc; empty: the real ones
  Duration count_gap = std::chrono::seconds(60);
  std::size_t gids_max = 1'024;
  std::uint64_t hugepages_expected = 0;     ///< what the configuration asks for; 0: it does not say
  std::uint64_t hugepage_size = 2'097'152;  ///< ... of this size
};

class HostReader final : public HostInspector {
 public:
  /// REQUIRES: `endpoints` and `components` outlive it.
  HostReader(std::vector<HostPort> ports,
             const EndpointDirectory& endpoints,
             ComponentTable& components,
             HostReaderOptions options = {});

  /// @errors kUnavailable for an endpoint that is not of this host, or whose device is not there
  Expected<HostReport> inspect(EndpointId at, Time now) override;

 private:
  std::optional<std::string> read(const std::string& path) const;
  std::optional<std::uint64_t> number(const std::string& path) const;
  std::vector<GidRow> gids(const std::string& port, std::string& netdev) const;
  std::vector<HugepagePool> hugepages() const;
  std::optional<PcieLink> pcie(const std::string& device) const;
  void count(EndpointId at, Time now, const std::string& port, HostReport& report);

  std::vector<HostPort> ports_;
  const EndpointDirectory* endpoints_;
  ComponentTable* components_;
  HostReaderOptions options_;
  std::map<EndpointId, std::deque<RdmaCount>> counts_;  ///< ascending; the first is old enough
};

}  // namespace bonescan::backend_ovs
