#include "tools/report/report_json.h"

#include "tools/report/format.h"
#include "tools/report/skeleton_report.h"

#include <cmath>
#include <string>

namespace bonescan {
namespace {

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json json_time(const std::optional<Time>& time) {
  return time ? Json(exact_seconds(*time)) : Json(nullptr);
}

Json json_interval(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json json_delay(const TimeToDetect& delay) {
  return {{"mean", json_number(delay.mean_s)},
          {"median", json_number(delay.median_s)},
          {"p95", json_number(delay.p95_s)},
          {"mean_with_misses", json_number(delay.mean_with_misses_s)},
          {"information_bound_mean", json_number(delay.information_bound_mean_s)}};
}

Json json_strata(const std::vector<StratumScore>& strata, const char* name_key) {
  Json rows = Json::array();
  for (const StratumScore& stratum : strata) {
    rows.push_back({{name_key, stratum.name},
                    {"faults", stratum.faults},
                    {"faults_visible", stratum.visible},
                    {"detected", stratum.recall.successes},
                    {"recall", json_number(stratum.recall.value)},
                    {"recall_ci95", json_interval(stratum.recall.wilson95)},
                    {"placed", stratum.placed.successes},
                    {"placed_ratio", json_number(stratum.placed.value)},
                    {"placed_ci95", json_interval(stratum.placed.wilson95)},
                    {"time_to_detect_s", json_delay(stratum.time_to_detect)}});
  }
  return rows;
}

Json json_restated(const RestatedPrecision& restated) {
  return {{"faults_per_day", restated.faults_per_day},
          {"precision", json_number(restated.value)},
          {"precision_low95", json_number(restated.low95)}};
}

Json json_prevalence(const DetectionScore& score) {
  Json prevalence = {{"rnics", kReferenceRnics}};
  prevalence.update(json_restated(score.restated));
  prevalence["false_alarms_per_day"] = json_number(score.false_alarms_per_reference_day);
  prevalence["curve"] = Json::array();
  for (const RestatedPrecision& point : score.curve) {
    prevalence["curve"].push_back(json_restated(point));
  }
  return prevalence;
}

Json json_detection(const std::optional<DetectionScore>& detection) {
  if (!detection) {
    return nullptr;
  }
  const DetectionScore& score = *detection;
  return {{"faults", score.faults},
          {"faults_visible", score.visible},
          {"undecided", score.undecided},
          {"true_positives", score.true_positives},
          {"false_positives", score.false_positives},
          {"false_negatives", score.false_negatives},
          {"duplicates", score.duplicates},
          {"merged", score.merged},
          {"late", score.late},
          {"agent_deaths", score.agent_deaths},
          {"planned", score.planned},
          {"hidden_by_agent_death", score.hidden_by_agent_death},
          {"undecided_incidents", score.undecided_incidents},
          {"precision", json_number(score.precision.value)},
          {"precision_ci95", json_interval(score.precision.wilson95)},
          {"precision_claim_ci95", json_interval(score.precision.clopper_pearson95)},
          {"recall", json_number(score.recall.value)},
          {"recall_visible", json_number(score.recall_visible.value)},
          {"recall_host_visible", json_number(score.recall_host_visible.value)},
          {"recall_ci95", json_interval(score.recall.wilson95)},
          {"recall_claim_ci95", json_interval(score.recall.clopper_pearson95)},
          {"time_to_detect_s", json_delay(score.time_to_detect)},
          {"false_alarms_per_day", json_number(score.false_alarms_per_day)},
          {"false_alarms_per_day_upper95", json_number(score.false_alarms_per_day_upper95)},
          {"precision_at_prevalence", json_prevalence(score)},
          {"by_kind", json_strata(score.by_kind, "kind")},
          {"by_symptom", json_strata(score.by_symptom, "symptom")}};
}

Json json_localization(const std::optional<LocalizationScore>& localization) {
  if (!localization) {
    return nullptr;
  }
  return {{"localized", localization->localized},
          {"correct", localization->correct},
          {"abstained", localization->abstained},
          {"accuracy", json_number(localization->accuracy.value)},
          {"accuracy_ci95", json_interval(localization->accuracy.wilson95)},
          {"set_size_mean", json_number(localization->set_size_mean)},
          {"top1", json_number(localization->top1)}};
}

Json json_faults(const RunData& run, const Evaluation& evaluation) {
  if (!evaluation.detection) {
    return nullptr;
  }
  Json rows = Json::array();
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    const TruthRow& truth = run.truth[f];
    const FaultOutcome& outcome = evaluation.faults[f];
    const Incident* incident = outcome.incident ? &run.incidents[*outcome.incident] : nullptr;
    rows.push_back(
        {{"id", truth.id},
         {"name", truth.name},
         {"kind", truth.kind},
         {"layer", to_string(truth.layer)},
         {"component", {{"type", to_string(truth.component_type)}, {"name", truth.component}}},
         {"symptom", to_string(truth.symptom)},
         {"injected_s", exact_seconds(truth.injected)},
         {"ended_s", json_time(truth.ended)},
         {"time_zero_s", json_time(truth.time_zero)},
         {"visible", truth.visible},
         {"loss_ratio", json_number(truth.loss_ratio)},
         {"latency_factor", json_number(truth.latency_factor)},
         {"pairs_affected", truth.pairs.size()},
         {"information_bound_s", json_number(truth.information_bound_s)},
         {"deadline_s", exact_seconds(outcome.deadline)},
         {"gray", outcome.gray},
         {"status", to_string(outcome.status)},
         {"detected_s",
          incident != nullptr ? Json(exact_seconds(incident->opened)) : Json(nullptr)},
         {"time_to_detect_s", json_number(outcome.time_to_detect_s)},
         {"incident", incident != nullptr ? Json(incident_id_text(incident->id)) : Json(nullptr)},
         {"placement", to_string(outcome.placement.placement)},
         {"set_size", outcome.placement.set_size},
         {"class_size", outcome.placement.class_size},
         {"hidden_by_agent_death", outcome.hidden_by_agent_death}});
  }
  return rows;
}

Json json_component(const RunData& run, ComponentId id) {
  const Component* component = find_component(run.components, id);
  if (component == nullptr) {
    return nullptr;
  }
  return {{"type", to_string(component->type)}, {"id", id.index()}, {"name", component->name}};
}

Json json_candidates(const RunData& run, const Incident& incident) {
  Json rows = Json::array();
  for (const Candidate& candidate : incident.candidates) {
    Json row = json_component(run, candidate.component);
    if (!row.is_null()) {
      row["score"] = json_number(candidate.score);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json json_incident(const RunData& run, const Evaluation& evaluation, std::size_t i) {
  const Incident& incident = run.incidents[i];
  const IncidentOutcome& outcome = evaluation.incidents[i];
  Json pairs = Json::array();
  for (const PairId pair : incident.pairs) {
    if (run.pairs.contains(pair)) {
      pairs.push_back({{"source", endpoint_text(run, run.pairs[pair].source)},
                       {"target", endpoint_text(run, run.pairs[pair].target)}});
    }
  }
  Json evidence = Json::array();
  for (const Evidence& line : incident.evidence) {
    evidence.push_back({{"at_s", exact_seconds(line.at)},
                        {"stage", line.stage},
                        {"clear", line.clear},
                        {"text", line.text}});
  }
  const bool named = !incident.candidates.empty();
  return {{"id", incident_id_text(incident.id)},
          {"opened_s", exact_seconds(incident.opened)},
          {"closed_s", json_time(incident.closed)},
          {"last_seen_s", exact_seconds(incident.last_seen)},
          {"layer", to_string(incident.layer)},
          {"symptom", to_string(incident.symptom)},
          {"component",
           named ? json_component(run, incident.candidates.front().component) : Json(nullptr)},
          {"candidates", json_candidates(run, incident)},
          {"kind", incident.kind},
          {"confidence", json_number(incident.confidence)},
          {"severity", to_string(incident.severity)},
          {"episodes", incident.episodes},
          {"planned", incident.planned},
          {"action", text_or_null(incident.action)},
          {"pairs", std::move(pairs)},
          {"evidence", std::move(evidence)},
          {"status", evaluation.detection ? Json(to_string(outcome.status)) : Json(nullptr)},
          {"fault", outcome.fault ? Json(run.truth[*outcome.fault].name) : Json(nullptr)},
          {"merged_into",
           outcome.merged_into ? Json(incident_id_text(run.incidents[*outcome.merged_into].id))
                               : Json(nullptr)},
          {"late", outcome.late}};
}

Json json_matching(const MatchingRules& rules) {
  return {{"deadline_s", exact_seconds(rules.abrupt_deadline)},
          {"gray_bound_factor", rules.gray_bound_factor},
          {"merge_gap_s", exact_seconds(rules.merge_gap)},
          {"grace_before_s", 0},
          {"missed_counts_as_s", rules.missed_counts_as_s}};
}

}  // namespace

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json report_json(const RunData& run, const Evaluation& evaluation) {
  const RunInfo& info = run.info;
  const RunResult& result = run.result;
  Json incidents = Json::array();
  for (std::size_t i = 0; i < run.incidents.size(); ++i) {
    incidents.push_back(json_incident(run, evaluation, i));
  }
  Json skeleton = {{"rnics", result.rnics},
                   {"pairs_full_mesh", result.pairs_full_mesh},
                   {"pairs_same_rail", result.pairs_same_rail},
                   {"pairs_probed", result.pairs_probed},
                   {"destinations_per_rnic_mean", json_number(result.destinations_per_rnic_mean)},
                   {"sweep_s", json_number(result.sweep_s)}};
  if (!run.skeletons.empty()) {
    skeleton["changes"] = skeleton_json(run);
  }
  return {{"schema_version", kReportSchemaVersion},
          {"complete", result.complete},
          {"mode", info.mode},
          {"truth_available", info.truth_available},
          {"scenario", {{"name", info.scenario_name}, {"hash", info.scenario_hash}}},
          {"seed", info.seed},
          {"build",
           {{"version", info.version},
            {"commit", info.commit},
            {"compiler", info.compiler},
            {"preset", info.preset}}},
          {"fingerprint", text_or_null(result.fingerprint)},
          {"simulated_s", exact_seconds(result.reached)},
          {"wall_s", result.complete ? json_number(result.wall_s) : Json(nullptr)},
          {"probes",
           {{"sent", result.probes_sent},
            {"lost", result.probes_lost},
            {"local_errors", result.probes_local_errors}}},
          {"skeleton", std::move(skeleton)},
          {"matching", json_matching(evaluation.matching)},
          {"detection", json_detection(evaluation.detection)},
          {"localization", json_localization(evaluation.localization)},
          {"faults", json_faults(run, evaluation)},
          {"incidents", std::move(incidents)}};
}

}  // namespace bonescan
