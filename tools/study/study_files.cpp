#include "tools/study/study_files.h"

#include "tools/evaluate/statistics.h"
#include "tools/study/output/line_chart.h"
#include "tools/study/study_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace bonescan {
namespace {

using Json = nlohmann::ordered_json;

Json origin_json(const StudyOrigin& origin) {
  return {{"command", origin.command}, {"commit", origin.commit}, {"simulated", true}};
}

Json interval_json(std::uint32_t part, std::uint32_t all) {
  const auto interval = clopper_pearson_interval(part, all);
  return interval ? Json{interval->low, interval->high} : Json();
}

Json to_json(const StudySummary& summary) {
  Json json;
  json["runs"] = summary.runs;
  json["ari_mean"] = summary.adjusted_rand_mean;
  json["ari_least"] = summary.adjusted_rand_least;
  json["recall"] = summary.recall();
  for (std::size_t e = 0; e < kEdgeClasses; ++e) {
    if (const auto recall = recall_of(summary.edges[e])) {
      json["recall_" + std::string(to_string(static_cast<EdgeClass>(e)))] = *recall;
    }
  }
  json["runs_with_a_missed_pair"] = summary.runs_missing;
  json["runs_with_a_missed_pair_interval"] = interval_json(summary.runs_missing, summary.runs);
  json["fallback"] = share(summary.runs_fallen_back, summary.runs);
  json["fallback_interval"] = interval_json(summary.runs_fallen_back, summary.runs);
  json["why_fallen_back"] = summary.why_fallen_back;
  for (std::size_t s = 0; s < summary.scopes.size(); ++s) {
    json["scopes"][std::string(to_string(static_cast<SkeletonScope>(s)))] = summary.scopes[s];
  }
  json["stage_count_right"] = share(summary.stages_right, summary.runs);
  json["precision"] = summary.precision;
  json["list_longest_mean"] = summary.list_mean;
  json["oracle_list_longest_mean"] = summary.oracle_mean;
  json["full_mesh"] = summary.mesh;
  json["list_reduction"] = summary.mesh > 0.0 ? 1.0 - summary.list_mean / summary.mesh : 0.0;
  return json;
}

std::string points_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json = origin_json(origin);
  for (const PointResult& result : results.points) {
    Json row;
    row["sweep"] = result.point.sweep;
    row["series"] = result.point.series;
    row["x"] = result.point.x;
    row["gpus"] = result.point.run.job.gpus;
    row["pp"] = result.point.run.job.pp;
    row["dp"] = result.point.run.job.dp;
    row["snr_db"] = result.point.run.snr_db;
    row["stage_offset_s"] = seconds(result.point.run.job.stage_offset);
    row["step_s"] = seconds(result.point.run.job.step_time);
    row["record_s"] = seconds(result.point.run.length);
    row["noise"] = to_string(result.point.run.noise);
    row["wanted"] = result.point.bound.wanted();
    row["holds"] = result.holds();
    row.update(to_json(result.summary));
    json["points"].push_back(row);
  }
  return json.dump(1) + "\n";
}

std::string kinds_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json = origin_json(origin);
  for (const KindResult& result : results.kinds) {
    Json row;
    row["kind"] = result.kind.name;
    row["runs_above_0.99"] = result.runs_confident;
    row["of_them_with_a_missed_pair"] = result.runs_confident_missing;
    row["interval"] = interval_json(result.runs_confident_missing, result.runs_confident);
    row.update(to_json(result.summary));
    for (const StudyMiss& miss : result.misses) {
      row["misses"].push_back(miss_text(miss));
    }
    for (const ReliabilityBin& bin : result.bins) {
      if (bin.runs > 0) {
        row["reliability"].push_back({{"low", bin.low},
                                      {"high", std::min(bin.high, 1.0)},
                                      {"runs", bin.runs},
                                      {"confidence", bin.confidence_sum / bin.runs},
                                      {"nothing_missed", share(bin.right, bin.runs)}});
      }
    }
    json["kinds"].push_back(row);
  }
  return json.dump(1) + "\n";
}

