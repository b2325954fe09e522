#include "tools/study/detection/detection_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

using nlohmann::ordered_json;

ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(std::round(value * 1e4) / 1e4) : ordered_json();
}

ordered_json to_json(const TrialSeries& series, double missed_s) {
  if (series.outcomes.empty()) {
    return {};
  }
  return {{"trials", series.outcomes.size()},
          {"found", series.found()},
          {"mean_s", finite(series.mean_s(missed_s))},
          {"median_s", finite(series.quantile_s(0.5))},
          {"p95_s", finite(series.quantile_s(0.95))},
          {"mean_probes_sent",
           series.found() == 0 ? ordered_json() : finite(series.mean_probes_sent())},
          {"mean_probes", series.found() == 0 ? ordered_json() : finite(series.mean_probes())},
          {"false_alarms_before", series.false_alarms}};
}

ordered_json to_json(const DelayResult& result, const std::vector<DetectorEntry>& entries) {
  const double missed_s = std::max(60.0, result.one.plan.watch_s);
  ordered_json detectors;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    detectors[entries[i].name] = to_json(result.series[i], missed_s);
  }
  return {{"group", result.one.group},
          {"fault", result.one.name},
          {"world", to_string(result.one.plan.fleet.world)},
          {"sweep_s", result.one.plan.fleet.sweep_s},
          {"counter_phase", result.one.plan.fleet.counter_phase},
          {"bound_s", finite(result.bound.delay_s)},
          {"bound_probes", finite(result.bound.probes)},
          {"required", result.one.bound.wanted()},
          {"met", result.holds()},
          {"bonescan", to_json(result.ours, missed_s)},
          {"paper", to_json(result.paper, missed_s)},
          {"detectors", detectors}};
}

ordered_json to_json(const NullResult& result, const std::vector<DetectorEntry>& entries) {
  ordered_json incidents;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    incidents[entries[i].name] = result.series[i].incidents;
  }
  return {{"world", to_string(result.world)},
          {"visits", result.series.front().visits},
          {"incidents", incidents}};
}

}  // namespace

std::string detection_json(const DetectionResults& results, const DetectionOrigin& origin) {
  ordered_json json = {{"command", origin.study.command},
                       {"commit", origin.study.commit},
                       {"seeds", results.parity == SeedParity::kOdd ? "odd" : "even"},
                       {"met", results.hold()}};
  for (const DelayResult& result : results.delays) {
    json["delays"].push_back(to_json(result, results.entries));
  }
  for (const DelayResult& result : results.drifts) {
    json["drifts"].push_back(to_json(result, results.slow_entries));
  }
  for (const NullResult& result : results.nulls) {
    json["nulls"].push_back(to_json(result, results.entries));
  }
  for (const RareAlarms& one : results.rare) {
    json["false_alarms_a_day"].push_back({{"rule", one.rule},
                                          {"allowed", one.budget},
                                          {"measured", finite(one.rate)},
                                          {"standard_error", finite(one.error)},
                                          {"samples", one.samples}});
  }
  for (const NullCheck& check : results.checks) {
    json["null_checks"].push_back({{"world", to_string(check.world)},
                                   {"statistic", check.statistic},
                                   {"probability", check.probability},
                                   {"fitted", check.fitted},
                                   {"evaluations", check.evaluations},
                                   {"exceedances", check.exceedances},
                                   {"met", check.holds()}});
  }
  for (const OperatingPoint& point : results.operating) {
    json["operating"].push_back({{"detector", point.curve},
                                 {point.setting, point.value},
                                 {"found_x1.25", finite(point.found_small)},
                                 {"found_x1.5", finite(point.found_middle)},
                                 {"found_x7.5", finite(point.found_large)},
                                 {"false_alarms", point.false_alarms},
                                 {"fleet_days", finite(point.fleet_days)}});
  }
  for (const AblationResult& result : results.ablations) {
    ordered_json row = {{"off", result.name}, {"false_alarms", result.null.incidents}};
    for (std::size_t i = 0; i < result.series.size(); ++i) {
      row[results.ablation_cases[i]] = to_json(result.series[i], 60.0);
    }
    json["ablations"].push_back(row);
  }
  for (const PlacingResult& one : results.placing) {
    json["placing"].push_back({{"fault", one.fault},
                               {"lists", one.lists},
                               {"localizer", one.localizer},
                               {"trials", one.trials},
                               {"alone", one.alone},
                               {"among_others", one.held},
                               {"nobody", one.silent},
                               {"others", one.others},
                               {"pairs", finite(one.pairs)},
                               {"ambiguous_links", finite(one.ambiguous)}});
  }
  return json.dump(1) + "\n";
}

}  // namespace bonescan
