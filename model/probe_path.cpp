#include "model/probe_path.h"

#include "model/fabric/ecmp_hash.h"
#include "model/overlay/datapath_edit.h"
#include "model/packet_mode/packet.h"

#include <algorithm>
#include <array>
#include <limits>

namespace bonescan {
namespace {

LinkPath one_way(const World& world, RnicId source, RnicId target, std::uint16_t port) {
  return world.router().path(source, target, flow_hash(source.index(), target.index(), port));
}

LinkConditions conditions(const World& world,
                          const LinkPath& links,
                          const ProbeSpec& spec,
                          bool answer) {
  if (links.count == 0) [[unlikely]] {
    return {.pass_ratio = 0.0};
  }
  const RnicId source = answer ? spec.target : spec.source;
  const RnicId target = answer ? spec.source : spec.target;
  LinkConditions met;
  world.links().accumulate(links.span(),
                           {.flow = flow_hash(source.index(), target.index(), spec.source_port),
                            .bytes = spec.bytes,
                            .dscp = spec.dscp},
                           met);
  return met;
}

/// What RNICs whose firmware does not respond to a flow add to a round trip.
double stalls_ns(const World& world, const ProbeSpec& spec) {
  const DeviceTroubles& troubles = world.troubles();
  const std::uint64_t there = flow_hash(spec.source.index(), spec.target.index(), spec.source_port);
  const std::uint64_t back = flow_hash(spec.target.index(), spec.source.index(), spec.source_port);
  Duration sum{};
  for (const RnicId rnic : {spec.source, spec.target}) {
    sum += troubles.stall(rnic, there) + troubles.stall(rnic, back);
  }
  return static_cast<double>(sum.count());
}

/// Software is slower on a busy processor.
double lookup_ns(const World& world, HostId host, FlowPlace found) {
  const OverlayOptions& options = world.options().overlay;
  const double slowdown = world.revalidator(host).slowdown;
  switch (found) {
    case FlowPlace::kOffloaded:
      return 0.0;
    case FlowPlace::kSoftware:
      return slowdown * static_cast<double>(options.slow_path.count());
    case FlowPlace::kAbsent:
      return slowdown * static_cast<double>((options.slow_path + options.upcall).count());
  }
  return 0.0;
}

/// Whether a probe and its answer arrive marked.
std::array<bool, 2> marks(const World& world, const ProbeSpec& spec, Time sent) {
  const RngStream stream(world.options().seed,
                         Purpose::kEcnMark,
                         spec.source.index() * world.fabric().rnic_count() + spec.target.index());
  const PhiloxCounter bits = stream.block(static_cast<std::uint64_t>(nanoseconds(sent)));
  const double share = world.options().overlay.ecn_marked_share;
  return {open01(bits[0]) < share, open01(bits[1]) < share};
}

/// One bridge on the way.
struct BridgePass {
  const World& world;
  RnicId source;  ///< of this direction
  RnicId target;
  Time now;
  double cost_ns = 0.0;

  /// Counts the packet in the flow's tables; false if it goes no further.
  bool pass(Megaflow& flow, RnicId at, bool rules_changed) {
    if (!hit_unchanged(flow, now) && !pass_after_change(flow, at)) [[unlikely]] {
      return false;
    }
    if (rules_changed) [[unlikely]] {
      return bridge_translation(world, flow, at, source, target, now).forwards();
    }
    return true;
  }

