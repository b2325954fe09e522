#include "model/packet_mode/open_loop.h"

#include "model/fabric/ecmp_hash.h"
#include "model/probe_path.h"
#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>

namespace bonescan {
namespace {

/// When packet `number` of a flow leaves, given when the one before left.
Time departure(
    const LoadFlow& flow, std::uint32_t id, std::uint64_t seed, std::uint64_t number, Time before) {
  if (flow.shape == LoadShape::kBurst) {
    const auto burst = static_cast<std::int64_t>(number / flow.burst_packets);
    return flow.from + burst * flow.period;
  }
  const RngStream stream(seed, Purpose::kPacketArrival, id);
  const double gap_ns = exponential_quantile(stream.open01_at(number), 1e9 / flow.packets_per_s);
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): positive and far below 2^52.
  return before + Duration(static_cast<std::int64_t>(gap_ns + 0.5));
}

}  // namespace

OpenLoop::OpenLoop(PacketNetwork& network)
    : network_(&network), receiver_(network.add_receiver({&OpenLoop::on_delivered, this})) {}

std::uint32_t OpenLoop::start(const LoadFlow& flow) {
  BONESCAN_CHECK(flow.shape == LoadShape::kBurst || flow.packets_per_s > 0.0);
  BONESCAN_CHECK(flow.burst_packets > 0 && flow.period > Duration::zero());
  const auto id = static_cast<std::uint32_t>(flows_.size());
  State& state = flows_.emplace_back();
  state.flow = flow;
  Packet& packet = state.packet;
  packet.source = flow.source;
  packet.target = flow.target;
  packet.flow = flow_hash(flow.source.index(), flow.target.index(), flow.source_port);
  packet.payload_bytes = flow.payload_bytes;
  packet.wire_bytes = wire_bytes(PacketKind::kUdLoad, flow.payload_bytes);
  packet.source_port = flow.source_port;
  packet.kind = PacketKind::kUdLoad;
  packet.dscp = flow.dscp;
  packet.receiver = receiver_;
  packet.tag = id;
  state.next = departure(flow, id, network_->world().options().seed, 0, flow.from);
  schedule(id);
  return id;
}

void OpenLoop::schedule(std::uint32_t flow) {
  const State& state = flows_[flow];
  if (state.next < state.flow.to) {
    network_->world().engine().schedule(
        state.next, EventPriority::kProbe, action<&OpenLoop::send_next>(*this, flow));
  }
}

void OpenLoop::send_next(std::uint64_t flow) {
  const auto id = static_cast<std::uint32_t>(flow);
  State& state = flows_[id];
  World& world = network_->world();
  const LoadFlow& spec = state.flow;
  state.packet.path = resolve_path(world,
                                   {.source = spec.source,
                                    .target = spec.target,
                                    .source_port = spec.source_port,
                                    .bytes = spec.payload_bytes,
                                    .dscp = spec.dscp})
                          .request;
  state.packet.psn = static_cast<std::uint32_t>(state.sent) & 0xFFFFFF;
  ++sent_;
  ++state.sent;
  network_->send(state.packet);
  state.next = departure(spec, id, world.options().seed, state.sent, state.next);
  schedule(id);
}

void OpenLoop::on_delivered(void* self, const Packet& /*packet*/) {
  ++static_cast<OpenLoop*>(self)->delivered_;
}

std::vector<Departure> OpenLoop::departures(const std::vector<LoadFlow>& flows,
                                            std::uint64_t seed,
                                            Time end) {
  std::vector<Departure> all;
  for (std::uint32_t id = 0; id < flows.size(); ++id) {
    const Time stop = std::min(flows[id].to, end);
    Time at = departure(flows[id], id, seed, 0, flows[id].from);
    for (std::uint64_t number = 1; at < stop; ++number) {
      all.push_back({at, id});
      at = departure(flows[id], id, seed, number, at);
    }
  }
  std::stable_sort(
      all.begin(), all.end(), [](const Departure& a, const Departure& b) { return a.at < b.at; });
  return all;
}

}  // namespace bonescan
