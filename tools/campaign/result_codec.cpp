#include "tools/campaign/result_codec.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using Json = nlohmann::json;

// The fields of each row, once for both ways; the key of a run is sent with the run alone.

template <class Row, class Visit>
void run_fields(Row& run, Visit&& visit) {
  visit(run.cell, run.seed, run.scheme, run.fingerprint, run.simulated_s, run.wall_s);
  visit(run.rnic_days, run.probes, run.sweep_s, run.false_positives, run.duplicates, run.failure);
}

template <class Row, class Visit>
void fault_fields(Row& fault, Visit&& visit) {
  visit(fault.fault, fault.kind, fault.component, fault.symptom, fault.visible);
  visit(fault.host_visible, fault.status, fault.gray, fault.injected_s, fault.time_zero_s);
  visit(fault.time_to_detect_s, fault.information_bound_s, fault.loss_ratio);
  visit(fault.latency_factor, fault.placement, fault.top1_credit, fault.set_size);
}

template <class Row, class Visit>
void incident_fields(Row& incident, Visit&& visit) {
  visit(incident.incident, incident.status, incident.fault, incident.opened_s, incident.layer);
  visit(incident.symptom, incident.component, incident.candidates, incident.pairs, incident.stage);
}

template <class T>
Json value_json(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

template <class T>
Json value_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
void take(const Json& item, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(item.get<int>());
  } else {
    value = item.get<T>();
  }
}

template <class T>
void take(const Json& item, std::optional<T>& value) {
  value = item.is_null() ? std::nullopt : std::optional(item.get<T>());
}

/// Puts the fields of a row at the end of an array.
struct Packer {
  Json& array;

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (array.push_back(value_json(fields)), ...);
  }
};

/// Takes the items of an array one after another.
struct Unpacker {
  const Json& array;
  std::size_t index = 0;

  template <class... Fields>
  void operator()(Fields&... fields) {
    (take(array.at(index++), fields), ...);
  }
};

Json run_json(const CampaignRun& run) {
  Json array = Json::array();
  run_fields(run, Packer{array});
  return array;
}

CampaignRun run_from(const Json& json) {
  CampaignRun run;
  run_fields(run, Unpacker{json});
  return run;
}

Json fault_json(const CampaignFault& fault) {
  Json array = Json::array();
  fault_fields(fault, Packer{array});
  return array;
}

CampaignFault fault_from(const Json& json) {
  CampaignFault fault;
  fault_fields(fault, Unpacker{json});
  return fault;
}

Json incident_json(const CampaignIncident& incident) {
  Json array = Json::array();
  incident_fields(incident, Packer{array});
  return array;
}

CampaignIncident incident_from(const Json& json) {
  CampaignIncident incident;
  incident_fields(incident, Unpacker{json});
  return incident;
}

CampaignResult result_from(const Json& json) {
  CampaignResult result;
  result.run = run_from(json.at(0));
  // The key is sent once.
  const auto mark = [&result](auto row) {
    row.cell = result.run.cell;
    row.seed = result.run.seed;
    row.scheme = result.run.scheme;
    return row;
  };
  for (const Json& fault : json.at(1)) {
    result.faults.push_back(mark(fault_from(fault)));
  }
  for (const Json& incident : json.at(2)) {
    result.incidents.push_back(mark(incident_from(incident)));
  }
  return result;
}

}  // namespace

std::string encode_report(const CrewReport& report) {
  Json results = Json::array();
  for (const CampaignResult& result : report.results) {
    Json faults = Json::array();
    for (const CampaignFault& fault : result.faults) {
      faults.push_back(fault_json(fault));
    }
    Json incidents = Json::array();
    for (const CampaignIncident& incident : result.incidents) {
      incidents.push_back(incident_json(incident));
    }
    results.push_back(Json::array({run_json(result.run), std::move(faults), std::move(incidents)}));
  }
  std::string bytes;
  Json::to_msgpack(Json::array({report.task, std::move(results)}), bytes);
  return bytes;
}

Expected<CrewReport> decode_report(std::string_view bytes) {
  try {
    const Json json = Json::from_msgpack(bytes.begin(), bytes.end());
    CrewReport report{json.at(0).get<std::size_t>(), {}};
    for (const Json& result : json.at(1)) {
      report.results.push_back(result_from(result));
    }
    return report;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalid, std::string("results of another process: ") + error.what());
  }
}

}  // namespace bonescan
