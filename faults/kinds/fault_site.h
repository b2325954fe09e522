// Where a failure can strike so that somebody notices: what the jobs of a world really use.
//
// Intuition: a broken cable that nobody's traffic crosses is no failure of a job.  Failures are
// drawn on what jobs use, so that every one of them would be reported by a user; what a detector
// probes has no say in it.
// Invariants: 1. all lists are ascending and without doubles; 2. equal worlds give equal sites.
#pragma once

#include "model/world.h"

#include <span>
#include <utility>
#include <vector>

namespace bonescan {

class FaultSite final {
 public:
  /// Of the jobs that the world holds now.
  explicit FaultSite(const World& world);

  const World& world() const { return *world_; }
  const Fabric& fabric() const { return world_->fabric(); }

  std::span<const RnicId> rnics() const { return rnics_; }
  std::span<const HostId> hosts() const { return hosts_; }

  /// Who sends to whom over the network, directed.
  std::span<const std::pair<RnicId, RnicId>> flows() const { return flows_; }

  /// Cables between an RNIC of a job and its ToR.
  std::span<const CableId> access_cables() const { return access_; }

  /// Cables between switches that some ECMP path of some flow crosses.
  std::span<const CableId> fabric_cables() const { return fabric_cables_; }

  /// Switches that some ECMP path of some flow crosses: ToRs, then others.
  std::span<const SwitchId> tors() const { return tors_; }
  std::span<const SwitchId> spines() const { return spines_; }

 private:
  void add_way(RnicId source, RnicId target);

  const World* world_;
  std::vector<RnicId> rnics_;
  std::vector<HostId> hosts_;
  std::vector<std::pair<RnicId, RnicId>> flows_;
  std::vector<CableId> access_;
  std::vector<CableId> fabric_cables_;
  std::vector<SwitchId> tors_;
  std::vector<SwitchId> spines_;
};

}  // namespace bonescan
