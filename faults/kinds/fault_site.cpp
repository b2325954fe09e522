#include "faults/kinds/fault_site.h"

#include "model/fabric/ecmp_hash.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Five-tuples tried for each flow: enough that the ways of a group of 16 are all met. @ours
constexpr std::uint64_t kWaysTried = 128;

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

FaultSite::FaultSite(const World& world) : world_(&world) {
  for (const Job& job : world.jobs()) {
    if (job.running_until() != Time::max()) {
      continue;  // Nobody would notice once it has ended.
    }
    for (const RnicId rnic : job.rnics()) {
      rnics_.push_back(rnic);
      hosts_.push_back(fabric().host_of(rnic));
      for (std::uint32_t port = 0; port < fabric().ports(); ++port) {
        access_.push_back(fabric().access_cable(rnic, port));
      }
      for (const JobPeer& peer : job.peers(rnic, kStartOfRun)) {
        flows_.emplace_back(rnic, peer.target);
      }
    }
  }
  sort_unique(rnics_);
  sort_unique(hosts_);
  sort_unique(access_);
  sort_unique(flows_);
  for (const auto& [source, target] : flows_) {
    add_way(source, target);
  }
  sort_unique(fabric_cables_);
  sort_unique(tors_);
  sort_unique(spines_);
}

void FaultSite::add_way(RnicId source, RnicId target) {
  for (std::uint64_t n = 0; n < kWaysTried; ++n) {
    const LinkPath path = world_->router().path(source, target, mix64(n + 1));
    for (const LinkId link : path.span()) {
      const CableId cable = Fabric::cable_of(link);
      const SwitchId upper = fabric().upper_switch(cable);
      (fabric().is_tor(upper) ? tors_ : spines_).push_back(upper);
      if (!fabric().is_access(cable)) {
        fabric_cables_.push_back(cable);
      }
    }
  }
}

}  // namespace bonescan
