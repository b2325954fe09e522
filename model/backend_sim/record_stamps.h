// Puts the times of the hosts' clocks into what agents report: decorators of the simulated seam.
//
// A visit's start, a sample's time and an event's time are what the clock of their host showed
// (model/host/host_clock.h).  Timestamps of probes are the RNICs', then a round trip is the
// network's alone and the waits of the agents stand beside it; or the hosts', then the time until
// each agent ran is inside the round trip.  Either way each difference is taken on one clock that
// is never set, so nothing is negative and no step gets in. Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/world.h"

#include <vector>

namespace bonescan {

/// What the decorators need of the world.
struct StampSource {
  const World* world;
  const EndpointMap* endpoints;

  const HostClocks& clocks() const { return world->host_clocks(); }

  HostId host(EndpointId endpoint) const {
    return world->fabric().host_of(endpoints->rnic(endpoint));
  }

  /// What the endpoint's host shows at `t`; no time before the start of the run is reported.
  Time shown(EndpointId endpoint, Time t) const;
};

class StampedProbes final : public Probes {
 public:
  StampedProbes(StampSource source, Probes& inner) : source_(source), inner_(&inner) {}

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

 private:
  struct Asked {
    Pair ends;
    Duration timeout{};
  };

  void stamp(Visit& visit, ProbeBatch& batch) const;

  StampSource source_;
  Probes* inner_;
  IdVector<PairId, Asked> asked_;
};

class StampedThroughput final : public Throughput {
 public:
  StampedThroughput(StampSource source, Throughput& inner) : source_(source), inner_(&inner) {}

  void collect(Time now, std::vector<ThroughputSample>& samples) override;

 private:
  StampSource source_;
  Throughput* inner_;
};

class StampedMembership final : public Membership {
 public:
  StampedMembership(StampSource source, Membership& inner) : source_(source), inner_(&inner) {}

  void collect(Time now, std::vector<MembershipEvent>& events) override;
  AgentState alive(EndpointId endpoint, Time now) override;

 private:
  StampSource source_;
  Membership* inner_;
};

}  // namespace bonescan
