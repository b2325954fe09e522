// Reliable connections as cross traffic: RDMA WRITE with go-back-N.
//
// The sender paces packets at its rate, at most `window_packets` beyond the oldest that is not
// acknowledged.  The receiver takes packets in order only: every `ack_every`-th is acknowledged,
// the first one after a gap is answered with a NAK (PSN sequence error) that names the PSN it waits
// for, and the sender starts again from there.  If nothing is acknowledged for `timeout`, it starts
// again from the oldest; after `retry_limit` timeouts in a row the connection is in error
// (completion status 12, transport retry exceeded) and silent.  A packet that met congestion makes
// the receiver send a CNP, at most one per `cnp_gap`.
// Limits: the sender counts CNPs and does not slow down (no DCQCN), selective repeat is not
// modelled, and a WRITE is as many WRITE_ONLY packets of one payload each. Thread-compatible.
#pragma once

#include "model/packet_mode/packet_network.h"

#include <cstdint>
#include <deque>

namespace bonescan {

struct ReliableFlowOptions {
  RnicId source;
  RnicId target;
  std::uint16_t source_port = 0;
  std::uint8_t dscp = 26;
  std::uint8_t cnp_dscp = 48;
  std::uint32_t payload_bytes = 4096;
  BitsPerSecond rate{100'000'000'000};
  std::uint32_t packets = 1000;  ///< to be delivered
  std::uint32_t window_packets = 256;
  std::uint32_t ack_every = 16;
  Duration timeout = std::chrono::milliseconds(4);
  std::uint32_t retry_limit = 7;
  Duration cnp_gap = std::chrono::microseconds(50);
};

/// The counters that an RNIC shows for such a connection, by the names of Linux's hw_counters.
struct ReliableFlowCounters {
  std::uint64_t sent = 0;             ///< with what was sent again
  std::uint64_t accepted = 0;         ///< in order
  std::uint64_t out_of_sequence = 0;  ///< receiver: arrived beyond a gap
  std::uint64_t packet_seq_err = 0;   ///< sender: NAKs
  std::uint64_t local_ack_timeout_err = 0;
  std::uint64_t cnp_sent = 0;
  std::uint64_t cnp_handled = 0;
};

class ReliableFlows final {
 public:
  explicit ReliableFlows(PacketNetwork& network);
  ReliableFlows(const ReliableFlows&) = delete;
  ReliableFlows& operator=(const ReliableFlows&) = delete;

  /// Begins now; returns the flow's number.
  std::uint32_t start(const ReliableFlowOptions& options);

  const ReliableFlowCounters& counters(std::uint32_t flow) const { return flows_[flow].counters; }

  bool done(std::uint32_t flow) const {
    return flows_[flow].unacked == flows_[flow].options.packets;
  }

  bool failed(std::uint32_t flow) const { return flows_[flow].failed; }

  /// When the last packet was acknowledged.
  Time finished_at(std::uint32_t flow) const { return flows_[flow].finished_at; }

 private:
  struct Flow {
    ReliableFlowOptions options;
    ReliableFlowCounters counters;
    // Sender; packets are counted from 0, the wire carries the low 24 bits.
    std::uint32_t next = 0;
    std::uint32_t unacked = 0;
    std::uint32_t retries = 0;
    bool sending = false;  ///< an event will send the next packet
    bool failed = false;
    EventHandle timer;
    Time next_slot;
    Time finished_at;
    // Receiver.
    std::uint32_t expected = 0;
    bool gap_reported = false;
    Time next_cnp;
  };

  static void on_delivered(void* self, const Packet& packet);
  void at_receiver(std::uint32_t id, const Packet& packet);
  void at_sender(std::uint32_t id, const Packet& packet);
  void reply(std::uint32_t id, PacketKind kind, std::uint32_t number);
  void acknowledge(Flow& flow, std::uint32_t until);
  void pump(std::uint32_t id);
  void arm_timer(std::uint32_t id);
  void send_next(std::uint64_t id);
  void timed_out(std::uint64_t id);

  PacketNetwork* network_;
  std::uint8_t receiver_ = 0;
  std::deque<Flow> flows_;  ///< their addresses never change
};

}  // namespace bonescan
