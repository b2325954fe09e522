#include "tools/campaign/result_codec.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using Json = nlohmann::json;

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Takes the items of an array one after another.
class Items final {
 public:
  explicit Items(const Json& array) : array_(array) {}

  const Json& next() { return array_.at(index_++); }

  template <class T>
  void into(T& value) {
    value = next().get<T>();
  }

  template <class T>
  void into(std::optional<T>& value) {
    const Json& item = next();
    value = item.is_null() ? std::nullopt : std::optional(item.get<T>());
  }

  template <class Enum>
  void into_enum(Enum& value) {
    value = static_cast<Enum>(next().get<int>());
  }

 private:
  const Json& array_;
  std::size_t index_ = 0;
};

Json run_json(const CampaignRun& run) {
  return Json::array({run.cell,
                      run.seed,
                      run.scheme,
                      run.fingerprint,
                      run.simulated_s,
                      run.wall_s,
                      run.rnic_days,
                      run.probes,
                      run.sweep_s,
                      run.false_positives,
                      run.duplicates,
                      run.failure});
}

CampaignRun run_from(const Json& json) {
  CampaignRun run;
  Items items(json);
  items.into(run.cell);
  items.into(run.seed);
  items.into(run.scheme);
  items.into(run.fingerprint);
  items.into(run.simulated_s);
  items.into(run.wall_s);
  items.into(run.rnic_days);
  items.into(run.probes);
  items.into(run.sweep_s);
  items.into(run.false_positives);
  items.into(run.duplicates);
  items.into(run.failure);
  return run;
}

Json fault_json(const CampaignFault& fault) {
  return Json::array({fault.fault,
                      fault.kind,
                      fault.component,
                      static_cast<int>(fault.symptom),
                      fault.visible,
                      fault.host_visible,
                      static_cast<int>(fault.status),
                      fault.gray,
                      fault.injected_s,
                      optional_json(fault.time_zero_s),
                      optional_json(fault.time_to_detect_s),
                      fault.information_bound_s,
                      fault.loss_ratio,
                      fault.latency_factor,
                      static_cast<int>(fault.placement),
                      fault.top1_credit,
                      fault.set_size});
}

CampaignFault fault_from(const Json& json) {
  CampaignFault fault;
  Items items(json);
  items.into(fault.fault);
  items.into(fault.kind);
  items.into(fault.component);
  items.into_enum(fault.symptom);
  items.into(fault.visible);
  items.into(fault.host_visible);
  items.into_enum(fault.status);
  items.into(fault.gray);
  items.into(fault.injected_s);
  items.into(fault.time_zero_s);
  items.into(fault.time_to_detect_s);
  items.into(fault.information_bound_s);
  items.into(fault.loss_ratio);
  items.into(fault.latency_factor);
  items.into_enum(fault.placement);
  items.into(fault.top1_credit);
  items.into(fault.set_size);
  return fault;
}

Json incident_json(const CampaignIncident& incident) {
  return Json::array({incident.incident,
                      static_cast<int>(incident.status),
                      optional_json(incident.fault),
                      incident.opened_s,
                      static_cast<int>(incident.layer),
                      static_cast<int>(incident.symptom),
                      incident.component,
                      incident.candidates,
                      incident.pairs,
                      incident.stage});
}

CampaignIncident incident_from(const Json& json) {
  CampaignIncident incident;
  Items items(json);
  items.into(incident.incident);
  items.into_enum(incident.status);
  items.into(incident.fault);
  items.into(incident.opened_s);
  items.into_enum(incident.layer);
  items.into_enum(incident.symptom);
  items.into(incident.component);
  items.into(incident.candidates);
  items.into(incident.pairs);
  items.into(incident.stage);
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
