// A task in the fabric: which RNICs it has, in the order of its ranks, and how it is parallel.
//
// Ranks lie host by host (Megatron's order, as model/workload places them): tensor rank first, then
// replica, then stage, so that with tp RNICs a host the replicas of a stage are neighbouring hosts.
// What a task has on one host is a container.
// Invariants: 1. rank r's RNIC is rnics[r]; 2. a task has as many RNICs on each of its hosts; if it
// has more than one host they are all RNICs of the host, by rail.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/error.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct TaskShape {
  std::uint32_t rnics = 0;
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  bool ranks_known = true;  ///< can the prober tell the replicas of a stage apart?
};

struct PlannedTask {
  std::vector<RnicId> rnics{};  ///< by rank
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  bool ranks_known = true;

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(rnics.size()); }

  std::uint32_t stage(std::uint32_t rank) const { return rank / (tp * dp); }

  std::uint32_t replica(std::uint32_t rank) const { return rank / tp % dp; }

  /// RNICs of one container, for the fabric that it was placed in.
  std::uint32_t rnics_per_host(const Fabric& fabric) const {
    return std::min(rank_count(), fabric.options().rails);
  }
};

/// Hosts that tasks of this shape need, one after the other.
std::uint64_t hosts_of(const TaskShape& shape, std::uint32_t rails);

/// As many segments, of three tiers whole pods, as so many active hosts need.
FabricOptions with_hosts(FabricOptions fabric, std::uint64_t hosts);

/// Fills active hosts in order.  A task of whole hosts gets the next free ones; a smaller one gets
/// neighbouring rails of the host that small tasks are being put on, if they fit, else a new host.
/// @errors kInvalid if a task is empty, tp * pp * dp are not its RNICs, it is neither less than a
/// host nor whole hosts, or the fabric is full
Expected<std::vector<PlannedTask>> place_tasks(const Fabric& fabric,
                                               std::span<const TaskShape> shapes);

}  // namespace bonescan
