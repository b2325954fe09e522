// Which endpoint is which RNIC: the two numberings of the simulated seam.
//
// Endpoints are the RNICs of all jobs in the order of RNIC ids, so that their order says nothing
// about ranks.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "model/world.h"

#include <optional>

namespace bonescan {

class EndpointMap final {
 public:
  explicit EndpointMap(const World& world);

  const EndpointDirectory& directory() const { return directory_; }

  bool knows(EndpointId endpoint) const { return rnics_.contains(endpoint); }

  RnicId rnic(EndpointId endpoint) const { return rnics_[endpoint]; }

  /// Empty for an RNIC that belongs to no job.
  std::optional<EndpointId> endpoint(RnicId rnic) const;

 private:
  EndpointDirectory directory_;
  IdVector<EndpointId, RnicId> rnics_;
  IdVector<RnicId, EndpointId> endpoints_;
};

}  // namespace bonescan
