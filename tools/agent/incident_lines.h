// Incidents as lines of JSON: one line per change, for people's scripts and alert managers.
//
// A line says all that is known at its time, so the last line of an id is its state.  Times are
// UTC; schema_version changes when a field changes its meaning.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

inline constexpr int kIncidentSchemaVersion = 1;
inline constexpr std::size_t kMaxPairsInLine = 64;  ///< `pair_count` counts all

/// "2026-11-29T19:22:35.123456789Z"
std::string utc_text(std::int64_t unix_ns);

/// Makes the lines of one run.  Remembers which incidents it has told of.  Thread-compatible.
class IncidentLines final {
 public:
  /// REQUIRES: all outlive it.
  IncidentLines(const EndpointDirectory& endpoints,
                const ComponentTable& components,
                std::int64_t epoch_unix_ns)
      : endpoints_(endpoints), components_(components), epoch_unix_ns_(epoch_unix_ns) {}

  /// One line, with its line feed.  `index` is the incident's place in the pipeline's list.
  std::string line(std::size_t index, const Incident& incident, const PairTable& pairs);

 private:
  std::string utc(Time at) const { return utc_text(epoch_unix_ns_ + nanoseconds(at)); }

  const EndpointDirectory& endpoints_;
  const ComponentTable& components_;
  std::int64_t epoch_unix_ns_;
  std::vector<bool> told_;
};

}  // namespace bonescan
