// What one probe meets on its way there and back, as a function of the world and the time.
//
//   encap at the source -> links -> decap at the target -> agent -> encap -> links -> decap
//
// The outcome of a probe is evaluated here for both evaluation modes of the simulated backend, so
// that a batch and one event per probe cannot differ.
#pragma once

#include "model/workload/link_loads.h"
#include "model/world.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

/// What a probe is, for the network.
struct ProbeSpec {
  RnicId source;
  RnicId target;
  std::uint16_t source_port = 0;
  std::uint32_t bytes = 64;
  std::uint8_t dscp = 0;
};

/// Everything about a probe's path that changes only at events.
struct ProbePath {
  LinkPath request;
  LinkPath answer;
  double fixed_ns = 0.0;              ///< base and link delays, both ways
  double queue_mean_ns = 0.0;         ///< queueing by congestion, both ways, without the job's load
  double serialization_ns = 0.0;      ///< of the probe on every link; 0 without LoadModel::kLinks
  double request_pass = 1.0;          ///< probability to pass the links of the request
  double round_pass = 1.0;            ///< of request and answer
  bool sends = true;                  ///< the source's VF lets its packets out
  bool answers = true;                ///< the target's container is ready and its agent runs
  bool target_sends = true;           ///< the target's VF lets its packets out
  bool source_rules_changed = false;  ///< some rule of the source's bridge was ever changed
  bool target_rules_changed = false;
};

ProbePath resolve_path(const World& world, const ProbeSpec& spec);

/// Job bursts that overlap a stretch of time, per job and stage, so that load is a lookup; and what
/// links carry in that time.
class LoadTimeline final {
 public:
  /// Recomputes the bursts in [from, to).
  void cover(const World& world, Time from, Time to);

  /// Share of full load at `at` on the access links of a rank of this stage.  Brings `until`
  /// forward to the moment at which it changes, if that comes before.
  double load(std::uint32_t job, std::uint32_t stage, Time at, Time& until) const {
    for (const TimeSpan& burst : bursts_[job][stage]) {
      if (at < burst.from) {
        until = std::min(until, burst.from);
        return 0.0;
      }
      if (at < burst.to) {
        until = std::min(until, burst.to);
        return 1.0;
      }
    }
    return 0.0;
  }

  /// What the links carry; empty without LoadModel::kLinks.
  const LinkLoads& links() const { return links_; }

 private:
  std::vector<std::vector<std::vector<TimeSpan>>> bursts_;  ///< [job][stage]
  LinkLoads links_;
};

/// Place of an RNIC in its job, for load lookups.
struct LoadKey {
  std::uint32_t job = 0;
  std::uint32_t stage = 0;
  bool known = false;
};

inline LoadKey load_key(const World& world, RnicId rnic) {
  const JobPlace& place = world.jobs().place(rnic);
  return place.job.valid() ? LoadKey{.job = place.job.index(), .stage = place.stage, .known = true}
                           : LoadKey{};
}

/// What stays the same for all probes of a visit between two events.
struct ProbeContext {
  ProbeSpec spec;
  ProbePath path;
  LoadKey source_load;
  LoadKey target_load;
  MarkedFlows* marked = nullptr;  ///< of the quad, if packets may arrive marked
};

constexpr std::uint32_t kNoAnswer = 0xFFFFFFFF;

/// A stretch of time in which probes of a visit differ in their draws alone: the four megaflows
/// stay in the eswitch, no rule matters, the load is the same.  Most probes fall into one, and need
/// only a comparison and a sample.
class QuietStretch final {
 public:
  /// Empty: covers no moment.
  QuietStretch() = default;

  /// Another one, from `from`, just after a probe of the visit went through.
  /// REQUIRES: settled
  void begin(const World& world,
             const LoadTimeline& load,
             const ProbeContext& context,
             const FlowQuad& quad,
             Time from);

  /// May the probe be taken by sample()?  Lost probes may not: they leave their traces on half of
  /// the way.
  bool covers(Time sent, const PhiloxCounter& bits) const {
    return sent < until_ && open01(bits[1]) < round_pass_;
  }

  /// RTT in ns; what evaluate_probe() says.  REQUIRES: covers().
  std::uint32_t sample(const World& world,
                       const ProbePath& path,
                       Time sent,
                       const PhiloxCounter& bits) {
    last_ = sent;
    ++count_;
    double extra_ns = path.serialization_ns;
    if (path_load_) [[unlikely]] {
      extra_ns += path_load_->wait_ns(bits[kQueueWord]);
    }
    return world.latency().sample_ns(
        bits, path.fixed_ns, path.queue_mean_ns + load_queue_ns_, extra_ns);
  }

  /// Counts the sampled probes in the tables; call before anything else looks at the quad.
  void settle(FlowQuad& quad);

 private:
  Time until_ = Time::min();
  Time last_;
  std::uint32_t count_ = 0;
  double load_queue_ns_ = 0.0;
  double round_pass_ = 0.0;
  std::optional<PathLoad> path_load_;  ///< if there is anything to wait for
};

/// Outcome of the probe sent at `sent`: RTT in ns, or kNoAnswer.  Moves `quad` forward.
/// REQUIRES: `quad` is the quad of the two ends; probes of one quad are evaluated in time order.
std::uint32_t evaluate_probe(const World& world,
                             const LoadTimeline& load,
                             const ProbeContext& context,
                             FlowQuad& quad,
                             Time sent,
                             const PhiloxCounter& bits);

/// The stream of a directed pair.  Distinct for fabrics of up to 65,535 RNICs.
RngStream probe_stream(const World& world, RnicId source, RnicId target);

/// The random bits of the probe sent at `sent`, from the stream of its pair.
inline PhiloxCounter probe_bits(const RngStream& stream, Time sent) {
  return stream.block(static_cast<std::uint64_t>(nanoseconds(sent)));
}

/// The same with the bits drawn here.
inline std::uint32_t evaluate_probe(const World& world,
                                    const LoadTimeline& load,
                                    const ProbeContext& context,
                                    FlowQuad& quad,
                                    Time sent) {
  const RngStream stream = probe_stream(world, context.spec.source, context.spec.target);
  return evaluate_probe(world, load, context, quad, sent, probe_bits(stream, sent));
}

/// What steady probing of a path would see at `now`, in expectation, without noise and load.
struct PathCondition {
  double loss_ratio = 0.0;
  double rtt_ns = 0.0;
};

/// As the world is.
PathCondition path_condition(const World& world, const ProbeSpec& spec, Time now);

/// As the world would be without any fault: what the fault-free twin shows.
PathCondition healthy_condition(const World& world, const ProbeSpec& spec);

/// One direction of a flow at one bridge.
struct BridgeCrossing {
  RnicId at;
  RnicId source;  ///< of this direction
  RnicId target;
};

/// One packet through the bridge of `crossing.at` at `now`, counted in the flow's tables: what the
/// lookup costs in ns, or nothing if the packet goes no further.
std::optional<double> cross_bridge(const World& world,
                                   Megaflow& flow,
                                   const BridgeCrossing& crossing,
                                   Time now);

/// What the newest rules and tunnels of `version` make of a flow's packet at the bridge of `at`.
Translation translation(const World& world, RnicId at, RnicId source, RnicId target, Time version);

/// Is the flow's packet forwarded by the bridge of `at` at `now`?  `flow` is its megaflow there.
Translation bridge_translation(
    const World& world, const Megaflow& flow, RnicId at, RnicId source, RnicId target, Time now);

}  // namespace bonescan
