#include "tools/report/incident_json.h"

#include "tools/report/report_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <set>

namespace bonescan {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// The first symptom that anybody noticed: an incident may open some time after it.
Time onset_of(const Incident& incident) {
  Time onset = incident.opened;
  for (const Evidence& evidence : incident.evidence) {
    onset = std::min(onset, evidence.at);
  }
  return onset;
}

Json component_json(const ComponentTable& components, ComponentId id) {
  if (!id.valid() || id.index() >= components.size()) {
    return nullptr;
  }
  const Component& component = components[id];
  return {{"type", to_string(component.type)}, {"id", component.name}};
}

std::set<std::string> tasks_of(const IncidentNames& names, const Incident& incident) {
  std::set<std::string> tasks;
  for (const PairId pair : incident.pairs) {
    tasks.insert(names.endpoints[names.pairs[pair].source].task);
    tasks.insert(names.endpoints[names.pairs[pair].target].task);
  }
  return tasks;
}

void add_pairs(const IncidentNames& names, const Incident& incident, Json& json) {
  std::set<std::string> hosts;
  json["pair_count"] = incident.pairs.size();
  json["pairs"] = Json::array();
  for (std::size_t i = 0; i < incident.pairs.size(); ++i) {
    const Pair& pair = names.pairs[incident.pairs[i]];
    const Endpoint& source = names.endpoints[pair.source];
    const Endpoint& target = names.endpoints[pair.target];
    hosts.insert({source.host, target.host});
    if (i < kMaxPairsInLine) {
      json["pairs"].push_back({{"source", source.name}, {"target", target.name}});
    }
  }
  json["tasks"] = tasks_of(names, incident);
  json["blast_radius"] = {{"pairs", incident.pairs.size()}, {"hosts", hosts.size()}};
}

}  // namespace

std::string utc_text(std::int64_t unix_ns) {
  const std::int64_t ns = (unix_ns % kNsPerSecond + kNsPerSecond) % kNsPerSecond;
  const std::time_t whole = (unix_ns - ns) / kNsPerSecond;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(whole), ns);
}

std::string tasks_text(const IncidentNames& names, const Incident& incident) {
  return fmt::format("{}", fmt::join(tasks_of(names, incident), ","));
}

Json incident_json(const IncidentNames& names, const Incident& incident, std::string_view state) {
  const auto utc = [&](Time at) { return utc_text(names.epoch_unix_ns + nanoseconds(at)); };
  Json json;
  json["schema_version"] = kIncidentSchemaVersion;
  json["id"] = incident_id_text(incident.id);
  json["state"] = state;
  json["severity"] = to_string(incident.severity);
  json["planned"] = incident.planned;
  json["episodes"] = incident.episodes;
  json["detected_at"] = utc(incident.opened);
  json["onset_estimate"] = utc(onset_of(incident));
  json["last_seen"] = utc(incident.last_seen);
  json["closed_at"] = incident.closed ? Json(utc(*incident.closed)) : Json(nullptr);
  json["layer"] = to_string(incident.layer);
  json["component"] = incident.candidates.empty()
                          ? Json(nullptr)
                          : component_json(names.components, incident.candidates.front().component);
  json["kind"] = incident.kind;
  json["symptom"] = to_string(incident.symptom);
  json["confidence"] = json_number(incident.confidence);
  json["action"] = incident.action;
  json["evidence"] = Json::array();
  for (const Evidence& evidence : incident.evidence) {
    json["evidence"].push_back({{"at", utc(evidence.at)},
                                {"stage", evidence.stage},
                                {"clear", evidence.clear},
                                {"text", evidence.text}});
  }
  json["alternatives"] = Json::array();
  for (std::size_t i = 1; i < incident.candidates.size(); ++i) {
    json["alternatives"].push_back(
        component_json(names.components, incident.candidates[i].component));
  }
  json["candidates"] = Json::array();
  for (const Candidate& candidate : incident.candidates) {
    Json row = component_json(names.components, candidate.component);
    if (!row.is_null()) {
      row["score"] = json_number(candidate.score);
      json["candidates"].push_back(std::move(row));
    }
  }
  add_pairs(names, incident, json);
  return json;
}

}  // namespace bonescan
