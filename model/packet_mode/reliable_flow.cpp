#include "model/packet_mode/reliable_flow.h"

#include "model/fabric/ecmp_hash.h"
#include "model/probe_path.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

Packet packet_of(World& world, const ReliableFlowOptions& options, PacketKind kind) {
  const bool forward = kind == PacketKind::kRcWrite;
  const ProbePath path = resolve_path(world,
                                      {.source = options.source,
                                       .target = options.target,
                                       .source_port = options.source_port,
                                       .bytes = options.payload_bytes,
                                       .dscp = options.dscp});
  Packet packet;
  packet.path = forward ? path.request : path.answer;
  packet.source = forward ? options.source : options.target;
  packet.target = forward ? options.target : options.source;
  packet.flow = flow_hash(packet.source.index(), packet.target.index(), options.source_port);
  packet.payload_bytes = forward ? options.payload_bytes : 0;
  packet.wire_bytes = wire_bytes(kind, packet.payload_bytes);
  packet.source_port = options.source_port;
  packet.kind = kind;
  packet.dscp = kind == PacketKind::kCnp ? options.cnp_dscp : options.dscp;
  return packet;
}

}  // namespace

ReliableFlows::ReliableFlows(PacketNetwork& network)
    : network_(&network), receiver_(network.add_receiver({&ReliableFlows::on_delivered, this})) {}

std::uint32_t ReliableFlows::start(const ReliableFlowOptions& options) {
  BONESCAN_CHECK(options.packets > 0 && options.ack_every > 0 && options.window_packets > 0);
  const auto id = static_cast<std::uint32_t>(flows_.size());
  Flow& flow = flows_.emplace_back();
  flow.options = options;
  flow.next_slot = network_->world().engine().now();
  pump(id);
  return id;
}

void ReliableFlows::pump(std::uint32_t id) {
  Flow& flow = flows_[id];
  const bool may_send =
      flow.next < flow.options.packets && flow.next < flow.unacked + flow.options.window_packets;
  if (flow.sending || flow.failed || !may_send) {
    return;
  }
  flow.sending = true;
  Engine& engine = network_->world().engine();
  engine.schedule(std::max(engine.now(), flow.next_slot),
                  EventPriority::kProbe,
                  action<&ReliableFlows::send_next>(*this, id));
}

void ReliableFlows::send_next(std::uint64_t id) {
  const auto number = static_cast<std::uint32_t>(id);
  Flow& flow = flows_[number];
  flow.sending = false;
  if (flow.failed || flow.next >= flow.options.packets) {
    return;
  }
  World& world = network_->world();
  Packet packet = packet_of(world, flow.options, PacketKind::kRcWrite);
  packet.psn = flow.next++;
  packet.tag = number;
  packet.receiver = receiver_;
  ++flow.counters.sent;
  flow.next_slot =
      world.engine().now() + serialization_time(Bytes(packet.wire_bytes), flow.options.rate);
  if (!world.engine().pending(flow.timer)) {
    arm_timer(number);
  }
  network_->send(packet);
  pump(number);
}

void ReliableFlows::arm_timer(std::uint32_t id) {
  Flow& flow = flows_[id];
  Engine& engine = network_->world().engine();
  engine.cancel(flow.timer);
  if (flow.unacked < flow.options.packets) {
    flow.timer = engine.schedule(engine.now() + flow.options.timeout,
                                 EventPriority::kProbe,
                                 action<&ReliableFlows::timed_out>(*this, id));
  }
}

void ReliableFlows::timed_out(std::uint64_t id) {
  const auto number = static_cast<std::uint32_t>(id);
  Flow& flow = flows_[number];
  ++flow.counters.local_ack_timeout_err;
  if (++flow.retries > flow.options.retry_limit) {
    flow.failed = true;
    return;
  }
  flow.next = flow.unacked;
  arm_timer(number);
  pump(number);
}

void ReliableFlows::on_delivered(void* self, const Packet& packet) {
  auto& flows = *static_cast<ReliableFlows*>(self);
  const auto id = static_cast<std::uint32_t>(packet.tag);
  if (packet.kind == PacketKind::kRcWrite) {
    flows.at_receiver(id, packet);
  } else {
    flows.at_sender(id, packet);
  }
}

void ReliableFlows::at_receiver(std::uint32_t id, const Packet& packet) {
  Flow& flow = flows_[id];
  const Time now = network_->world().engine().now();
  if (packet.congestion_experienced && now >= flow.next_cnp) {
    flow.next_cnp = now + flow.options.cnp_gap;
    ++flow.counters.cnp_sent;
    reply(id, PacketKind::kCnp, 0);
  }
  if (packet.psn > flow.expected) {
    ++flow.counters.out_of_sequence;
    if (!flow.gap_reported) {
      flow.gap_reported = true;
      reply(id, PacketKind::kRcNak, flow.expected);
    }
    return;
  }
  if (packet.psn < flow.expected) {
    reply(id, PacketKind::kRcAck, flow.expected);  // A duplicate: its acknowledgement was lost.
    return;
  }
  ++flow.expected;
  ++flow.counters.accepted;
  flow.gap_reported = false;
  if (flow.expected % flow.options.ack_every == 0 || flow.expected == flow.options.packets) {
    reply(id, PacketKind::kRcAck, flow.expected);
  }
}

/// `number`: every packet before it has been taken.
void ReliableFlows::reply(std::uint32_t id, PacketKind kind, std::uint32_t number) {
  Packet packet = packet_of(network_->world(), flows_[id].options, kind);
  packet.psn = number;
  packet.tag = id;
  packet.receiver = receiver_;
  network_->send(packet);
}

void ReliableFlows::acknowledge(Flow& flow, std::uint32_t until) {
  if (until > flow.unacked) {
    flow.unacked = until;
    flow.next = std::max(flow.next, until);
    flow.retries = 0;
  }
}

void ReliableFlows::at_sender(std::uint32_t id, const Packet& packet) {
  Flow& flow = flows_[id];
  Engine& engine = network_->world().engine();
  if (packet.kind == PacketKind::kCnp) {
    ++flow.counters.cnp_handled;
    return;
  }
  if (flow.failed || done(id) || packet.psn < flow.unacked) {
    return;
  }
  const std::uint32_t before = flow.unacked;
  acknowledge(flow, packet.psn);
  if (packet.kind == PacketKind::kRcNak) {
    ++flow.counters.packet_seq_err;
    flow.next = flow.unacked;
  }
  if (done(id)) {
    flow.finished_at = engine.now();
    engine.cancel(flow.timer);
    return;
  }
  if (flow.unacked > before || packet.kind == PacketKind::kRcNak) {
    arm_timer(id);
  }
  pump(id);
}

}  // namespace bonescan
