// An incident as an alert of Prometheus' Alertmanager (API v2, POST /api/v2/alerts).
//
// Alertmanager knows an alert by its labels, so what an operator routes by is a label: severity,
// layer, kind, component, tasks; what is told is an annotation.  A planned incident is no alert.
// Pure.
#pragma once

#include "tools/report/incident_json.h"

#include <optional>
#include <string>

namespace bonescan {

/// @param open_until when an open incident may be taken for over if nobody repeats it; absent:
/// Alertmanager's own resolve_timeout
/// @param generator_url where to read more; empty: left out
/// @returns null for a planned incident
nlohmann::ordered_json alertmanager_alert(const IncidentNames& names,
                                          const Incident& incident,
                                          std::optional<Time> open_until,
                                          const std::string& generator_url);

}  // namespace bonescan
