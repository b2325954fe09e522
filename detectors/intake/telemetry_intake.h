// The door between the seam and the pipeline: visits, throughput samples and membership events as
// they come in, made ordered and single; what is missing is counted (visit_intake.h).
//
// The same for simulated, replayed and live runs.  Samples wait for `lateness` if it is not zero,
// and leave in the order of (time, endpoint); one that is older than what was handed on of its
// endpoint is dropped, and a gap in an endpoint's samples counts as missing.  Events are handed on
// when they come, since the newest of an endpoint counts whatever came before; copies are dropped.
// Thread-compatible.
#pragma once

#include "detectors/intake/visit_intake.h"
#include "detectors/telemetry/inspection.h"

#include <deque>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan {

class TelemetryIntake final {
 public:
  TelemetryIntake(std::size_t endpoint_count, const IntakeOptions& options);

  VisitIntake& visits() { return visits_; }

  const VisitIntake& visits() const { return visits_; }

  /// Replaces what came in by what is to be handed on.
  void samples(Time now, std::vector<ThroughputSample>& samples);
  void events(Time now, std::vector<MembershipEvent>& events);

  /// Of one endpoint's throughput samples; `expected` counts received and missing ones.
  const IntakeCounts& sample_counts(EndpointId endpoint) const { return sample_counts_[endpoint]; }

  std::uint64_t duplicate_events() const { return duplicate_events_; }

 private:
  using EventKey = std::tuple<Time, EndpointId, MembershipKind>;

  struct Waiting {
    Time until;
    ThroughputSample sample;
  };

  void grow(std::size_t endpoint_count);
  bool admit(const ThroughputSample& sample);

  IntakeOptions options_;
  VisitIntake visits_;
  std::vector<Waiting> waiting_;
  IdVector<EndpointId, Time> newest_sample_;
  IdVector<EndpointId, IntakeCounts> sample_counts_;
  std::set<EventKey> known_events_;
  std::deque<std::pair<Time, EventKey>> events_by_arrival_;
  std::uint64_t duplicate_events_ = 0;
};

}  // namespace bonescan
