// The part of the world that only hosts can tell about: GID tables, PCIe slots, huge pages.
#include "model/world.h"
#include "sim/base/check.h"

#include <vector>

namespace bonescan {
namespace {

void take(std::uint16_t& count, std::uint16_t less) {
  BONESCAN_CHECK(count >= less);
  count = static_cast<std::uint16_t>(count - less);
}

void add(std::uint16_t& count, std::uint16_t more) {
  count = static_cast<std::uint16_t>(count + more);
}

}  // namespace

GidTable World::gid_table(RnicId rnic, const RnicLease& lease) const {
  return troubled(draw_gid_table(options_.seed, rnic, lease.number, lease.overlay_address),
                  ipv4_mapped_gid(lease.overlay_address),
                  gid_troubles_[rnic]);
}

void World::start_prober(RnicId rnic) {
  leases_.set_ready(rnic, true);
  devices_.start_process(rnic);
}

void World::add_gid_trouble(RnicId rnic, const GidTrouble& trouble) {
  GidTrouble& all = gid_troubles_[rnic];
  add(all.registered_again, trouble.registered_again);
  add(all.sparse, trouble.sparse);
  add(all.no_v2, trouble.no_v2);
  add(all.no_ipv4, trouble.no_ipv4);
  if (leases_.number(rnic) == kNoLease) {
    return;
  }
  leases_.set_gids(rnic, gid_table(rnic, leases_.lease(rnic)));
  if (trouble.sparse > 0) {
    leases_.look_up_gid(rnic);  // Containers are made that way, and their processes start then.
  }
}

void World::take_gid_trouble(RnicId rnic, const GidTrouble& trouble) {
  GidTrouble& all = gid_troubles_[rnic];
  take(all.registered_again, trouble.registered_again);
  take(all.sparse, trouble.sparse);
  take(all.no_v2, trouble.no_v2);
  take(all.no_ipv4, trouble.no_ipv4);
  if (leases_.number(rnic) != kNoLease) {
    leases_.set_gids(rnic, gid_table(rnic, leases_.lease(rnic)));
    leases_.look_up_gid(rnic);  // Whoever repairs it starts what remembered the index again.
  }
}

void World::begin_pcie_width(RnicId rnic, std::uint32_t lanes) {
  devices_.begin_width(rnic, lanes);
  limit_ports(rnic);
}

void World::end_pcie_width(RnicId rnic, std::uint32_t lanes) {
  devices_.end_width(rnic, lanes);
  limit_ports(rnic);
}

// Ports of a bond share the slot, and the hash fills them alike.
void World::limit_ports(RnicId rnic) {
  for (const ImpairmentId limit : slot_limits_[rnic]) {
    links_.remove(limit);
  }
  slot_limits_[rnic].clear();
  const double ratio = devices_.slot_ratio(rnic);
  if (ratio >= 1.0) {
    return;
  }
  LinkImpairment narrow;
  narrow.capacity_ratio = ratio;
  for (std::uint32_t port = 0; port < fabric_.ports(); ++port) {
    const CableId cable = fabric_.access_cable(rnic, port);
    slot_limits_[rnic].push_back(links_.add(Fabric::up(cable), narrow));
    slot_limits_[rnic].push_back(links_.add(Fabric::down(cable), narrow));
  }
}

void World::begin_hugepages(HostId host, std::uint32_t pages) {
  devices_.begin_hugepages(host, pages);
}

void World::end_hugepages(HostId host, std::uint32_t pages) {
  devices_.end_hugepages(host, pages);
}

}  // namespace bonescan
