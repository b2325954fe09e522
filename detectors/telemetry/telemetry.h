// THE SEAM: seven small interfaces through which the production library sees a network.
//
// Three implementations exist side by side: the simulator (model/backend_sim), a recorded run
// (detectors/backend_replay) and real devices.  One conformance battery judges all of them
// (tests/conformance).
//
// Contract, for every implementation:
// 1. Nothing here knows the truth about faults; answers are what an operator's tools would print.
// 2. Time is handed in and never goes back from call to call.
// 3. `kPending` means ask again at the next poll; `kUnavailable` means this source has no answer
//    here, and the caller says so in its evidence.
// 4. What is collected are reports, and they cross the network that is watched: one may come late,
//    out of order, more than once or never, and a part of a visit or of a sample is never handed
//    over.  A report that is missing says nothing: neither that all is well nor that a probe was
//    lost.
// 5. A visit is known by its pair and start, a sample by its endpoint and time, an event by its
//    endpoint, kind and time: two reports that agree in these are copies.
// 6. Times in reports are those of the sender's clock, which may be off and may step.  Round trips
//    are measured on clocks that do neither.
// 7. The directory may grow, inside Membership::collect() alone.  Ids are appended and never given
//    to somebody else.  Each endpoint that was not there at the start is announced with kSubmitted
//    by the call that adds it (the platform says so, and its word is not lost); all endpoints of a
//    task are announced together: in the order of their neighbouring ids, with one time, before any
//    other event of the task.
// 8. An endpoint ends with kStopping, kGone, or both; it may come back while others of its task
//    live.  When all are gone (kGone, not kStopping alone) the task has ended: nothing is heard of
//    these ids again, a task that starts anew has new ones, and whoever holds state of it may
//    release that: then the on-demand sources answer kUnavailable, and alive() kUnknown.
// detectors/intake makes of such reports what the pipeline needs: in order, once, or counted as
// missing.  Thread-compatible: one caller at a time.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <span>
#include <vector>

namespace bonescan {

class Probes {
 public:
  virtual ~Probes() = default;

  /// Takes visits to carry out.  REQUIRES: every start is at or after the last collect's `now`.
  virtual void submit(std::span<const ProbeRequest> requests) = 0;

  /// Appends the reports that have come in by `now`, each of a visit whose probes have all been
  /// answered or timed out; ordered by (start, pair) where nothing was late.
  virtual void collect(Time now, ProbeBatch& batch) = 0;
};

class PathTracer {
 public:
  virtual ~PathTracer() = default;

  /// The links that the flow crosses at `now`, both ways.
  /// @errors kPending, kUnavailable
  virtual Expected<TracedPath> trace(const FlowKey& flow, Time now) = 0;
};

class OverlayInspector {
 public:
  virtual ~OverlayInspector() = default;

  /// Replays the forwarding chain of one direction of the flow, hop by hop.
  /// @errors kPending, kUnavailable
  virtual Expected<OverlayWalk> walk(const FlowKey& flow, Time now) = 0;
};

class FlowTableSource {
 public:
  virtual ~FlowTableSource() = default;

  /// Reads the entries of these flows from the tables at one endpoint's RNIC.  A dump slows the
  /// RNIC, so it is asked last and rarely.
  /// @errors kPending, kUnavailable
  virtual Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) = 0;

  /// Reads the counters of all flows that one endpoint's RNIC sends: as rarely as dump().
  /// @errors kPending, kUnavailable
  virtual Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) = 0;
};

class HostInspector {
 public:
  virtual ~HostInspector() = default;

  /// What the endpoint's host tells about itself and the endpoint's RNIC: what probes cannot see.
  /// @errors kPending, kUnavailable
  virtual Expected<HostReport> inspect(EndpointId at, Time now) = 0;
};

class Throughput {
 public:
  virtual ~Throughput() = default;

  /// Appends the samples that have come in by `now`; ordered by (time, endpoint) where nothing was
  /// late.
  virtual void collect(Time now, std::vector<ThroughputSample>& samples) = 0;
};

class Membership {
 public:
  virtual ~Membership() = default;

  /// Appends the events that have come in by `now`; in order where nothing was late.  Only here may
  /// Telemetry::endpoints grow.
  virtual void collect(Time now, std::vector<MembershipEvent>& events) = 0;

  /// What the endpoint's agent answers on its management connection at `now`.
  virtual AgentState alive(EndpointId endpoint, Time now) = 0;
};

/// The seven, and the two name tables that give their ids a meaning.
struct Telemetry {
  const EndpointDirectory& endpoints;  ///< may grow
  ComponentTable& components;
  Probes& probes;
  PathTracer& paths;
  OverlayInspector& overlay;
  FlowTableSource& tables;
  Throughput& throughput;
  Membership& membership;
  HostInspector* hosts = nullptr;  ///< null: no host can be asked
};

}  // namespace bonescan
