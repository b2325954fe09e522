// Who has an RNIC: the lease that binds it to a container, as columns that a probe reads at once.
//
// An RNIC serves at most one training container at a time, so what belongs to its container
// (readiness, agent, tenant, virtual function, GID table) stands in columns by RNIC.
// The container's probing process looks its address up by value when it starts, and from then on
// remembers the index: if something else stands there later, its packets carry an address that
// nobody routes, until the process starts again.  That processes remember indexes is quoted from
// public reports; that the prober is one of them is ours.
// Invariants: 1. an RNIC has at most one lease; 2. a lease number is never used again; 3. an RNIC
// without a lease is not ready.
#pragma once

#include "model/host/virtual_functions.h"

#include <array>
#include <cstdint>
#include <string>

namespace bonescan {

constexpr std::uint32_t kNoLease = 0;

using Ipv4 = std::array<std::uint8_t, 4>;

struct RnicLease {
  std::uint32_t number = kNoLease;
  std::uint32_t vni = 0;
  Ipv4 overlay_address{};
  std::uint8_t function = 0;
};

class RnicLeases final {
 public:
  explicit RnicLeases(std::uint32_t rnic_count)
      : numbers_(rnic_count),
        ready_(rnic_count),
        agent_stops_(rnic_count),
        leases_(rnic_count),
        gids_(rnic_count),
        gid_indexes_(rnic_count),
        addressed_(rnic_count, 1) {}

  /// kNoLease if nobody has it.
  std::uint32_t number(RnicId rnic) const { return numbers_[rnic]; }

  bool ready(RnicId rnic) const { return ready_[rnic] != 0; }

  /// Does anything of the container's own stop its agent?
  bool agent_running(RnicId rnic) const { return agent_stops_[rnic] == 0; }

  const RnicLease& lease(RnicId rnic) const { return leases_[rnic]; }

  const GidTable& gids(RnicId rnic) const { return gids_[rnic]; }

  /// The address that routers know: ::ffff:a.b.c.d of its lease.
  Gid ipv4_gid(RnicId rnic) const { return ipv4_mapped_gid(leases_[rnic].overlay_address); }

  /// What the probing process remembers.
  std::uint16_t gid_index(RnicId rnic) const { return gid_indexes_[rnic]; }

  /// Does the routed address, as RoCE v2, stand where the process remembers it?
  bool addressed(RnicId rnic) const { return addressed_[rnic] != 0; }

  /// RNICs that have a lease.
  std::uint32_t count() const { return count_; }

  /// REQUIRES: nobody has the RNIC.
  void bind(RnicId rnic, const RnicLease& lease, GidTable gids);

  /// Everything about the lease is forgotten.  REQUIRES: somebody has the RNIC.
  void release(RnicId rnic);

  /// Its table is another now; what the process remembers stays.  REQUIRES: it has a lease.
  void set_gids(RnicId rnic, GidTable gids);

  /// The process looks its address up, by value.
  void look_up_gid(RnicId rnic);

  /// A container that becomes ready has just started its processes.
  void set_ready(RnicId rnic, bool ready);

  void stop_agent(RnicId rnic) { ++agent_stops_[rnic]; }

  void start_agent(RnicId rnic);

 private:
  std::uint32_t count_ = 0;
  IdVector<RnicId, std::uint32_t> numbers_;
  IdVector<RnicId, std::uint8_t> ready_;
  IdVector<RnicId, std::uint16_t> agent_stops_;
  IdVector<RnicId, RnicLease> leases_;
  IdVector<RnicId, GidTable> gids_;
  IdVector<RnicId, std::uint16_t> gid_indexes_;
  IdVector<RnicId, std::uint8_t> addressed_;
};

/// "10.1.2.4"
std::string to_string(const Ipv4& address);

/// Address of an RNIC of a task's container in the task's own space: 10.<container>.<rail + 1>,
/// the container in 16 bits.  Every task begins with the same ones.
Ipv4 task_address(std::uint32_t container, std::uint32_t rail);

}  // namespace bonescan
