// Rows of the public schema as visits: the reading half of the CSV import.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan::backend_replay {

/// One row.  Which probes were lost is not in the schema, only how many.
struct ImportedVisit {
  std::int64_t start_unix_ns = 0;
  EndpointId source;
  EndpointId target;
  std::uint32_t rtt_ns = 0;  ///< of the answered probes
  std::uint16_t source_port = 0;
  std::uint8_t dscp = 0;
  std::uint8_t count = 0;
  std::uint8_t lost = 0;
  bool local_error = false;  ///< the row says nothing about the network
};

struct ImportedRows {
  EndpointDirectory endpoints;
  std::vector<ImportedVisit> visits;  ///< by start, rows of one moment in the order of the file
};

/// @errors kIo; kInvalid with "file:line:column: ..."
Expected<ImportedRows> read_visit_rows(const std::string& csv);

}  // namespace bonescan::backend_replay
