#include "model/backend_sim/packet_probes.h"

#include "model/fabric/ecmp_hash.h"
#include "sim/base/check.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

Duration whole_ns(double ns) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): not negative and far below 2^52.
  return Duration(static_cast<std::int64_t>(ns + 0.5));
}

}  // namespace

PacketProbes::PacketProbes(World& world,
                           const EndpointMap& endpoints,
                           const PacketModeOptions& options)
    : world_(&world),
      endpoints_(&endpoints),
      network_(world, options),
      receiver_(network_.add_receiver({&PacketProbes::on_delivered, this})) {}

std::uint64_t PacketProbes::pack(const ProbeTag& tag) {
  return std::uint64_t{tag.serial} << (kPlaceBits + 8) | std::uint64_t{tag.place} << 8 | tag.probe;
}

PacketProbes::ProbeTag PacketProbes::unpack(std::uint64_t packed) {
  constexpr std::uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
  return {.place = static_cast<std::uint32_t>(packed >> 8) & kPlaceMask,
          .serial = static_cast<std::uint32_t>(packed >> (kPlaceBits + 8)),
          .probe = static_cast<std::uint8_t>(packed)};
}

std::uint64_t PacketProbes::tag_of(std::uint32_t place, std::uint8_t probe) const {
  return pack({.place = place,
               .serial = static_cast<std::uint32_t>(visits_[place].serial),
               .probe = probe});
}

/// Null if the visit is over: the packet is late.
PacketProbes::Pending* PacketProbes::find(const ProbeTag& tag) {
  Pending& visit = visits_[tag.place];
  const bool same = visit.serial != 0 && static_cast<std::uint32_t>(visit.serial) == tag.serial;
  return same ? &visit : nullptr;
}

