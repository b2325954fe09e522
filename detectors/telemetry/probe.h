// Probes as columns.
//
// A visit is one short series of probes of one pair (k probes, a fixed spacing apart).  A batch
// holds whole visits; the probes of visit v are rows [v.first, v.first + v.count) of the columns.
// Loss is an outcome, coded in the RTT column so that a record is eight bytes and a loop over RTTs
// needs no second column.
// The RTT is the network's: what prober and responder spent on the probe is taken out and stands
// beside it, per visit.  In the six timestamps of a probe (T1 posted, T2 on the wire, T3 received,
// T4 answered, T5 answer received, T6 handled) it is (T5 - T2) - (T4 - T3), each difference taken
// on one clock.  @paper R-Pingmesh
// Invariants: 1. rows of a visit are in send order; 2. every row belongs to exactly one visit;
// 3. a local send error is never network loss.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// Why a probe never left its RNIC, or could not be timed: nothing that the network did.
enum class LocalError : std::uint8_t {
  kOther,          ///< a simulated or imported record that does not say
  kNoDevice,       ///< the RNIC is gone or had a fatal error
  kPortDown,       ///< the RNIC's own port is down
  kNoRoute,        ///< no address handle: no route or no neighbour for the peer's GID
  kNoPeerAddress,  ///< the peer has not told its GID and QPN yet
  kQueueFull,      ///< more probes in flight than the agent has room for
  kSendFailed,     ///< the send completed with an error
  kThrottled,      ///< the agent's own limit
  kBadTimestamps,  ///< answered, but the six timestamps contradict each other
};

std::string_view to_string(LocalError error);

/// RTT column: round-trip time in ns, or an outcome that has none.
constexpr std::uint32_t kLostRtt = 0xFFFFFFFF;        ///< no answer before the timeout
constexpr std::uint32_t kLocalErrorRtt = 0xFFFFFFFE;  ///< LocalError::kOther; the others below it
constexpr std::uint32_t kFirstOutcome = 0xFFFFFFE0;

constexpr std::uint32_t local_error_rtt(LocalError error) {
  return kLocalErrorRtt - static_cast<std::uint32_t>(error);
}

constexpr bool answered(std::uint32_t rtt_ns) {
  return rtt_ns < kFirstOutcome;
}

constexpr bool is_local_error(std::uint32_t rtt_ns) {
  return rtt_ns >= kFirstOutcome && rtt_ns != kLostRtt;
}

/// REQUIRES: is_local_error(rtt_ns).  A code of a later version is kOther.
constexpr LocalError local_error_of(std::uint32_t rtt_ns) {
  const std::uint32_t code = kLocalErrorRtt - rtt_ns;
  return code <= static_cast<std::uint32_t>(LocalError::kBadTimestamps)
             ? static_cast<LocalError>(code)
             : LocalError::kOther;
}

/// Whose clock took the timestamps of a visit.
enum class TimestampSource : std::uint8_t {
  kModel,   ///< simulated, or the record does not say
  kHost,    ///< the host's clock: scheduling delays are inside
  kDevice,  ///< completion timestamps of both RNICs
  kMixed,   ///< the device's at one end only
};

std::string_view to_string(TimestampSource source);

constexpr std::uint32_t kUnknownDelay = 0xFFFFFFFF;

/// "Visit this pair at `start`": what the scheduler asks of a probe backend.
struct ProbeRequest {
  PairId pair;
  Pair ends;
  Time start;
  Duration spacing{};  ///< between the probes of the visit
  Duration timeout{};  ///< after which a probe counts as lost
  std::uint16_t source_port = 0;
  std::uint16_t payload_bytes = 64;
  std::uint8_t dscp = 0;
  std::uint8_t count = 1;
};

/// One executed visit.
struct Visit {
  PairId pair;
  Time start;               ///< when its first probe was sent
  std::uint32_t first = 0;  ///< index of its first row
  std::uint16_t source_port = 0;
  std::uint16_t payload_bytes = 64;
  std::uint8_t dscp = 0;
  std::uint8_t count = 0;
  TimestampSource clock = TimestampSource::kModel;
  std::uint32_t prober_delay_ns = kUnknownDelay;  ///< (T2 - T1) + (T6 - T5), mean of the answered
  std::uint32_t responder_delay_ns = kUnknownDelay;  ///< T4 - T3, mean of the answered
};

struct ProbeBatch {
  std::vector<Visit> visits;
  std::vector<std::uint32_t> sent_after_ns;  ///< row: since the start of its visit
  std::vector<std::uint32_t> rtt_ns;         ///< row: RTT or outcome

  void clear() {
    visits.clear();
    sent_after_ns.clear();
    rtt_ns.clear();
  }

  std::span<const std::uint32_t> rtts(const Visit& visit) const {
    return std::span(rtt_ns).subspan(visit.first, visit.count);
  }

  std::span<const std::uint32_t> sent_after(const Visit& visit) const {
    return std::span(sent_after_ns).subspan(visit.first, visit.count);
  }
};

/// Appends a visit of `from` with its rows.
void append_visit(const ProbeBatch& from, const Visit& visit, ProbeBatch& to);

/// Appends all visits of `from` with their rows, ordered by (start, pair).
void append_in_order(const ProbeBatch& from, ProbeBatch& to);

}  // namespace bonescan
