// A small leaf-spine with packets: two segments of four hosts, one rail, 100 Gb/s, two aggregation
// switches; end points take no time, so that only the network is measured.
#pragma once

#include "model/fabric/ecmp_hash.h"
#include "model/packet_mode/packet_network.h"
#include "model/probe_path.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan::test {

class PacketBench {
 public:
  struct Arrival {
    Time at;
    Packet packet;
  };

  /// Wire bytes of a UD packet without payload.
  static constexpr std::uint32_t kUdOverhead = wire_bytes(PacketKind::kUdLoad, 0);

  explicit PacketBench(const PacketModeOptions& options = {}, std::uint64_t seed = 1)
      : PacketBench(options, world_options(seed)) {}

  PacketBench(const PacketModeOptions& options, const WorldOptions& world_options)
      : world(world_options, engine),
        network(world, options),
        receiver_(network.add_receiver({&PacketBench::on_delivered, this})) {}

  static WorldOptions world_options(std::uint64_t seed) {
    WorldOptions options;
    options.fabric = {.segments = 2,
                      .hosts_per_segment = 4,
                      .rails = 1,
                      .aggregation_switches = 2,
                      .link_rate = BitsPerSecond(100'000'000'000)};
    options.latency.endpoints = Duration(0);
    options.seed = seed;
    return options;
  }

  RnicId rnic(std::uint32_t segment, std::uint32_t host) const {
    return world.fabric().rnic(world.fabric().host(segment, host), 0);
  }

  std::pair<RnicId, RnicId> near_pair() const { return {rnic(0, 0), rnic(0, 1)}; }

  std::pair<RnicId, RnicId> far_pair() const { return {rnic(0, 0), rnic(1, 0)}; }

  LinkId first_link(std::pair<RnicId, RnicId> pair) const {
    return Fabric::up(world.fabric().access_cable(pair.first));
  }

  void send(std::pair<RnicId, RnicId> pair, std::uint32_t payload_bytes, std::uint8_t dscp = 26) {
    Packet packet;
    packet.source = pair.first;
    packet.target = pair.second;
    packet.path =
        resolve_path(world, {.source = pair.first, .target = pair.second, .source_port = port})
            .request;
    packet.flow = flow_hash(pair.first.index(), pair.second.index(), port);
    packet.payload_bytes = payload_bytes;
    packet.wire_bytes = kUdOverhead + payload_bytes;
    packet.source_port = port;
    packet.dscp = dscp;
    packet.psn = next_psn_++;
    packet.receiver = receiver_;
    network.send(packet);
  }

  void run_for(Duration length) { engine.run_until(engine.now() + length); }

  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  void forget() { arrivals_.clear(); }

  Engine engine;
  World world;
  PacketNetwork network;
  std::uint16_t port = 50'000;

 private:
  static void on_delivered(void* self, const Packet& packet) {
    auto& bench = *static_cast<PacketBench*>(self);
    bench.arrivals_.push_back({bench.engine.now(), packet});
  }

  std::uint8_t receiver_ = 0;
  std::uint32_t next_psn_ = 0;
  std::vector<Arrival> arrivals_;
};

}  // namespace bonescan::test
