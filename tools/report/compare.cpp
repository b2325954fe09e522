#include "tools/report/compare.h"

#include "tools/report/format.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace bonescan {
namespace {

using Figures = std::vector<std::pair<std::string_view, std::optional<double>>>;

Figures figures_of(const RunData& run, const Evaluation& evaluation) {
  const DetectionScore detection = evaluation.detection.value_or(DetectionScore{});
  const LocalizationScore localization = evaluation.localization.value_or(LocalizationScore{});
  const auto count = [&](std::size_t value) {
    return evaluation.detection ? std::optional(static_cast<double>(value)) : std::nullopt;
  };
  return {
      {"faults", count(detection.faults)},
      {"true_positives", count(detection.true_positives)},
      {"false_positives", count(detection.false_positives)},
      {"false_negatives", count(detection.false_negatives)},
      {"duplicates", count(detection.duplicates)},
      {"precision", detection.precision.value},
      {"recall", detection.recall.value},
      {"recall_visible", detection.recall_visible.value},
      {"time_to_detect_mean_s", detection.time_to_detect.mean_s},
      {"time_to_detect_median_s", detection.time_to_detect.median_s},
      {"time_to_detect_p95_s", detection.time_to_detect.p95_s},
      {"false_alarms_per_day", detection.false_alarms_per_day},
      {"localization_accuracy", localization.accuracy.value},
      {"localization_top1", localization.top1},
      {"incidents", static_cast<double>(run.incidents.size())},
      {"probes_sent", static_cast<double>(run.result.probes_sent)},
      {"simulated_s", exact_seconds(run.result.reached)},
  };
}

/// Name, kind, component and time of injection: what makes a fault the same trial in two runs.
using Trial = std::tuple<std::string, std::string, std::string, Time>;

std::map<Trial, FaultStatus> statuses_by_trial(const RunData& run, const Evaluation& evaluation) {
  std::map<Trial, FaultStatus> statuses;
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    const TruthRow& truth = run.truth[f];
    statuses.emplace(Trial(truth.name, truth.kind, truth.component, truth.injected),
                     evaluation.faults[f].status);
  }
  return statuses;
}

void compare_faults(const std::map<Trial, FaultStatus>& first,
                    const std::map<Trial, FaultStatus>& second,
                    Comparison& comparison) {
  for (const auto& [trial, status] : first) {
    const auto other = second.find(trial);
    if (other == second.end() || !is_decided(status) || !is_decided(other->second)) {
      continue;
    }
    const bool in_first = status == FaultStatus::kDetected;
    const bool in_second = other->second == FaultStatus::kDetected;
    if (in_first == in_second) {
      ++(in_first ? comparison.both : comparison.neither);
    } else {
      (in_first ? comparison.only_first : comparison.only_second).push_back(std::get<0>(trial));
    }
  }
}

std::string figure_text(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string_view same_text(bool same) {
  return same ? "same" : "DIFFERENT";
}

}  // namespace

Comparison compare_runs(const RunData& first_run,
                        const Evaluation& first,
                        const RunData& second_run,
                        const Evaluation& second) {
  Comparison comparison;
  comparison.same_scenario = first_run.info.scenario_hash == second_run.info.scenario_hash;
  comparison.same_seed = first_run.info.seed == second_run.info.seed;
  comparison.same_build = first_run.info.version == second_run.info.version &&
                          first_run.info.commit == second_run.info.commit &&
                          first_run.info.compiler == second_run.info.compiler &&
                          first_run.info.preset == second_run.info.preset;
  if (!first_run.result.fingerprint.empty() && !second_run.result.fingerprint.empty()) {
    comparison.same_fingerprint = first_run.result.fingerprint == second_run.result.fingerprint;
  }
  const Figures of_second = figures_of(second_run, second);
  for (const auto& [name, value] : figures_of(first_run, first)) {
    MetricComparison metric;
    metric.name = name;
    metric.first = value;
    metric.second = of_second[comparison.metrics.size()].second;
    if (metric.first && metric.second) {
      metric.difference = *metric.second - *metric.first;
    }
    comparison.metrics.push_back(std::move(metric));
  }
  if (first.detection && second.detection) {
    compare_faults(
        statuses_by_trial(first_run, first), statuses_by_trial(second_run, second), comparison);
    if (comparison.same_seed) {
      comparison.mcnemar_p =
          mcnemar_exact_p(comparison.only_first.size(), comparison.only_second.size());
    }
  }
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format(
      "scenario {}, seed {}, build {}, fingerprint {}\n\n",
      same_text(comparison.same_scenario),
      same_text(comparison.same_seed),
      same_text(comparison.same_build),
      comparison.same_fingerprint ? same_text(*comparison.same_fingerprint) : "unknown");
  text += fmt::format("{:<26}{:>14}{:>14}{:>14}\n", "", "first", "second", "difference");
  for (const MetricComparison& metric : comparison.metrics) {
    text += fmt::format("{:<26}{:>14}{:>14}{:>14}\n",
                        metric.name,
                        figure_text(metric.first),
                        figure_text(metric.second),
                        metric.difference ? fmt::format("{:+.4g}", *metric.difference) : "-");
  }
  text += fmt::format("\nfound by both {}, by neither {}\n", comparison.both, comparison.neither);
  text += fmt::format("found by the first only: {}\n", list_text(comparison.only_first));
  text += fmt::format("found by the second only: {}\n", list_text(comparison.only_second));
  text += comparison.mcnemar_p ? fmt::format("exact McNemar p = {:.4f}\n", *comparison.mcnemar_p)
                               : "no paired test: it needs the truth and one seed\n";
  return text;
}

Json comparison_json(const Comparison& comparison) {
  Json metrics = Json::array();
  for (const MetricComparison& metric : comparison.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"first", json_number(metric.first)},
                       {"second", json_number(metric.second)},
                       {"difference", json_number(metric.difference)}});
  }
  return {{"same_scenario", comparison.same_scenario},
          {"same_seed", comparison.same_seed},
          {"same_build", comparison.same_build},
          {"same_fingerprint",
           comparison.same_fingerprint ? Json(*comparison.same_fingerprint) : Json(nullptr)},
          {"metrics", std::move(metrics)},
          {"faults",
           {{"both", comparison.both},
            {"neither", comparison.neither},
            {"only_first", comparison.only_first},
            {"only_second", comparison.only_second}}},
          {"mcnemar_p", json_number(comparison.mcnemar_p)}};
}

}  // namespace bonescan
