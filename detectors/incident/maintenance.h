// Maintenance windows: when who works on what, so that the work is not taken for a failure.
//
// Operators drain a host or pull a cable on purpose.  Probes cannot tell that from a failure, so
// whoever plans the work says so.  An incident that lies in windows is recorded as planned and
// alerts nobody; one that begins before its window, touches anything outside, or lasts longer than
// the window is real.
// Pure values; thread-safe.
#pragma once

#include "detectors/incident/maintenance_window.h"
#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Unix time of "2026-11-30T08:00:00Z"; nothing else is understood.
std::optional<std::int64_t> unix_s_from_utc(std::string_view text);

/// Counts windows that are given in UTC from the start of the run, and gives every one its end.
std::vector<MaintenanceWindow> anchored(std::vector<MaintenanceWindow> windows,
                                        std::int64_t epoch_unix_ns);

/// Is `name` what the pattern says: equal, or with the same beginning where the pattern ends in
/// '*'?
bool name_matches(std::string_view pattern, std::string_view name);

class MaintenanceCalendar final {
 public:
  MaintenanceCalendar() = default;

  /// @param windows anchored
  /// @param settle so long after the end of a window symptoms of it may still be seen
  MaintenanceCalendar(std::vector<MaintenanceWindow> windows, Duration settle)
      : windows_(std::move(windows)), settle_(settle) {}

  bool empty() const { return windows_.empty(); }

  /// Does the incident lie in windows, with all of its candidates or with all of its pairs?
  bool planned(const Incident& incident,
               const EndpointDirectory& endpoints,
               const ComponentTable& components,
               const PairTable& pairs) const;

 private:
  bool holds(const MaintenanceWindow& window, const Incident& incident) const;

  std::vector<MaintenanceWindow> windows_;
  Duration settle_{};
};

}  // namespace bonescan
