#include "model/backend_sim/sim_host_inspector.h"

#include <fmt/format.h>

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
  if (const GidTable& gids = world_->leases().gids(rnic); !gids.entries().empty()) {
    report.gids = rows_of(gids);
  }
  const HostDevices& devices = world_->devices();
  const HostId host = fabric.host_of(rnic);
  report.hugepages.push_back({.page_size = static_cast<std::uint64_t>(kHugepageSize.count()),
                              .pages = devices.hugepages(host),
                              .free = devices.hugepages_free(host),
                              .expected = devices.hugepages_expected()});
  const double speed_gts = devices.speed_gts(rnic);
  report.pcie = PcieLink{.width = devices.lanes(rnic),
                         .width_limit = kPcieLanes,
                         .speed_gts = speed_gts,
                         .speed_limit_gts = speed_gts};
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
