// The answering half of an endpoint.
//
// Sans-IO, like the prober.  A probe is answered at once; when the send of that answer completes,
// T4 is known and the second answer says how long the probe was here.
// Answers go to where the probe came from (its GRH and queue pair), not to what an address book
// says: an agent must be able to answer peers that it does not probe itself.  An answer is never
// longer than its probe, so a forged one gains nothing.
// Invariants: 1. memory is bounded: one slot per send buffer, and without a free one the probe is
// left unanswered and counted; 2. a probe for another endpoint or another life of this one is not
// answered.
// Thread-compatible.
#pragma once

#include "detectors/backend_verbs/link.h"
#include "detectors/backend_verbs/probe_wire.h"

#include <cstdint>
#include <vector>

namespace bonescan::verbs {

struct ResponderOptions {
  std::uint64_t self = 0;  ///< endpoint_hash of this endpoint's name
  std::uint16_t first_buffer = 32;
  std::uint16_t buffers = 32;
  std::uint16_t buffer_bytes = 1024;
};

struct ResponderCounters {
  std::uint64_t probes = 0;
  std::uint64_t first_answers = 0;
  std::uint64_t second_answers = 0;
  std::uint64_t foreign = 0;
  std::uint64_t stale_epoch = 0;
  std::uint64_t no_buffer = 0;
  std::uint64_t send_failed = 0;
  std::uint64_t bad_timestamps = 0;  ///< the second answer was withheld
};

class Responder final {
 public:
  explicit Responder(const ResponderOptions& options);

  const ResponderCounters& counters() const { return counters_; }
  /// When the oldest send that has not completed was posted; Time::max() if there is none.
  Time oldest_send() const;

  /// A probe came in from `source`.
  void received(const ProbePacket& packet,
                const GidBytes& source,
                const Completion& completion,
                const Link& link);

  /// A send completion of one of the responder's buffers.
  void sent(const Completion& completion, const Link& link);

  /// The queues are gone.
  void reset();

 private:
  enum class State : std::uint8_t {
    kFree,
    kFirst,
    kSecond,
  };

  struct Slot {
    State state = State::kFree;
    ProbePacket answer;
    SendOrder order;
    std::uint64_t received_stamp = 0;  ///< T3
    Time posted;
  };

  bool post(Slot& slot, std::uint16_t payload_bytes, const Link& link);
  void release(Slot& slot);

  ResponderOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_;
  ResponderCounters counters_;
};

}  // namespace bonescan::verbs
