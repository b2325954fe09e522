// Probes on the simulated world, in closed form between events.
//
// Intuition: between two events the world is constant in everything a probe can see, apart from
// known functions of time.  So submitted visits wait, and are evaluated in one pass over columns
// just before the next event (or when they are collected).  A visit that an event cuts in two is
// evaluated in two parts.  Visits that share a quad (both directions of a pair, or two periods) are
// chained and evaluated together in time order; quads are independent, so any number of threads
// gives the same records.
// Tenants leave while visits wait: what is sent after that is lost if the target's lease is over,
// and never sent if the source's is.  Such probes touch no quad, for the place may be another's.
//
// kEventPerProbe makes every probe an event of the engine instead.  It is the differential
// reference: same records, bit for bit, and far slower.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/world_clock.h"
#include "model/probe_path.h"
#include "sim/engine/parallel_for.h"

#include <span>
#include <vector>

namespace bonescan {

enum class ProbeEvaluation : std::uint8_t {
  kBatch,
  kEventPerProbe
};

class SimProbes final : public Probes, public WorldClock {
 public:
  SimProbes(World& world,
            const EndpointMap& endpoints,
            ProbeEvaluation evaluation,
            unsigned threads);

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

  /// Brings the world to `now`; probes sent before an event meet the world before it.
  void advance(Time now) override;

 private:
  /// A submitted visit.  Invariant: rows [row, row + next) are evaluated.
  struct Pending {
    ProbeRequest request;
    ProbeContext context;
    QuadId quad;
    std::uint32_t follower = kNoVisit;  ///< next visit on the same quad in this pass
    std::uint32_t row = 0;
    std::uint8_t next = 0;
    bool leads = true;       ///< first of its chain
    bool abandoned = false;  ///< its agent died: nothing of it is ever reported
    bool in_vain = false;    ///< its target is gone: `quad` may be another pair's
    Time done;               ///< all answers in, or timed out

    Time send_time(std::uint8_t probe) const { return request.start + probe * request.spacing; }

    bool sent() const { return next == request.count; }

    Time next_send() const { return sent() ? kNever : send_time(next); }
  };

  static constexpr std::uint32_t kNoVisit = 0xFFFFFFFF;

  void evaluate_before(Time limit);
  void evaluate_visit(Pending& visit, Time limit);
  void evaluate_chain(Pending& first, Time limit);
  void evaluate_next(Pending& visit, const PhiloxCounter& bits);
  void record(Pending& visit, Time sent, std::uint32_t rtt);
  PhiloxCounter draw(const Pending& visit, Time sent) const;
  void prefetch(std::size_t visit) const;
  void resolve(Pending& visit);
  void chain_visits(Time limit);
  bool bound(const Pair& ends) const;
  void probe_event(std::uint64_t argument);
  bool deliverable(const Pending& visit, Time now) const;

  World* world_;
  const EndpointMap* endpoints_;
  ProbeEvaluation evaluation_;
  Workers workers_;
  LoadTimeline load_;
  std::vector<Pending> pending_;
  std::vector<Pending> kept_;  ///< scratch of collect()
  std::vector<std::uint32_t> rtts_;
  std::vector<std::uint32_t> kept_rtts_;
  std::vector<std::uint32_t> visit_of_quad_;  ///< scratch of chain_visits(): last visit of a quad
  IdVector<PairId, QuadId> quad_of_pair_;
  Time evaluated_until_;
};

}  // namespace bonescan
