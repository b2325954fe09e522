#include "model/backend_sim/sim_host_inspector.h"

#include "model/backend_sim/rdma_counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

std::string gid_text(const Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.bytes.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.bytes[i], gid.bytes[i + 1]);
  }
  return text;
}

std::vector<GidRow> rows_of(const GidTable& table) {
  std::vector<GidRow> rows;
  for (const GidEntry& entry : table.entries()) {
    rows.push_back({entry.index,
                    gid_text(entry.value),
                    entry.type == GidType::kRoceV1 ? "RoCE v1" : "RoCE v2"});
  }
  return rows;
}

/// An agent keeps a reading for this long, to compare the next one with. @ours
constexpr Duration kReadingKept = std::chrono::seconds(90);

/// An earlier reading and the one of now; what comes in is taken for as much as what goes out.
/// @ours
std::vector<RdmaCount> counts_of(const World& world, RnicId rnic, Time now) {
  const Time earlier = std::max(kStartOfRun, now - kReadingKept);
  const auto before = static_cast<std::uint64_t>(rdma_bytes(world, rnic, kStartOfRun, earlier));
  const auto after = before + static_cast<std::uint64_t>(rdma_bytes(world, rnic, earlier, now));
  return {{earlier, before, before}, {now, after, after}};
}

}  // namespace

Expected<HostReport> SimHostInspector::inspect(EndpointId at, Time now) {
  clock_->advance(now);
  if (!endpoints_->bound(*world_, at)) {
    return fail(ErrorCode::kUnavailable, "no such endpoint");
  }
  const Fabric& fabric = world_->fabric();
  const RnicId rnic = endpoints_->rnic(at);
  HostReport report;
  report.host = components_->intern(ComponentType::kHost, fabric.host_name(fabric.host_of(rnic)));
  report.rnic = components_->intern(ComponentType::kRnic, fabric.rnic_name(rnic));
  const HostDevices& devices = world_->devices();
  const HostId host = fabric.host_of(rnic);
  report.hugepages.push_back({.page_size = static_cast<std::uint64_t>(kHugepageSize.count()),
                              .pages = devices.hugepages(host),
                              .free = devices.hugepages_free(host),
                              .expected = devices.hugepages_expected()});
  if (world_->troubles().dead(rnic)) {
    return report;  // There is no such device: nothing of it can be read.
  }
  if (const GidTable& gids = world_->leases().gids(rnic); !gids.entries().empty()) {
    report.gids = rows_of(gids);
  }
  report.pcie = PcieLink{.width = devices.lanes(rnic),
                         .width_limit = kPcieLanes,
                         .speed_gts = devices.speed_gts(rnic),
                         .speed_limit_gts = devices.speed_limit_gts(rnic)};
  if (options_.rdma_counters) {
    report.counts = counts_of(*world_, rnic, now);
  }
  bool active = false;
  for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
    const bool up = world_->links().up(fabric.access_cable(rnic, port));
    active = active || up;
    if (fabric.ports() > 1) {
      report.bond.push_back({fabric.port_name(rnic, port), up});
    }
  }
  report.port = PortLink{.state = active ? "ACTIVE" : "DOWN"};
  return report;
}

}  // namespace bonescan
