#include "model/packet_mode/packet_network.h"

#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <bit>

namespace bonescan {
namespace {

constexpr std::uint8_t bit(std::uint8_t priority) {
  return static_cast<std::uint8_t>(1u << priority);
}

/// A PFC frame: the least Ethernet frame with its preamble and gap.
constexpr std::uint32_t kPauseWireBytes = 64 + kPreambleAndGapBytes;

/// The other direction of the same cable.
LinkId reverse(LinkId link) {
  const CableId cable = Fabric::cable_of(link);
  return Fabric::is_up(link) ? Fabric::down(cable) : Fabric::up(cable);
}

}  // namespace

PacketNetwork::PacketNetwork(World& world, const PacketModeOptions& options)
    : world_(&world), options_(options), ports_(world.fabric().link_count()) {
  const Fabric& fabric = world.fabric();
  BONESCAN_CHECK(fabric.host_count() <= kPacketModeMaxHosts);
  BONESCAN_CHECK(options.pfc.xon_bytes <= options.pfc.xoff_bytes);
  BONESCAN_CHECK(options.ecn.min_bytes <= options.ecn.max_bytes);
  const LatencyModelOptions& latency = world.latency().options();
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    Port& port = ports_[LinkId(l)];
    const CableId cable = Fabric::cable_of(LinkId(l));
    port.rate = fabric.rate(cable);
    port.propagation = fabric.is_access(cable) ? latency.access_link : latency.fabric_link;
  }
}

std::uint8_t PacketNetwork::add_receiver(PacketReceiver receiver) {
  BONESCAN_CHECK(receiver.delivered != nullptr && receivers_.size() < 0xFF);
  receivers_.push_back(receiver);
  return static_cast<std::uint8_t>(receivers_.size() - 1);
}

Duration PacketNetwork::serialization(LinkId link, std::uint32_t bytes) const {
  const Duration whole = serialization_time(Bytes(bytes), ports_[link].rate);
  const double left = world_->links().capacity_ratio(link);
  return left == 1.0 ? whole : from_seconds(seconds(whole) / left);
}

Duration PacketNetwork::link_time(LinkId link, std::uint32_t bytes) const {
  return serialization(link, bytes) + ports_[link].propagation;
}

PacketNetwork::PacketIndex PacketNetwork::take_slot(const Packet& packet) {
  PacketIndex index = first_free_;
  if (index == kNone) {
    index = static_cast<PacketIndex>(slots_.size());
    slots_.emplace_back();
  } else {
    first_free_ = slots_[index].next;
  }
  slots_[index].packet = packet;
  slots_[index].next = kNone;
  return index;
}

void PacketNetwork::release(PacketIndex index) {
  slots_[index].next = first_free_;
  first_free_ = index;
}

void PacketNetwork::send(const Packet& packet) {
  BONESCAN_DCHECK(packet.hop == 0 && packet.wire_bytes > 0);
  ++totals_.injected;
  if (packet.path.count == 0) {
    ++totals_.dropped_no_way;
    return;
  }
  enqueue(take_slot(packet));
}

void PacketNetwork::enqueue(PacketIndex index) {
  Packet& packet = slots_[index].packet;
  const LinkId link = packet.path.links[packet.hop];
  if (!admit(packet, link)) {
    ++ports_[link].counters.dropped;
    release(index);
    return;
  }
  Port& port = ports_[link];
  Queue& queue = port.queues[priority_of(packet.dscp)];
  if (queue.last == kNone) {
    queue.first = index;
  } else {
    slots_[queue.last].next = index;
  }
  queue.last = index;
  queue.bytes += packet.wire_bytes;
  port.queued_bytes += packet.wire_bytes;
  port.counters.queue_peak = std::max(port.counters.queue_peak, port.queued_bytes);
  serve(link);
}

bool PacketNetwork::admit(Packet& packet, LinkId link) {
  Port& port = ports_[link];
  const std::uint8_t priority = priority_of(packet.dscp);
  const std::uint32_t queue_bytes = port.queues[priority].bytes;
  if (!lossless(priority)) {
    if (queue_bytes + packet.wire_bytes > options_.queue_bytes) {
      ++totals_.dropped_tail;
      return false;
    }
  } else if (packet.hop > 0) {
    const LinkId from = packet.path.links[packet.hop - 1u];
    Port& ingress = ports_[from];
    std::uint32_t& waiting = ingress.ingress_bytes[priority];
    const PfcOptions& pfc = options_.pfc;
    if (waiting + packet.wire_bytes > pfc.xoff_bytes + pfc.headroom_bytes) {
      ++totals_.dropped_headroom;
      return false;
    }
    waiting += packet.wire_bytes;
    ingress.counters.ingress_peak = std::max(ingress.counters.ingress_peak, waiting);
    if (waiting > pfc.xoff_bytes && (ingress.xoff_sent & bit(priority)) == 0) {
      ingress.xoff_sent |= bit(priority);
      send_pause(from, priority, true);
    }
  }
  mark(packet, port, link, queue_bytes);
  return true;
}

void PacketNetwork::mark(Packet& packet, Port& port, LinkId link, std::uint32_t queue_bytes) {
  const EcnOptions& ecn = options_.ecn;
  if (queue_bytes <= ecn.min_bytes || (ecn.priorities & bit(priority_of(packet.dscp))) == 0) {
    return;
  }
  if (queue_bytes <= ecn.max_bytes) {
    const double share = static_cast<double>(queue_bytes - ecn.min_bytes) /
                         static_cast<double>(ecn.max_bytes - ecn.min_bytes);
    const RngStream luck(world_->options().seed, Purpose::kPacketMark, link.index());
    if (luck.open01_at(port.draws++) >= share * ecn.max_ratio) {
      return;
    }
  }
  packet.congestion_experienced = true;
  ++port.counters.marked;
  ++totals_.marked;
}

