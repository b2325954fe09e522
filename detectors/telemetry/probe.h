// Probes as columns.
//
// A visit is one short series of probes of one pair (k probes, a fixed spacing apart).  A batch
// holds whole visits; the probes of visit v are rows [v.first, v.first + v.count) of the columns.
// Loss is an outcome, coded in the RTT column so that a record is eight bytes and a loop over RTTs
// needs no second column.
// Invariants: 1. rows of a visit are in send order; 2. every row belongs to exactly one visit;
// 3. a local send error is never network loss.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// RTT column: round-trip time in ns, or one of the two outcomes that have no RTT.
constexpr std::uint32_t kLostRtt = 0xFFFFFFFF;  ///< no answer before the timeout
constexpr std::uint32_t kLocalErrorRtt =
    0xFFFFFFFE;  ///< never left the RNIC: says nothing about the network

constexpr bool answered(std::uint32_t rtt_ns) {
  return rtt_ns < kLocalErrorRtt;
}

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

}  // namespace bonescan
