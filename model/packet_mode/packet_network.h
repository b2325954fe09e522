// Packets through the world's links, one by one: queues, serialization, marking, flow control.
//
// Why this exists: probes are a closed form elsewhere (model/probe_path.h).  This is what that form
// is measured against, and what is itself measured against other simulators (model/VALIDATION.md).
//
// Every directed link has an output port at its upstream end, with one FIFO per priority; the
// highest priority that is not paused goes first.  A packet is stored, serialized at the link's
// rate, propagated, and forwarded.  The path is chosen when the packet is made, with the world's
// own hash, so a five-tuple takes the path that the closed form says.  Link faults come from the
// same LinkTable: loss on the wire, delays, extra waits, ports that are down.
//
// Buffers: a lossy priority drops at the tail of its output queue; a lossless one counts what came
// in over each link and pauses that link's sender, which counts in turn, so a pause spreads hop by
// hop.  A pause lasts until XON (a switch refreshes it before it runs out).  A packet counts as
// buffered until its serialization begins.
// Invariants: 1. packets of one link and priority never overtake each other, unless a fault's
// exponential wait says so; 2. injected = delivered + dropped + inside; 3. time in, bytes in and
// seed in give the same events.
// Limits: switches have no shared buffer, no scheduling but strict priority, and no latency of
// their own (it is part of the link's).  Thread-compatible.
#pragma once

#include "model/packet_mode/packet.h"
#include "model/packet_mode/packet_mode_options.h"
#include "model/world.h"

#include <array>
#include <cstdint>
#include <vector>

namespace bonescan {

/// Called when a packet has reached its target.  The packet is gone afterwards.
struct PacketReceiver {
  void (*delivered)(void* subject, const Packet& packet) = nullptr;
  void* subject = nullptr;
};

/// Called when the first bit of a packet leaves its source's RNIC.
struct PacketTap {
  void (*sent)(void* subject, Time at, const Packet& packet) = nullptr;
  void* subject = nullptr;
};

struct PacketTotals {
  std::uint64_t injected = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped_tail = 0;      ///< queue full
  std::uint64_t dropped_headroom = 0;  ///< lossless, and the headroom was too small
  std::uint64_t dropped_wire = 0;      ///< by the link: loss, port down
  std::uint64_t dropped_no_way = 0;    ///< its path is empty: the fabric has no way by design
  std::uint64_t marked = 0;            ///< congestion experienced
};

/// What one directed link did so far.
struct LinkCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  ///< at its queue, not on the wire
  std::uint64_t marked = 0;
  std::uint64_t pauses = 0;        ///< how often its sender was paused
  std::uint32_t queue_peak = 0;    ///< bytes, all priorities
  std::uint32_t ingress_peak = 0;  ///< most bytes of one priority that came in over it and waited
  Duration paused{};               ///< over all priorities, finished pauses only
};

class PacketNetwork final {
 public:
  /// REQUIRES: `world` outlives the network, and at most kPacketModeMaxHosts hosts.
  PacketNetwork(World& world, const PacketModeOptions& options);
  PacketNetwork(const PacketNetwork&) = delete;
  PacketNetwork& operator=(const PacketNetwork&) = delete;

  const PacketTotals& totals() const { return totals_; }

  const LinkCounters& counters(LinkId link) const { return ports_[link].counters; }

  /// Bytes that wait for a link, all priorities.
  std::uint32_t queued_bytes(LinkId link) const { return ports_[link].queued_bytes; }

  bool paused(LinkId link, std::uint8_t priority) const {
    return (ports_[link].paused >> priority & 1) != 0;
  }

  World& world() { return *world_; }

  /// The index to put into Packet::receiver.
  std::uint8_t add_receiver(PacketReceiver receiver);

  void set_tap(PacketTap tap) { tap_ = tap; }

  /// Sends now; an empty path is a drop.  REQUIRES: path, wire_bytes and receiver are set; hop is
  /// 0.
  void send(const Packet& packet);

  /// One link's serialization and propagation of an idle network.
  Duration link_time(LinkId link, std::uint32_t bytes) const;

 private:
  using PacketIndex = std::uint32_t;
  static constexpr PacketIndex kNone = 0xFFFFFFFF;

  struct Slot {
    Packet packet;
    PacketIndex next = kNone;  ///< in its queue, or in the free list
  };

  struct Queue {
    PacketIndex first = kNone;
    PacketIndex last = kNone;
    std::uint32_t bytes = 0;
  };

  struct Port {
    std::array<Queue, kPriorityCount> queues;
    std::array<std::uint32_t, kPriorityCount> ingress_bytes{};  ///< came in over this link
    std::array<Time, kPriorityCount> paused_since{};
    Time free_at;
    Duration propagation{};
    BitsPerSecond rate;
    std::uint64_t draws = 0;
    std::uint32_t queued_bytes = 0;
    std::uint8_t paused = 0;     ///< bit p: the sender of this link may not send priority p
    std::uint8_t xoff_sent = 0;  ///< bit p: the receiver of this link has asked for that
    bool wake_scheduled = false;
    LinkCounters counters;
  };

  Duration serialization(LinkId link, std::uint32_t bytes) const;
  PacketIndex take_slot(const Packet& packet);
  void release(PacketIndex index);
  void enqueue(PacketIndex index);
  bool admit(Packet& packet, LinkId link);
  void mark(Packet& packet, Port& port, LinkId link, std::uint32_t queue_bytes);
  void serve(LinkId link);
  void transmit(LinkId link, PacketIndex index);
  void forward(LinkId link, PacketIndex index);
  void leave_ingress(const Packet& packet);
  void send_pause(LinkId link, std::uint8_t priority, bool stop);
  void wake(std::uint64_t link);
  void arrive(std::uint64_t index);
  void pause_arrives(std::uint64_t argument);

  bool lossless(std::uint8_t priority) const {
    return (options_.pfc.priorities >> priority & 1) != 0;
  }

  World* world_;
  PacketModeOptions options_;
  IdVector<LinkId, Port> ports_;
  std::vector<Slot> slots_;
  PacketIndex first_free_ = kNone;
  std::vector<PacketReceiver> receivers_;
  PacketTap tap_;
  PacketTotals totals_;
};

}  // namespace bonescan
