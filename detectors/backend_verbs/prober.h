// The sending half of an endpoint: carries out visits and times their probes.
//
// Sans-IO: it is told the time and handed completions and parsed answers, and posts through the
// Link it is given.  A visit occupies a slot from submit() until its last probe is answered twice,
// failed, or timed out; then it waits in `done` to be collected.
// Invariants: 1. every submitted visit is delivered once, with as many rows as probes, unless
// nobody collects and the store of done visits overflows (counted); 2. a row is lost only if its
// send completed, no answer came in time, and neither end's queues were replaced meanwhile;
// whatever else went wrong is a local error; 3. an answer counts only if slot, probe, sequence,
// epoch and both names agree, and only before the probe's timeout; 4. memory is bounded by
// ProberOptions; 5. a known responder delay of a visit means that it is taken out of every RTT of
// the visit. Thread-compatible.
#pragma once

#include "detectors/backend_peers/peer_address.h"
#include "detectors/backend_verbs/link.h"
#include "detectors/backend_verbs/probe_wire.h"
#include "detectors/backend_verbs/round_trip.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/units.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace bonescan::verbs {

struct ProberOptions {
  std::uint64_t self = 0;            ///< endpoint_hash of this endpoint's name
  std::uint32_t visits = 256;        ///< slots
  std::uint32_t probes = 2048;       ///< over all slots
  std::uint32_t done_visits = 4096;  ///< that may wait to be collected
  std::uint16_t buffers = 32;        ///< send buffers 0 to buffers - 1 are the prober's
  std::uint16_t buffer_bytes = 1024;
};

struct ProberCounters {
  std::uint64_t sent = 0;
  std::uint64_t first_answers = 0;
  std::uint64_t second_answers = 0;
  std::uint64_t late = 0;  ///< after the probe's timeout, or after its visit was closed
  std::uint64_t duplicate = 0;
  std::uint64_t foreign = 0;      ///< for another endpoint or from another one
  std::uint64_t stale_epoch = 0;  ///< to an earlier life of this endpoint
  std::uint64_t local_errors = 0;
  std::uint64_t overflowed = 0;  ///< done visits that nobody collected
};

enum class SendBuffers : std::uint8_t {
  kGone,  ///< with the queues: all are free again
  kKept,  ///< those under way come back in completions
};

class Prober final {
 public:
  explicit Prober(const ProberOptions& options);

  /// When advance() has something to do; Time::max() if never.
  Time next_due() const;
  const ProberCounters& counters() const { return counters_; }
  /// When the oldest send that has not completed was posted; Time::max() if there is none.
  Time oldest_send() const;

  /// `target`: endpoint_hash of the target's name.
  void submit(const ProbeRequest& request,
              std::uint64_t target,
              const std::optional<PeerAddress>& address,
              const Link& link);

  /// Delivers the visit with this error in every row.
  void refuse(const ProbeRequest& request, LocalError error, const Link& link);

  /// Sends what is due by `now` and closes what has timed out.
  void advance(Time now, const PeerBook& peers, const Link& link);

  /// A send completion of one of the prober's buffers.
  void sent(const Completion& completion, const Link& link);

  /// An answer.
  void answered(const ProbePacket& packet, const Completion& completion, const Link& link);

  /// Nothing that is under way can be answered any more; `buffers` says whether the queues that
  /// hold send buffers live on.
  void fail_all(LocalError reason, SendBuffers buffers, const Link& link);

  /// Appends the visits that are done and began by `now`, in the order in which they ended.
  void collect(Time now, ProbeBatch& batch);

 private:
  struct Probe {
    ProbeStamps stamps;
    std::uint64_t sequence = 0;
    std::uint64_t peer_epoch = 0;
    std::uint32_t outcome = kLostRtt;
    bool answered = false;
    bool responder_device = false;
    bool send_completed = false;
    bool settled = false;
    std::optional<RoundTrip> trip;
  };

  struct Slot {
    ProbeRequest request;
    std::uint64_t target = 0;
    std::vector<Probe> probes;
    std::uint32_t generation = 0;
    std::uint8_t next = 0;  ///< probe to send
    std::uint8_t settled = 0;
    Time deadline;  ///< of the last probe sent so far
    bool used = false;
  };

  struct Due {
    Time at;
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;

    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : slot > other.slot;
    }
  };

  struct BufferUse {
    Time posted;
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint8_t probe = 0;
    bool busy = false;
  };

  void send_next(std::uint32_t index, Time now, const PeerBook& peers, const Link& link);
  std::optional<LocalError> post(Slot& slot,
                                 std::uint32_t index,
                                 const std::optional<PeerAddress>& address,
                                 const Link& link);
  void settle_overdue(std::uint32_t index, Time now, const PeerBook& peers, const Link& link);
  void settle(std::uint32_t index, Probe& probe, const Link& link);
  void settle_with(std::uint32_t index, Probe& probe, std::uint32_t outcome, const Link& link);
  void close(Slot& slot, const Link& link);
  void append_done(const Visit& visit);

  ProberOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<BufferUse> buffers_;
  std::vector<std::uint16_t> free_buffers_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  ProbeBatch done_;
  ProberCounters counters_;
  std::uint64_t sequence_ = 0;
  std::uint32_t probes_in_slots_ = 0;
};

/// Where the probes of a pair go.
Destination destination_of(const PeerAddress& address,
                           std::uint16_t source_port,
                           std::uint8_t dscp,
                           const Link& link);

}  // namespace bonescan::verbs
