// Which endpoint is which RNIC: the two numberings of the simulated seam.
//
// An endpoint is a lease: one RNIC bound to one container.  Endpoints of the jobs that a scenario
// names come first, in the order of RNIC ids, so that their order says nothing about ranks; those
// of cloud tasks are appended as tasks are submitted, never removed, and never mean another lease.
// So endpoint e is lease e + 1, and an RNIC has one current endpoint at most.
// Invariant: what is known here is what membership has told; the world may be further.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "model/world.h"

#include <optional>
#include <vector>

namespace bonescan {

class EndpointMap final {
 public:
  explicit EndpointMap(const World& world);

  const EndpointDirectory& directory() const { return directory_; }

  bool knows(EndpointId endpoint) const { return rnics_.contains(endpoint); }

  RnicId rnic(EndpointId endpoint) const { return rnics_[endpoint]; }

  /// The RNIC's current endpoint; empty if nobody has it.
  std::optional<EndpointId> endpoint(RnicId rnic) const;

  static EndpointId endpoint_of_lease(std::uint32_t lease) { return EndpointId(lease - 1); }

  /// Does the world hold the endpoint's lease?  False for an unknown endpoint.
  bool bound(const World& world, EndpointId endpoint) const {
    return knows(endpoint) && world.leases().number(rnics_[endpoint]) == endpoint.index() + 1;
  }

  /// Endpoints that are not gone, sorted.
  const std::vector<EndpointId>& present() const { return present_; }

  /// Takes in an event of the cloud.  ENSURES: after kSubmitted the directory knows its leases.
  void follow(const World& world, const CloudEvent& event);

  /// Drops what follow() was told is gone from present(): once for many events.
  void sweep();

 private:
  void append(const World& world, RnicId rnic, std::string name, std::string task);

  EndpointDirectory directory_;
  IdVector<EndpointId, RnicId> rnics_;
  IdVector<RnicId, EndpointId> endpoints_;
  std::vector<EndpointId> present_;
};

}  // namespace bonescan