std::string evidence_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json = origin_json(origin);
  for (const EvidenceResult& result : results.evidence) {
    Json row;
    row["kind"] = result.kind;
    row["throughput"] = to_json(result.throughput);
    row["flow_tables"] = {{"missed_pairs", result.flow_missed},
                          {"recall_least", result.flow_recall_least},
                          {"list_longest_mean", result.flow_list_mean},
                          {"runs_with_peers", result.flow_peers},
                          {"dumps_per_rnic", result.flow_dumps_mean},
                          {"known_after_s", result.flow_known_s_mean}};
    json["kinds"].push_back(row);
  }
  return json.dump(1) + "\n";
}

std::string drift_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json = origin_json(origin);
  for (const DriftDelay& delay : results.delays) {
    json["delays"].push_back({{"change", to_string(delay.change)},
                              {"step_s", delay.step_s},
                              {"snr_db", delay.snr_db},
                              {"runs", delay.runs},
                              {"within_three_steps", delay.in_time},
                              {"interval", interval_json(delay.in_time, delay.runs)},
                              {"seen_within_six_steps", delay.seen},
                              {"steps_mean", delay.steps_mean}});
  }
  for (const DriftAlarms& alarms : results.alarms) {
    json["alarms"].push_back({{"noise", to_string(alarms.noise)},
                              {"snr_db", alarms.snr_db},
                              {"alarms", alarms.alarms},
                              {"allowed", alarms.hours / alarms.price_hours}});
  }
  return json.dump(1) + "\n";
}

std::string realistic_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json = origin_json(origin);
  for (const RealisticJob& drawn : results.realistic) {
    json["jobs"].push_back({{"parameters", drawn.job.model.parameters},
                            {"pp", drawn.job.pp},
                            {"dp", drawn.job.dp},
                            {"microbatches", drawn.job.microbatches},
                            {"schedule", static_cast<int>(drawn.job.schedule)},
                            {"step_s", drawn.step_s},
                            {"stage_offset_s", drawn.offset_s}});
  }
  return json.dump() + "\n";
}

/// Lines of one sweep, one a series.
LineChart chart_of(const StudyResults& results,
                   const std::string& sweep,
                   std::string title,
                   std::string x_label) {
  LineChart chart;
  chart.title = std::move(title);
  chart.x_label = std::move(x_label);
  chart.y_label = "adjusted Rand index";
  for (const PointResult& result : results.points) {
    if (result.point.sweep != sweep) {
      continue;
    }
    auto line = std::find_if(chart.lines.begin(), chart.lines.end(), [&](const ChartLine& known) {
      return known.name == result.point.series;
    });
    if (line == chart.lines.end()) {
      chart.lines.push_back({result.point.series, {}});
      line = chart.lines.end() - 1;
    }
    line->points.emplace_back(result.point.x, result.summary.adjusted_rand_mean);
  }
  return chart;
}

LineChart reliability_chart(const StudyResults& results) {
  LineChart chart;
  chart.title = "Confidence of the smallest scope that can be named, all kinds";
  chart.x_label = "stated confidence";
  chart.y_label = "nothing missed";
  chart.x_scale = ChartScale::kLinear;
  chart.diagonal = true;
  ChartLine line{"runs", {}};
  for (const ReliabilityBin& bin : pooled(results)) {
    if (bin.runs > 0) {
      line.points.emplace_back(bin.confidence_sum / bin.runs, share(bin.right, bin.runs));
    }
  }
  chart.lines.push_back(line);
  return chart;
}

}  // namespace

std::vector<StudyFile> study_files(const StudyResults& results, const StudyOrigin& origin) {
  std::vector<StudyFile> files = {
      {"README.md", study_readme(results, origin)},
      {"points.json", points_json(results, origin)},
      {"kinds.json", kinds_json(results, origin)},
      {"evidence.json", evidence_json(results, origin)},
      {"drift.json", drift_json(results, origin)},
      {"realistic.json", realistic_json(results, origin)},
      {"reliability.svg", to_svg(reliability_chart(results))},
  };
  const auto add = [&](const char* sweep, const char* title, const char* x_label) {
    files.push_back(
        {std::string(sweep) + ".svg", to_svg(chart_of(results, sweep, title, x_label))});
  };
  add("snr", "Stages found against noise", "SNR, dB");
  add("skew", "Stages found against clock skew", "clocks off by up to, s");
  add("phases", "Samplers with phases of their own", "stage offset, s");
  add("length", "Stages found against record length", "record, s");
  add("step_time", "Stages found against step time", "step, s");
  add("noise", "Stages found under noise of other kinds", "SNR, dB");
  return files;
}

}  // namespace bonescan
