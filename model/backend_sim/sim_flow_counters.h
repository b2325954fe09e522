// What the flow tables at one RNIC have counted, by peer.
//
// A table holds an entry for whatever was sent lately: the job's own flows and probes.  An entry
// that the eswitch serves shows what the last counter refresh has read; software counts at once.
// So frozen counters stand still while bytes go on, and an entry that idled out is gone with all
// that it had counted.  Flows of the job that no probe shares have no quad of their own: theirs is
// made up for the answer and thrown away, so that looking never changes the world.
// Simplifications, ours: a probe is kProbeSize; megaflows count probes since the start of the run,
// so of an entry that was installed anew no more are believed than could be sent since; what flows
// back is acknowledgements, kAnswerShare of what they acknowledge.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/inspection.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/world.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

/// How the simulated tables answer when they are asked for counters.
enum class FlowCounting : std::uint8_t {
  kTables,  ///< what Open vSwitch would print
  kOracle,  ///< whom the job sends to at that moment, nothing else, at no cost: for comparison only
};

class SimFlowCounters final {
 public:
  SimFlowCounters(const World& world, const EndpointMap& endpoints)
      : world_(&world), endpoints_(&endpoints), shown_(world.fabric().rnic_count()) {}

  /// By peer, ascending.  REQUIRES: the world is at `now`.
  std::vector<FlowCounter> read(RnicId rnic, FlowCounting counting, Time now);

 private:
  /// What an entry showed when it was read last: it shows the same until its counter is refreshed.
  struct Shown {
    RnicId peer;
    Time installed;
    Time counted;
    std::uint64_t bytes = 0;
  };

  /// Whom each RNIC of a job exchanges anything with, acknowledgements included.
  struct JobPeers {
    std::uint64_t revision = 0;                                   ///< of the table of jobs
    std::vector<std::pair<RnicId, std::vector<RnicId>>> by_rnic;  ///< both ascending
  };

  const std::vector<RnicId>& job_peers(RnicId rnic, Time now);
  FlowQuad settled(RnicId rnic, RnicId peer, Time now) const;
  std::uint64_t bytes_of(const FlowQuad& quad, RnicId rnic, const Megaflow& flow, Time counted);

  const World* world_;
  const EndpointMap* endpoints_;
  IdVector<JobId, JobPeers> job_peers_;
  IdVector<RnicId, std::vector<Shown>> shown_;  ///< ascending by peer; of RNICs that were read
};

}  // namespace bonescan
