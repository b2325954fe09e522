// Incidents as lines of JSON: one line per change, for people's scripts and alert managers.
//
// A line says all that is known at its time, so the last line of an id is its state.  The form is
// that of tools/report/incident_json.h.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "tools/report/incident_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

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
  enum class Told : std::uint8_t {
    kNothing,
    kOpen,
    kClosed
  };

  const EndpointDirectory& endpoints_;
  const ComponentTable& components_;
  std::int64_t epoch_unix_ns_;
  std::vector<Told> told_;
};

}  // namespace bonescan
