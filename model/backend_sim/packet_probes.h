// Probes as packets: the reference for the closed form, behind the same seam.
//
// A probe is a UD SEND that leaves its prober, waits in real queues, is answered by the agent at
// the far end and comes back on the path of its own five-tuple.  Everything that is not the network
// is the closed form's: the same megaflows are looked up (when the packet gets there, not when it
// was sent), the same jitter and spikes are drawn for the end points, the same share is lost for no
// reason.  So in an idle network a probe takes what the closed form says plus the time to serialize
// it, and every other difference comes from queues.
//   prober (a quarter of `endpoints`) -> encap -> links -> decap -> agent (half of it, with the
//   jitter and the spike) -> encap -> links -> decap -> prober (a quarter)
// Limits: the job's own traffic is no packets, and no closed form either: load comes from the flows
// that are started on the network().  Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/world_clock.h"
#include "model/packet_mode/packet_network.h"
#include "model/probe_path.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

class PacketProbes final : public Probes, public WorldClock {
 public:
  PacketProbes(World& world, const EndpointMap& endpoints, const PacketModeOptions& options);

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;
  void advance(Time now) override;

  PacketNetwork& network() { return network_; }

 private:
  /// A visit until it has been delivered or abandoned.
  struct Pending {
    ProbeRequest request;
    ProbeSpec spec;
    QuadId quad;
    std::uint64_t serial = 0;  ///< 0: the place is free; else it tells late packets apart
    std::uint8_t sent = 0;
    bool abandoned = false;  ///< its agent died: nothing of it is ever reported
    std::vector<std::uint32_t> rtts;

    Time send_time(std::uint8_t probe) const { return request.start + probe * request.spacing; }
  };

  /// Which probe a packet or an event belongs to, in 64 bits.
  struct ProbeTag {
    std::uint32_t place = 0;
    std::uint32_t serial = 0;  ///< low bits
    std::uint8_t probe = 0;
  };

  static constexpr int kPlaceBits = 24;

  static std::uint64_t pack(const ProbeTag& tag);
  static ProbeTag unpack(std::uint64_t packed);
  static void on_delivered(void* self, const Packet& packet);

  std::uint32_t take_place();
  Pending* find(const ProbeTag& tag);
  std::uint64_t tag_of(std::uint32_t place, std::uint8_t probe) const;
  PhiloxCounter draw(const Pending& visit, std::uint8_t probe) const;
  Duration agent_time(const Pending& visit, std::uint8_t probe) const;
  bool bound(const Pending& visit) const;
  bool cross(Pending& visit, bool answer, bool encap, Duration& cost);
  void transmit(const Pending& visit, PacketKind kind, std::uint64_t tag);
  void schedule_send(std::uint32_t place);
  bool deliverable(const Pending& visit, Time now) const;
  void deliver(const Pending& visit, ProbeBatch& batch) const;
  static void sort_delivered(ProbeBatch& batch, std::size_t first);

  // The life of a probe; each is an event of the engine, with the packed tag.
  void begin(std::uint64_t tag);
  void leave_prober(std::uint64_t tag);
  void reach_agent(std::uint64_t tag);
  void leave_agent(std::uint64_t tag);
  void reach_prober(std::uint64_t tag);

  World* world_;
  const EndpointMap* endpoints_;
  PacketNetwork network_;
  std::uint8_t receiver_ = 0;
  std::uint64_t last_serial_ = 0;
  std::vector<Pending> visits_;
  std::vector<std::uint32_t> free_places_;
};

}  // namespace bonescan