std::uint32_t PacketProbes::take_place() {
  if (free_places_.empty()) {
    BONESCAN_CHECK(visits_.size() < 1u << kPlaceBits);
    visits_.emplace_back();
    return static_cast<std::uint32_t>(visits_.size() - 1);
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  return place;
}

void PacketProbes::submit(std::span<const ProbeRequest> requests) {
  for (const ProbeRequest& request : requests) {
    BONESCAN_CHECK(request.count > 0 && request.start >= world_->engine().now());
    const std::uint32_t place = take_place();
    Pending& visit = visits_[place];
    visit.request = request;
    visit.spec = {.source = endpoints_->rnic(request.ends.source),
                  .target = endpoints_->rnic(request.ends.target),
                  .source_port = request.source_port,
                  .bytes = request.payload_bytes,
                  .dscp = request.dscp};
    visit.quad = QuadId();
    if (bound(visit)) {
      visit.quad =
          world_->flows().find_or_add(visit.spec.source, visit.spec.target, world_->jobs());
    }
    visit.serial = ++last_serial_;
    visit.sent = 0;
    visit.abandoned = false;
    visit.rtts.assign(request.count, kLostRtt);
    schedule_send(place);
  }
}

void PacketProbes::schedule_send(std::uint32_t place) {
  const Pending& visit = visits_[place];
  world_->engine().schedule(visit.send_time(visit.sent),
                            EventPriority::kProbe,
                            action<&PacketProbes::begin>(*this, tag_of(place, visit.sent)));
}

PhiloxCounter PacketProbes::draw(const Pending& visit, std::uint8_t probe) const {
  return probe_bits(probe_stream(*world_, visit.spec.source, visit.spec.target),
                    visit.send_time(probe));
}

/// Half of the end points' time, with the jitter of the whole way and the spike.
Duration PacketProbes::agent_time(const Pending& visit, std::uint8_t probe) const {
  const LatencyModel& latency = world_->latency();
  const ProbePath path = resolve_path(*world_, visit.spec);
  const double sampled = latency.sample_ns(draw(visit, probe), path.fixed_ns, 0.0, 0.0);
  const double half = 0.5 * static_cast<double>(latency.options().endpoints.count());
  return whole_ns(std::max(0.0, half + sampled - path.fixed_ns));
}

/// Do both ends still belong to the tenants that they belonged to?
bool PacketProbes::bound(const Pending& visit) const {
  return endpoints_->bound(*world_, visit.request.ends.source) &&
         endpoints_->bound(*world_, visit.request.ends.target);
}

/// One bridge at the current time; false if the packet goes no further.
bool PacketProbes::cross(Pending& visit, bool answer, bool encap, Duration& cost) {
  if (!visit.quad.valid() || !bound(visit)) {
    return false;
  }
  FlowQuad& quad = world_->flows()[visit.quad];
  const Time now = world_->engine().now();
  if (quad.traffic != TrafficKind::kNone) {
    world_->settle_quad(quad, now);
  }
  const RnicId source = answer ? visit.spec.target : visit.spec.source;
  const RnicId target = answer ? visit.spec.source : visit.spec.target;
  const RnicId at = encap ? source : target;
  const std::size_t end = quad.end_of(at);
  if (encap && !world_->sends(source)) {
    return false;
  }
  const auto cost_ns = cross_bridge(*world_,
                                    encap ? quad.encap[end] : quad.decap[end],
                                    {.at = at, .source = source, .target = target},
                                    now);
  cost = whole_ns(cost_ns.value_or(0.0));
  return cost_ns.has_value();
}

void PacketProbes::begin(std::uint64_t tag) {
  const ProbeTag probe = unpack(tag);
  Pending& visit = visits_[probe.place];
  const Time now = world_->engine().now();
  if (!world_->agent_running(visit.spec.source) ||
      !endpoints_->bound(*world_, visit.request.ends.source)) {
    visit.abandoned = true;
  }
  ++visit.sent;
  if (visit.sent < visit.request.count) {
    schedule_send(probe.place);
  }
  Duration cost{};
  if (visit.abandoned || !cross(visit, false, true, cost)) {
    return;
  }
  if (open01(draw(visit, probe.probe)[1]) >= 1.0 - world_->latency().options().base_loss_ratio) {
    return;
  }
  world_->engine().schedule(now + world_->latency().options().endpoints / 4 + cost,
                            EventPriority::kProbe,
                            action<&PacketProbes::leave_prober>(*this, tag));
}

void PacketProbes::leave_prober(std::uint64_t tag) {
  if (const Pending* visit = find(unpack(tag))) {
    transmit(*visit, PacketKind::kUdRequest, tag);
  }
}

void PacketProbes::leave_agent(std::uint64_t tag) {
  if (const Pending* visit = find(unpack(tag))) {
    transmit(*visit, PacketKind::kUdAnswer, tag);
  }
}

void PacketProbes::transmit(const Pending& visit, PacketKind kind, std::uint64_t tag) {
  const bool answer = kind == PacketKind::kUdAnswer;
  const ProbePath path = resolve_path(*world_, visit.spec);
  Packet packet;
  packet.path = answer ? path.answer : path.request;
  packet.source = answer ? visit.spec.target : visit.spec.source;
  packet.target = answer ? visit.spec.source : visit.spec.target;
  if (!world_->tunnels().passes(packet.source, packet.target, visit.spec.bytes)) {
    return;
  }
  packet.source_port = visit.spec.source_port;
  packet.flow = flow_hash(packet.source.index(), packet.target.index(), packet.source_port);
  packet.tag = tag;
  packet.payload_bytes = visit.spec.bytes;
  packet.wire_bytes = wire_bytes(kind, visit.spec.bytes);
  packet.psn = static_cast<std::uint32_t>(tag >> (kPlaceBits + 8)) * 16 + unpack(tag).probe;
  packet.kind = kind;
  packet.dscp = visit.spec.dscp;
  packet.receiver = receiver_;
  network_.send(packet);
}

void PacketProbes::on_delivered(void* self, const Packet& packet) {
  auto& probes = *static_cast<PacketProbes*>(self);
  if (packet.kind == PacketKind::kUdRequest) {
    probes.reach_agent(packet.tag);
  } else {
    probes.reach_prober(packet.tag);
  }
}

void PacketProbes::reach_agent(std::uint64_t tag) {
  Pending* visit = find(unpack(tag));
  if (visit == nullptr) {
    return;
  }
  Duration decap{};
  Duration encap{};
  // The answer's lookup counts when the request arrives: half of `endpoints` is far below any
  // period of the tables.
  if (!cross(*visit, false, false, decap) || !world_->agent_running(visit->spec.target) ||
      !world_->container_ready(visit->spec.target) || !cross(*visit, true, true, encap)) {
    return;
  }
  world_->engine().schedule(
      world_->engine().now() + decap + agent_time(*visit, unpack(tag).probe) + encap,
      EventPriority::kProbe,
      action<&PacketProbes::leave_agent>(*this, tag));
}

void PacketProbes::reach_prober(std::uint64_t tag) {
  const ProbeTag probe = unpack(tag);
  Pending* visit = find(probe);
  Duration cost{};
  if (visit == nullptr || !cross(*visit, true, false, cost)) {
    return;
  }
  const Duration endpoints = world_->latency().options().endpoints;
  const Duration rest = endpoints - endpoints / 4 - endpoints / 2;
  const Duration rtt = world_->engine().now() + cost + rest - visit->send_time(probe.probe);
  if (rtt < visit->request.timeout && rtt.count() < kFirstOutcome) {
    visit->rtts[probe.probe] = static_cast<std::uint32_t>(rtt.count());
  }
}

void PacketProbes::advance(Time now) {
  Engine& engine = world_->engine();
  if (engine.now() < now || engine.next_event_time().value_or(kNever) <= now) {
    engine.run_until(now);
  }
}

bool PacketProbes::deliverable(const Pending& visit, Time now) const {
  if (visit.sent < visit.request.count) {
    return false;
  }
  Time done;
  for (std::uint8_t probe = 0; probe < visit.request.count; ++probe) {
    const std::uint32_t rtt = visit.rtts[probe];
    done = std::max(
        done, visit.send_time(probe) + (answered(rtt) ? Duration(rtt) : visit.request.timeout));
  }
  return done <= now;
}

void PacketProbes::deliver(const Pending& visit, ProbeBatch& batch) const {
  const ProbeRequest& request = visit.request;
  batch.visits.push_back({.pair = request.pair,
                          .start = request.start,
                          .first = static_cast<std::uint32_t>(batch.rtt_ns.size()),
                          .source_port = request.source_port,
                          .payload_bytes = request.payload_bytes,
                          .dscp = request.dscp,
                          .count = request.count});
  batch.rtt_ns.insert(batch.rtt_ns.end(), visit.rtts.begin(), visit.rtts.end());
  for (std::uint8_t probe = 0; probe < request.count; ++probe) {
    batch.sent_after_ns.push_back(static_cast<std::uint32_t>((probe * request.spacing).count()));
  }
}

void PacketProbes::sort_delivered(ProbeBatch& batch, std::size_t first) {
  std::sort(batch.visits.begin() + static_cast<std::ptrdiff_t>(first),
            batch.visits.end(),
            [](const Visit& a, const Visit& b) {
              return std::pair(a.start, a.pair) < std::pair(b.start, b.pair);
            });
}

void PacketProbes::collect(Time now, ProbeBatch& batch) {
  advance(now);
  const std::size_t first_new = batch.visits.size();
  for (std::uint32_t place = 0; place < visits_.size(); ++place) {
    Pending& visit = visits_[place];
    if (visit.serial == 0 || !deliverable(visit, now)) {
      continue;
    }
    if (!visit.abandoned) {
      deliver(visit, batch);
    }
    visit.serial = 0;
    free_places_.push_back(place);
  }
  sort_delivered(batch, first_new);
}

}  // namespace bonescan
