// What inference reads: the throughput of a task's endpoints, on one grid of time.
//
// Counters are read about once a second, by samplers that do not agree on when a second begins.
// Whoever makes a record has put the bytes into the columns that they belong to; a byte that nobody
// reported is missing, not zero.
// Invariants: 1. members ascend; 2. hosts, rails and containers (if the platform numbers them) have
// one entry a member, rates have one row a member.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct TrafficRecord {
  std::vector<EndpointId> members;
  std::vector<std::uint32_t> hosts;  ///< by member: 0, 1, ... in the order of first appearance
  std::vector<std::uint16_t> rails;  ///< by member
  /// By member: which container of the task it belongs to, as the platform numbers them; empty if
  /// the platform does not tell.  A hint that may be wrong.
  std::vector<std::uint32_t> containers;
  Time from;
  Duration period = std::chrono::seconds(1);
  std::size_t columns = 0;
  std::vector<float> rates;  ///< bytes per second, row by row; NaN where no report came

  std::span<const float> row(std::size_t member) const {
    return std::span(rates).subspan(member * columns, columns);
  }
};

}  // namespace bonescan