void PacketNetwork::serve(LinkId link) {
  Port& port = ports_[link];
  const Time now = world_->engine().now();
  if (port.queued_bytes == 0 || port.wake_scheduled) {
    return;
  }
  if (port.free_at > now) {
    port.wake_scheduled = true;
    world_->engine().schedule(
        port.free_at, EventPriority::kProbe, action<&PacketNetwork::wake>(*this, link.index()));
    return;
  }
  for (std::uint32_t rank = kPriorityCount; rank-- > 0;) {
    Queue& queue = port.queues[rank];
    if (queue.first == kNone || (port.paused >> rank & 1) != 0) {
      continue;
    }
    const PacketIndex index = queue.first;
    queue.first = slots_[index].next;
    if (queue.first == kNone) {
      queue.last = kNone;
    }
    slots_[index].next = kNone;
    queue.bytes -= slots_[index].packet.wire_bytes;
    port.queued_bytes -= slots_[index].packet.wire_bytes;
    transmit(link, index);
    return;
  }
}

void PacketNetwork::wake(std::uint64_t link) {
  const LinkId id(static_cast<std::uint32_t>(link));
  ports_[id].wake_scheduled = false;
  serve(id);
}

void PacketNetwork::transmit(LinkId link, PacketIndex index) {
  Port& port = ports_[link];
  const Packet& packet = slots_[index].packet;
  const Time now = world_->engine().now();
  if (packet.hop == 0 && tap_.sent != nullptr) {
    tap_.sent(tap_.subject, now, packet);
  }
  port.free_at = now + serialization(link, packet.wire_bytes);
  ++port.counters.packets;
  port.counters.bytes += packet.wire_bytes;
  leave_ingress(packet);
  if (port.queued_bytes > 0) {
    port.wake_scheduled = true;
    world_->engine().schedule(
        port.free_at, EventPriority::kProbe, action<&PacketNetwork::wake>(*this, link.index()));
  }
  forward(link, index);
}

/// The wire: what the link's faults do to the packet, then the far end.
void PacketNetwork::forward(LinkId link, PacketIndex index) {
  Port& port = ports_[link];
  const Packet& packet = slots_[index].packet;
  LinkConditions met;
  world_->links().accumulate(
      std::span(&link, 1),
      {.flow = packet.flow, .bytes = packet.payload_bytes, .dscp = packet.dscp},
      met);
  const std::uint64_t seed = world_->options().seed;
  if (met.pass_ratio < 1.0) {
    const RngStream luck(seed, Purpose::kPacketLoss, link.index());
    if (luck.open01_at(port.draws++) >= met.pass_ratio) {
      ++totals_.dropped_wire;
      release(index);
      return;
    }
  }
  Time arrival = port.free_at + port.propagation + met.delay;
  if (met.queue_mean_ns > 0.0) {
    const RngStream waits(seed, Purpose::kPacketWait, link.index());
    arrival += Duration(static_cast<std::int64_t>(
        exponential_quantile(waits.open01_at(port.draws++), met.queue_mean_ns)));
  }
  world_->engine().schedule(
      arrival, EventPriority::kProbe, action<&PacketNetwork::arrive>(*this, index));
}

void PacketNetwork::arrive(std::uint64_t index) {
  const auto slot = static_cast<PacketIndex>(index);
  Packet& packet = slots_[slot].packet;
  ++packet.hop;
  if (packet.hop < packet.path.count) {
    enqueue(slot);
    return;
  }
  // The receiver may send, which moves the slots: it gets a copy.
  const Packet delivered = packet;
  release(slot);
  ++totals_.delivered;
  const PacketReceiver& receiver = receivers_[delivered.receiver];
  receiver.delivered(receiver.subject, delivered);
}

void PacketNetwork::leave_ingress(const Packet& packet) {
  const std::uint8_t priority = priority_of(packet.dscp);
  if (packet.hop == 0 || !lossless(priority)) {
    return;
  }
  const LinkId from = packet.path.links[packet.hop - 1u];
  Port& ingress = ports_[from];
  ingress.ingress_bytes[priority] -= packet.wire_bytes;
  if (ingress.ingress_bytes[priority] <= options_.pfc.xon_bytes &&
      (ingress.xoff_sent & bit(priority)) != 0) {
    ingress.xoff_sent &= static_cast<std::uint8_t>(~bit(priority));
    send_pause(from, priority, false);
  }
}

/// A PFC frame goes before everything that waits, but not into the packet that is being sent.
void PacketNetwork::send_pause(LinkId link, std::uint8_t priority, bool stop) {
  const LinkId back = reverse(link);
  const Time now = world_->engine().now();
  const Time start = std::max(now, ports_[back].free_at);
  const std::uint64_t argument =
      static_cast<std::uint64_t>(link.index()) << 4 | std::uint64_t{priority} << 1 | (stop ? 1 : 0);
  world_->engine().schedule(start + link_time(back, kPauseWireBytes),
                            EventPriority::kProbe,
                            action<&PacketNetwork::pause_arrives>(*this, argument));
}

void PacketNetwork::pause_arrives(std::uint64_t argument) {
  const LinkId link(static_cast<std::uint32_t>(argument >> 4));
  const auto priority = static_cast<std::uint8_t>(argument >> 1 & 7);
  Port& port = ports_[link];
  const Time now = world_->engine().now();
  if ((argument & 1) != 0) {
    port.paused |= bit(priority);
    port.paused_since[priority] = now;
    ++port.counters.pauses;
    return;
  }
  port.paused &= static_cast<std::uint8_t>(~bit(priority));
  port.counters.paused += now - port.paused_since[priority];
  serve(link);
}

}  // namespace bonescan
