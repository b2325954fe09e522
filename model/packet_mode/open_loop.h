// Open-loop load: packets that are sent whether or not the network copes.
//
// A Poisson flow is what queueing formulas are about; a burst flow, started at several sources at
// once towards one target, is an incast.  Times of a flow depend on the seed and the flow's number
// alone, so any part of a load can be exported and sent by another simulator.
// Invariant: at most one event is pending per flow.  Thread-compatible.
#pragma once

#include "model/packet_mode/packet_network.h"

#include <cstdint>
#include <vector>

namespace bonescan {

enum class LoadShape : std::uint8_t {
  kPoisson,  ///< independent packets at a mean rate
  kBurst,    ///< `burst_packets` at line rate, every `period`
};

struct LoadFlow {
  RnicId source;
  RnicId target;
  std::uint16_t source_port = 0;
  std::uint8_t dscp = 26;
  LoadShape shape = LoadShape::kPoisson;
  std::uint32_t payload_bytes = 4096;
  double packets_per_s = 0.0;       ///< kPoisson
  std::uint32_t burst_packets = 1;  ///< kBurst
  Duration period = std::chrono::milliseconds(1);
  Time from{};
  Time to = kNever;
};

/// A packet of a flow that is due.
struct Departure {
  Time at;
  std::uint32_t flow = 0;
};

class OpenLoop final {
 public:
  explicit OpenLoop(PacketNetwork& network);
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  /// Starts a flow; returns its number.  REQUIRES: its `from` is not in the past.
  std::uint32_t start(const LoadFlow& flow);

  std::uint64_t sent() const { return sent_; }

  std::uint64_t delivered() const { return delivered_; }

  /// Every departure of the flows before `end`, in time order: what start() would send.
  static std::vector<Departure> departures(const std::vector<LoadFlow>& flows,
                                           std::uint64_t seed,
                                           Time end);

 private:
  struct State {
    LoadFlow flow;
    Packet packet;
    std::uint64_t sent = 0;
    Time next;
  };

  static void on_delivered(void* self, const Packet& packet);
  void send_next(std::uint64_t flow);
  void schedule(std::uint32_t flow);

  PacketNetwork* network_;
  std::uint8_t receiver_ = 0;
  std::vector<State> flows_;
  std::uint64_t sent_ = 0;
  std::uint64_t delivered_ = 0;
};

}  // namespace bonescan