  bool pass_after_change(Megaflow& flow, RnicId at) {
    const FlowClocks clocks = world.clocks(at);
    settle(flow, clocks, now);
    const HostId host = world.fabric().host_of(at);
    if (flow.place == FlowPlace::kAbsent && !world.vswitchd_running(host)) {
      return false;  // Nobody answers the upcall.
    }
    const FlowPlace found = hit(flow, clocks, now);
    cost_ns += lookup_ns(world, host, found);
    if (found != FlowPlace::kOffloaded && world.eswitch().shadows(at, source, target)) {
      // It is in software anyway: the path's own extra lookup is this one.
      cost_ns -= static_cast<double>(world.options().overlay.slow_path.count());
    }
    return true;
  }
};

/// Nothing of the flow was seen by any bridge: the VF drops it and counts up to what its counter
/// can hold, or it has no address that a flow would match.
std::uint32_t stopped_at_vf(const World& world, RnicId at, FlowQuad& quad, std::size_t end) {
  if (world.tunnels().sends(at)) {
    return kNoAnswer;
  }
  if (quad.vf_drops[end] < std::numeric_limits<std::uint16_t>::max()) {
    ++quad.vf_drops[end];
  }
  return kNoAnswer;
}

/// Mean queueing by the job's own bursts at both ends; `until` as in LoadTimeline::load().
double load_queue_ns(const World& world,
                     const LoadTimeline& load,
                     const ProbeContext& context,
                     Time at,
                     Time& until) {
  if (load.links().on()) {
    return 0.0;  // They know better.
  }
  double busy = 0.0;
  for (const LoadKey& key : {context.source_load, context.target_load}) {
    if (key.known) {
      busy += load.load(key.job, key.stage, at, until);
    }
  }
  return static_cast<double>(world.latency().options().load_queue_mean.count()) * 0.5 * busy;
}

ProbeWays ways_of(const ProbeContext& context) {
  return {
      .request = context.path.request,
      .answer = context.path.answer,
      .wire_bytes = static_cast<double>(wire_bytes(PacketKind::kUdRequest, context.spec.bytes))};
}

/// The probe's bytes, one link after the other.
double serialization_ns(const World& world, const LinkPath& way, std::uint32_t probe_bytes) {
  const double bits = 8e9 * wire_bytes(PacketKind::kUdRequest, probe_bytes);
  double sum = 0.0;
  for (const LinkId link : way.span()) {
    sum += bits / static_cast<double>(world.fabric().rate(Fabric::cable_of(link)).count());
  }
  return sum;
}

/// What a probe meets on its links: faults, and the load if links have one.
struct MetOnLinks {
  double request_pass = 1.0;
  double round_pass = 1.0;
  double wait_ns = 0.0;
};

/// Apart, so that probes of a world without such loads need not carry it.
[[gnu::noinline]] void meet_load(
    const LinkLoads& links, const ProbeWays& ways, Time sent, std::uint32_t word, MetOnLinks& met) {
  Time until = kNever;
  const PathLoad load = links.along(ways, sent, until);
  met.request_pass *= load.request_pass;
  met.round_pass *= load.round_pass;
  met.wait_ns = load.wait_ns(word);
}

}  // namespace

ProbePath resolve_path(const World& world, const ProbeSpec& spec) {
  // Made in place: copying ids that have just been written one by one stalls the processor.
  ProbePath path{.request = one_way(world, spec.source, spec.target, spec.source_port),
                 .answer = one_way(world, spec.target, spec.source, spec.source_port)};
  const LinkConditions there = conditions(world, path.request, spec, false);
  const LinkConditions back = conditions(world, path.answer, spec, true);
  const Duration base = world.latency().base_rtt(path.request, path.answer);
  path.fixed_ns = static_cast<double>((base + there.delay + back.delay).count());
  const std::uint32_t shadows = world.eswitch().shadowed_lookups(spec.source, spec.target);
  if (shadows > 0) [[unlikely]] {
    path.fixed_ns += shadows * static_cast<double>(world.options().overlay.slow_path.count());
  }
  if (world.troubles().any_stall()) [[unlikely]] {
    path.fixed_ns += stalls_ns(world, spec);
  }
  path.queue_mean_ns = there.queue_mean_ns + back.queue_mean_ns;
  if (world.options().load.model == LoadModel::kLinks) [[unlikely]] {
    path.serialization_ns = serialization_ns(world, path.request, spec.bytes) +
                            serialization_ns(world, path.answer, spec.bytes);
  }
  path.request_pass = there.pass_ratio * (1.0 - world.latency().options().base_loss_ratio);
  const TunnelState& tunnels = world.tunnels();
  if (!tunnels.passes(spec.source, spec.target, spec.bytes)) [[unlikely]] {
    path.request_pass = 0.0;
  }
  const HostId near_host = world.fabric().host_of(spec.source);
  const HostId far_host = world.fabric().host_of(spec.target);
  if (near_host == far_host && world.devices().board_error(near_host)) [[unlikely]] {
    path.request_pass = 0.0;
  }
  path.round_pass = path.request_pass * back.pass_ratio;
  if (!tunnels.passes(spec.target, spec.source, spec.bytes)) [[unlikely]] {
    path.round_pass = 0.0;
  }
  path.sends = world.sends(spec.source);
  path.target_sends = world.sends(spec.target);
  path.answers = world.agent_running(spec.target) && world.container_ready(spec.target);
  path.source_rules_changed = world.translation_changed(near_host);
  path.target_rules_changed = world.translation_changed(far_host);
  return path;
}

void LoadTimeline::cover(const World& world, Time from, Time to) {
  links_.cover(world, from, to);
  bursts_.resize(world.jobs().size());
  for (std::size_t j = 0; j < bursts_.size(); ++j) {
    const Job& job = world.jobs()[j];
    bursts_[j].resize(job.stage_count());
    for (std::uint32_t stage = 0; stage < job.stage_count(); ++stage) {
      std::vector<TimeSpan>& found = bursts_[j][stage];
      found.clear();
      const Time until = std::min(to, job.running_until());
      if (job.running_since() >= until) {
        continue;
      }
      Time at = std::max(from, job.running_since());
      while (at < until) {
        const TimeSpan burst = job.burst_ending_after(stage, at);
        if (burst.from >= until) {
          break;
        }
        found.push_back({burst.from, std::min(burst.to, job.running_until())});
        at = burst.to;
      }
    }
  }
}

RngStream probe_stream(const World& world, RnicId source, RnicId target) {
  return {world.options().seed,
          Purpose::kProbe,
          source.index() * world.fabric().rnic_count() + target.index()};
}

std::uint32_t evaluate_probe(const World& world,
                             const LoadTimeline& load,
                             const ProbeContext& context,
                             FlowQuad& quad,
                             Time sent,
                             const PhiloxCounter& bits) {
  const ProbeSpec& spec = context.spec;
  const ProbePath& path = context.path;
  const std::size_t here = quad.end_of(spec.source);
  const std::size_t there = 1 - here;
  if (quad.traffic != TrafficKind::kNone) {
    world.settle_quad(quad, sent);
  }
  MetOnLinks met{path.request_pass, path.round_pass};
  if (load.links().on()) [[unlikely]] {
    meet_load(load.links(), ways_of(context), sent, bits[kQueueWord], met);
  }
  const double luck = open01(bits[1]);

  if (!path.sends) [[unlikely]] {
    return stopped_at_vf(world, spec.source, quad, here);
  }
  Megaflow* far_decap = &quad.decap[there];
  Megaflow* near_decap = &quad.decap[here];
  if (context.marked != nullptr) [[unlikely]] {
    const std::array<bool, 2> marked = marks(world, spec, sent);
    far_decap = marked[0] ? &(*context.marked)[there] : far_decap;
    near_decap = marked[1] ? &(*context.marked)[here] : near_decap;
  }
  BridgePass request{world, spec.source, spec.target, sent};
  if (!request.pass(quad.encap[here], spec.source, path.source_rules_changed) ||
      luck >= met.request_pass ||
      !request.pass(*far_decap, spec.target, path.target_rules_changed) || !path.answers) {
    return kNoAnswer;
  }
  if (!path.target_sends) [[unlikely]] {
    return stopped_at_vf(world, spec.target, quad, there);
  }
  BridgePass answer{world, spec.target, spec.source, sent};
  if (!answer.pass(quad.encap[there], spec.target, path.target_rules_changed) ||
      luck >= met.round_pass || !answer.pass(*near_decap, spec.source, path.source_rules_changed)) {
    return kNoAnswer;
  }
  Time until = kNever;
  const double extra_ns = request.cost_ns + answer.cost_ns + path.serialization_ns + met.wait_ns;
  const double job_queue_ns = load_queue_ns(world, load, context, sent, until);
  return world.latency().sample_ns(
      bits, path.fixed_ns, path.queue_mean_ns + job_queue_ns, extra_ns);
}

void QuietStretch::begin(const World& world,
                         const LoadTimeline& load,
                         const ProbeContext& context,
                         const FlowQuad& quad,
                         Time from) {
  until_ = Time::min();
  const ProbePath& path = context.path;
  if (quad.traffic != TrafficKind::kNone || context.marked != nullptr || !path.answers ||
      !path.sends || !path.target_sends || path.source_rules_changed || path.target_rules_changed) {
    return;
  }
  Time until = kNever;
  for (const auto* flows : {&quad.encap, &quad.decap}) {
    for (const Megaflow& flow : *flows) {
      until = std::min(until, unchanged_until(flow));
    }
  }
  if (until > from) {
    load_queue_ns_ = load_queue_ns(world, load, context, from, until);
    round_pass_ = path.round_pass;
    if (load.links().on()) [[unlikely]] {
      path_load_ = load.links().along(ways_of(context), from, until);
      round_pass_ *= path_load_->round_pass;
      if (!path_load_->waits()) {
        path_load_.reset();
      }
    }
    until_ = until;
  }
}

void QuietStretch::settle(FlowQuad& quad) {
  if (count_ == 0) {
    return;
  }
  for (auto* flows : {&quad.encap, &quad.decap}) {
    for (Megaflow& flow : *flows) {
      flow.last_hit = last_;
      flow.hits += count_;
    }
  }
  count_ = 0;
}

std::optional<double> cross_bridge(const World& world,
                                   Megaflow& flow,
                                   const BridgeCrossing& crossing,
                                   Time now) {
  BridgePass bridge{world, crossing.source, crossing.target, now};
  const HostId host = world.fabric().host_of(crossing.at);
  if (!bridge.pass(flow, crossing.at, world.translation_changed(host))) {
    return std::nullopt;
  }
  return bridge.cost_ns;
}

Translation bridge_translation(
    const World& world, const Megaflow& flow, RnicId at, RnicId source, RnicId target, Time now) {
  // An installed megaflow keeps its actions until a sweep has compared them with OpenFlow.
  Time version = now;
  if (flow.place != FlowPlace::kAbsent) {
    version = std::max(flow.installed, world.clocks(at).sweeps.at_or_before(now));
  }
  const Translation cached = translation(world, at, source, target, version);
  if (!edited(flow)) [[likely]] {
    return cached;
  }
  const OpenFlow& rules = world.open_flow();
  return edited_translation(flow,
                            cached,
                            at == source ? rules.encap_changed(source, target, version)
                                         : rules.decap_changed(target, version));
}

Translation translation(const World& world, RnicId at, RnicId source, RnicId target, Time version) {
  if (at != source) {
    return world.open_flow().translate_decap(target, version);
  }
  Translation found = world.open_flow().translate_encap(source, target, version);
  if (found.forwards()) {
    found.tunnel = world.tunnels().fault(source, target, version);
  }
  return found;
}

PathCondition path_condition(const World& world, const ProbeSpec& spec, Time now) {
  const ProbePath path = resolve_path(world, spec);
  FlowQuad quad;
  quad.ends = {std::min(spec.source, spec.target), std::max(spec.source, spec.target)};
  if (const auto known = world.flows().find(spec.source, spec.target)) {
    quad = world.flows()[*known];
    world.settle_quad(quad, now);
  }
  const std::size_t here = quad.end_of(spec.source);
  const std::size_t there = 1 - here;
  struct Crossing {
    const Megaflow& flow;
    RnicId at;
    RnicId source;
    RnicId target;
  };
  const Crossing crossings[] = {
      {quad.encap[here], spec.source, spec.source, spec.target},
      {quad.decap[there], spec.target, spec.source, spec.target},
      {quad.encap[there], spec.target, spec.target, spec.source},
      {quad.decap[here], spec.source, spec.target, spec.source},
  };
  if (!path.sends || !path.target_sends) {
    return {.loss_ratio = 1.0, .rtt_ns = path.fixed_ns};
  }
  double overlay_ns = 0.0;
  for (const Crossing& crossing : crossings) {
    const HostId host = world.fabric().host_of(crossing.at);
    const bool installed = crossing.flow.place != FlowPlace::kAbsent;
    if (!installed && !world.vswitchd_running(host)) {
      return {.loss_ratio = 1.0, .rtt_ns = path.fixed_ns};
    }
    if (!bridge_translation(
             world, crossing.flow, crossing.at, crossing.source, crossing.target, now)
             .forwards()) {
      return {.loss_ratio = 1.0, .rtt_ns = path.fixed_ns};
    }
    // A steady prober pays the upcall of an absent flow once, then it is offloaded, unless flows
    // are too many or Open vSwitch believes that it is there.
    if (installed || !world.clocks(crossing.at).pressure.installs ||
        crossing.flow.edit == FlowEdit::kDeleted) {
      overlay_ns += lookup_ns(world, host, crossing.flow.place);
    }
  }
  return {.loss_ratio = 1.0 - path.round_pass, .rtt_ns = path.fixed_ns + overlay_ns};
}

PathCondition healthy_condition(const World& world, const ProbeSpec& spec) {
  const auto planned = [&](RnicId source, RnicId target) {
    const std::uint64_t flow = flow_hash(source.index(), target.index(), spec.source_port);
    return world.router().planned_path(source, target, flow);
  };
  const LinkPath request = planned(spec.source, spec.target);
  const LinkPath answer = planned(spec.target, spec.source);
  const OverlayOptions& overlay = world.options().overlay;
  const bool connected = world.fabric().connected(spec.source, spec.target) &&
                         spec.bytes + kProbeHeaderBytes + kTunnelHeaderBytes <= overlay.mtu;
  double rtt_ns = static_cast<double>(world.latency().base_rtt(request, answer).count());
  if (!world.eswitch().offloads()) {
    rtt_ns += 4.0 * slowdown(overlay.cpu_load) * static_cast<double>(overlay.slow_path.count());
  }
  return {.loss_ratio = connected ? world.latency().options().base_loss_ratio : 1.0,
          .rtt_ns = rtt_ns};
}

}  // namespace bonescan
