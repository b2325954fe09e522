// One visit as a line of the public 45-column schema: what export writes and a live agent appends.
#pragma once

#include "detectors/backend_replay/visit_columns.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/probe.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace bonescan::backend_replay {

/// The names of the columns, with a line feed.
std::string visit_csv_header();

class VisitCsvLine final {
 public:
  /// REQUIRES: `endpoints` outlives it.
  VisitCsvLine(const EndpointDirectory& endpoints, std::int64_t epoch_unix_ns);

  /// With a line feed.
  std::string of(const Visit& visit, const Pair& ends, std::span<const std::uint32_t> rtts_ns);

 private:
  /// Probes that never left the RNIC say nothing, so a visit of such probes leaves all three empty.
  void fill_outcome(std::span<const std::uint32_t> rtts_ns);

  const EndpointDirectory& endpoints_;
  std::int64_t epoch_unix_ns_;
  std::array<std::string, kVisitColumns.size()> cells_;
};

}  // namespace bonescan::backend_replay
