// One incident as JSON: the form that incidents.jsonl, `bonescan incidents --json` and people's
// scripts share.  tools/report/incident.schema.json describes it.
//
// Times are UTC; a simulated run begins at 1970-01-01.  schema_version changes when a field changes
// its meaning; fields may be added.  Pure.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan {

inline constexpr int kIncidentSchemaVersion = 1;
inline constexpr std::size_t kMaxPairsInLine = 64;  ///< `pair_count` counts all

/// What the ids of an incident mean.  REQUIRES: all outlive it.
struct IncidentNames {
  const EndpointDirectory& endpoints;
  const ComponentTable& components;
  const PairTable& pairs;
  std::int64_t epoch_unix_ns = 0;
};

/// "2026-11-29T19:22:35.123456789Z"
std::string utc_text(std::int64_t unix_ns);

/// @param state "open", "updated", "reopened", "closed"
nlohmann::ordered_json incident_json(const IncidentNames& names,
                                     const Incident& incident,
                                     std::string_view state);

/// The tasks at either end of its pairs, by name, separated by commas.
std::string tasks_text(const IncidentNames& names, const Incident& incident);

}  // namespace bonescan
