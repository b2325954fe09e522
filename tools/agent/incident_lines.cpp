#include "tools/agent/incident_lines.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <set>

namespace bonescan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// The first symptom that anybody noticed: an incident may open some time after it.
Time onset_of(const Incident& incident) {
  Time onset = incident.opened;
  for (const Evidence& evidence : incident.evidence) {
    onset = std::min(onset, evidence.at);
  }
  return onset;
}

Json component_json(const Component& component) {
  return {{"type", to_string(component.type)}, {"id", component.name}};
}

}  // namespace

std::string utc_text(std::int64_t unix_ns) {
  const std::int64_t ns = (unix_ns % kNsPerSecond + kNsPerSecond) % kNsPerSecond;
  const std::time_t whole = (unix_ns - ns) / kNsPerSecond;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(whole), ns);
}

std::string IncidentLines::line(std::size_t index,
                                const Incident& incident,
                                const PairTable& pairs) {
  if (index >= told_.size()) {
    told_.resize(index + 1, false);
  }
  const bool is_new = !told_[index];
  told_[index] = true;
  Json json;
  json["schema_version"] = kIncidentSchemaVersion;
  json["id"] = incident_id_text(incident.id);
  json["state"] = incident.closed ? "closed" : is_new ? "open" : "updated";
  json["detected_at"] = utc(incident.opened);
  json["onset_estimate"] = utc(onset_of(incident));
  json["last_seen"] = utc(incident.last_seen);
  json["closed_at"] = incident.closed ? Json(utc(*incident.closed)) : Json(nullptr);
  json["layer"] = to_string(incident.layer);
  json["component"] = incident.candidates.empty()
                          ? Json(nullptr)
                          : component_json(components_[incident.candidates.front().component]);
  json["kind"] = incident.kind;
  json["symptom"] = to_string(incident.symptom);
  json["confidence"] = incident.confidence;
  json["evidence"] = Json::array();
  for (const Evidence& evidence : incident.evidence) {
    json["evidence"].push_back({{"at", utc(evidence.at)},
                                {"stage", evidence.stage},
                                {"clear", evidence.clear},
                                {"text", evidence.text}});
  }
  json["alternatives"] = Json::array();
  for (std::size_t i = 1; i < incident.candidates.size(); ++i) {
    json["alternatives"].push_back(component_json(components_[incident.candidates[i].component]));
  }
  std::set<std::string> hosts;
  json["pair_count"] = incident.pairs.size();
  json["pairs"] = Json::array();
  for (std::size_t i = 0; i < incident.pairs.size(); ++i) {
    const Pair& pair = pairs[incident.pairs[i]];
    const Endpoint& source = endpoints_[pair.source];
    const Endpoint& target = endpoints_[pair.target];
    hosts.insert({source.host, target.host});
    if (i < kMaxPairsInLine) {
      json["pairs"].push_back({{"source", source.name}, {"target", target.name}});
    }
  }
  json["blast_radius"] = {{"pairs", incident.pairs.size()}, {"hosts", hosts.size()}};
  // Names come from the configuration, texts from tools: anything may be in them.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bonescan
