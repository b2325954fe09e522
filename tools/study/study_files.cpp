#include "tools/study/study_files.h"

#include "tools/evaluate/statistics.h"
#include "tools/study/line_chart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace bonescan {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWantedOffset = 0.5;  ///< seconds

double share(std::uint32_t part, std::uint32_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string interval_text(std::uint32_t part, std::uint32_t all) {
  const auto interval = clopper_pearson_interval(part, all);
  return interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high) : "";
}

Json interval_json(std::uint32_t part, std::uint32_t all) {
  const auto interval = clopper_pearson_interval(part, all);
  return interval ? Json{interval->low, interval->high} : Json();
}

std::optional<double> recall_of(const EdgeCount& count) {
  return count.all == 0
             ? std::nullopt
             : std::optional(static_cast<double>(count.covered) / static_cast<double>(count.all));
}

std::string recall_text(const EdgeCount& count) {
  const auto recall = recall_of(count);
  return recall ? fmt::format("{:.4f}", *recall) : "-";
}

std::string miss_text(const StudyMiss& miss) {
  return fmt::format(
      "seed {}: {} of noise {} at {} dB, step {:.2f} s, offset {:.3f} s, burst share {:.3f}, "
      "jitter "
      "{:.3f}, skew {:.3f} s; {} stages (ARI {:.2f}), confidence {:.4f}, recall {:.3f}: {}",
      miss.seed,
      to_string(miss.outcome.scope),
      to_string(miss.run.noise),
      miss.run.snr_db,
      seconds(miss.run.job.step_time),
      seconds(miss.run.job.stage_offset),
      miss.run.job.burst_share,
      miss.run.job.step_jitter,
      seconds(miss.run.skew),
      miss.outcome.stages,
      miss.outcome.adjusted_rand,
      miss.outcome.confidence,
      miss.outcome.recall(),
      miss.outcome.why);
}

std::string scopes_text(const StudySummary& summary) {
  std::string text;
  for (std::size_t s = 0; s < summary.scopes.size(); ++s) {
    if (summary.scopes[s] > 0) {
      text += fmt::format("{}{} {}",
                          text.empty() ? "" : ", ",
                          to_string(static_cast<SkeletonScope>(s)),
                          summary.scopes[s]);
    }
  }
  return text;
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
  return json;
}

std::string points_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json;
  json["command"] = origin.command;
  json["commit"] = origin.commit;
  json["simulated"] = true;
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
  Json json;
  json["command"] = origin.command;
  json["commit"] = origin.commit;
  json["simulated"] = true;
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

std::string realistic_json(const StudyResults& results, const StudyOrigin& origin) {
  Json json;
  json["command"] = origin.command;
  json["commit"] = origin.commit;
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
                   std::string x_label,
                   bool recall) {
  LineChart chart;
  chart.title = std::move(title);
  chart.x_label = std::move(x_label);
  chart.y_label = recall ? "recall" : "adjusted Rand index";
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
    line->points.emplace_back(result.point.x,
                              recall ? result.summary.recall() : result.summary.adjusted_rand_mean);
  }
  return chart;
}

/// All kinds together: stated confidence against the share of runs in which nothing was missed.
std::vector<ReliabilityBin> pooled(const StudyResults& results) {
  std::vector<ReliabilityBin> bins = reliability_bins();
  for (const KindResult& result : results.kinds) {
    for (std::size_t b = 0; b < bins.size(); ++b) {
      bins[b].runs += result.bins[b].runs;
      bins[b].right += result.bins[b].right;
      bins[b].confidence_sum += result.bins[b].confidence_sum;
    }
  }
  return bins;
}

LineChart reliability_chart(const StudyResults& results) {
  LineChart chart;
  chart.title = "Confidence of the smallest scope that can be named, all kinds";
  chart.x_label = "stated confidence";
  chart.y_label = "nothing missed";
  chart.scale = ChartScale::kLinear;
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

const char* verdict(const PointResult& result) {
  return !result.point.bound.wanted() ? "" : result.holds() ? "yes" : "NO";
}

std::string required_section(const StudyResults& results) {
  std::string text =
      "| offset | SNR | ARI, mean (least) | recall dp, pp | fallback (95 %) | scopes, runs | holds "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == "required") {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} dB | {:.3f} ({:.3f}) | {}, {} | {:.2f} ({}) | {} | {} |\n",
                          result.point.series,
                          result.point.x,
                          sum.adjusted_rand_mean,
                          sum.adjusted_rand_least,
                          recall_text(sum.edges[0]),
                          recall_text(sum.edges[1]),
                          share(sum.runs_fallen_back, sum.runs),
                          interval_text(sum.runs_fallen_back, sum.runs),
                          scopes_text(sum),
                          verdict(result));
    }
  }
  return text;
}

std::string size_section(const StudyResults& results) {
  std::string text =
      "| GPUs | shape | full mesh | same rail | throughput | oracle | recall | ARI | holds |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == "size") {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} | {:.0f} | {} | {:.1f} | {:.1f} | {:.4f} | {:.3f} | {} |\n",
                          result.point.run.job.gpus,
                          result.point.series,
                          sum.mesh,
                          result.point.run.job.gpus / 8 - 1,
                          sum.list_mean,
                          sum.oracle_mean,
                          sum.recall(),
                          sum.adjusted_rand_mean,
                          verdict(result));
    }
  }
  return text;
}

std::string sweep_section(const StudyResults& results, const std::string& sweep) {
  std::string text =
      "| series | x | ARI | stages counted right | recall | runs with a miss | fallback | list "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == sweep) {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} | {:.3f} | {:.2f} | {:.4f} | {} of {} | {:.2f} | {:.1f} |\n",
                          result.point.series,
                          result.point.x,
                          sum.adjusted_rand_mean,
                          share(sum.stages_right, sum.runs),
                          sum.recall(),
                          sum.runs_missing,
                          sum.runs,
                          share(sum.runs_fallen_back, sum.runs),
                          sum.list_mean);
    }
  }
  return text;
}

std::string kinds_section(const StudyResults& results) {
  std::string text =
      "| kind | recall | dp, pp, ep, cp | runs above 0.99, of them with a miss (95 %) | scopes, "
      "runs | precision | list, oracle | why most fell back |\n|---|---|---|---|---|---|---|---|\n";
  for (const KindResult& result : results.kinds) {
    const StudySummary& sum = result.summary;
    text += fmt::format(
        "| {} | {:.4f} | {}, {}, {}, {} | {}, {} ({}) | {} | {:.3f} | {:.1f}, {:.1f} | {} |\n",
        result.kind.name,
        sum.recall(),
        recall_text(sum.edges[0]),
        recall_text(sum.edges[1]),
        recall_text(sum.edges[2]),
        recall_text(sum.edges[3]),
        result.runs_confident,
        result.runs_confident_missing,
        interval_text(result.runs_confident_missing, result.runs_confident),
        scopes_text(sum),
        sum.precision,
        sum.list_mean,
        sum.oracle_mean,
        sum.why_fallen_back);
  }
  return text;
}

std::string reliability_section(const StudyResults& results) {
  std::string text = "| stated | runs | mean stated | nothing missed (95 %) |\n|---|---|---|---|\n";
  for (const ReliabilityBin& bin : pooled(results)) {
    if (bin.runs > 0) {
      text += fmt::format("| {} to {} | {} | {:.4f} | {:.4f} ({}) |\n",
                          bin.low,
                          std::min(bin.high, 1.0),
                          bin.runs,
                          bin.confidence_sum / bin.runs,
                          share(bin.right, bin.runs),
                          interval_text(bin.right, bin.runs));
    }
  }
  return text;
}

std::string realistic_section(const StudyResults& results) {
  std::vector<double> offsets;
  std::uint32_t wide = 0;
  for (const RealisticJob& drawn : results.realistic) {
    offsets.push_back(drawn.offset_s);
    wide += drawn.offset_s >= kWantedOffset ? 1 : 0;
  }
  const auto all = static_cast<std::uint32_t>(offsets.size());
  return fmt::format(
      "{} of {} drawn jobs ({:.3f}, 95 % {}) have stages that burst 0.5 s or more apart; quantiles "
      "5, 50, 95 %: {:.2f}, {:.2f}, {:.2f} s.\n",
      wide,
      all,
      share(wide, all),
      interval_text(wide, all),
      quantile(offsets, 0.05).value_or(0.0),
      quantile(offsets, 0.5).value_or(0.0),
      quantile(offsets, 0.95).value_or(0.0));
}

/// Lists of the sizes that the paper gives sweep times for.
std::string sweep_times(const StudyResults& results) {
  struct Paper {
    std::uint32_t gpus;
    std::string_view seconds;
  };

  constexpr std::array<Paper, 3> kPaper = {
      Paper{512, "8.23"}, Paper{1'024, "16.91"}, Paper{2'048, "25.09"}};
  std::string text = "| GPUs | shape | list x 1 s, here | paper, quoted |\n|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    for (const Paper& paper : kPaper) {
      if (result.point.sweep == "size" && result.point.run.job.gpus == paper.gpus) {
        text += fmt::format("| {} | {} | {:.1f} s | {} s |\n",
                            paper.gpus,
                            result.point.series,
                            result.summary.list_mean,
                            paper.seconds);
      }
    }
  }
  return text;
}

std::string readme(const StudyResults& results, const StudyOrigin& origin) {
  std::string text = fmt::format(
      "# How well the traffic skeleton is read\n\nMade by `{}` at commit {} in {:.0f} s; do not "
      "edit. Everything is *simulated*: traffic of `model/workload`, noise of `tools/study`, odd "
      "seeds. Base: 512 GPUs, TP = PP = DP = 8, a burst of 3 s every 20 s, stages 0.5 s apart, a "
      "record of 300 s, white noise, confidence 0.99. SNR is 20 lg(burst sd / noise sd) of one "
      "RNIC's 1 s samples. ARI is that of the likeliest stages, whatever scope is used; recall is "
      "the share of directed communicating pairs inside the lists that would be probed.\n\n",
      origin.command,
      origin.commit,
      origin.elapsed_s);
  text +=
      "## What is required\n\nSkew: clocks of hosts are off by up to 0.1 s. Wanted: ARI >= "
      "0.95, recall >= 0.995, fallback (a scope wider than groups) <= 5 % from 10 dB on, <= 20 "
      "% at 5 dB.\n\n" +
      required_section(results);
  text += "\n## Sizes\n\n" + size_section(results) +
          "\nDestinations of an RNIC, longest list of a run, mean over runs.  The oracle knows who "
          "talks.\n\nIdentity check, list x 1 s: no reproduction of the paper's sweep times, which "
          "follow from list lengths.\n\n" +
          sweep_times(results);
  text +=
      "\n## Kinds of jobs\n\n64 to 128 GPUs; SNR 0 to 20 dB, step 6 to 24 s, offsets 0.2 to "
      "1.5 s, jitter 0.5 to 5 %, skew up to 0.1 s and the kind of noise are drawn anew in "
      "every run.  Wanted: recall >= 0.995 and no missed pair above 0.99.\n\n" +
      kinds_section(results);
  text += "\n## Is the confidence calibrated?\n\n![](reliability.svg)\n\n" +
          reliability_section(results);
  text +=
      "\n## How far apart do stages burst?\n\nModels of 6.7e9 to 530e9 parameters, TP 8, PP 2 "
      "to 16, DP 8 to 32, 512 to 2,048 sequences a step, MFU 0.3 to 0.55, micro-batches of 1, 2 or "
      "4 sequences, GPipe, 1F1B or "
      "interleaved with 2 chunks, each drawn evenly.\n\n" +
      realistic_section(results);
  struct Sweep {
    const char* name;
    const char* title;
    const char* x_label;
    const char* text;
  };

  const Sweep sweeps[] = {
      {"snr", "Noise and stage offset", "SNR, dB", ""},
      {"skew", "Clocks of hosts that are off", "off by up to, s", "Nobody knows of the skew.\n\n"},
      {"phases",
       "Samplers with phases of their own",
       "stage offset, s",
       "Samples say when they were taken; they are spread over the seconds that they cover.\n\n"},
      {"length", "Record length", "s", ""},
      {"step_time",
       "Step time",
       "step, s",
       "PP 4, DP 8, 20 dB, offsets of a twelfth of the step. A boxcar of 1 s has no gain at steps "
       "of 0.5 and 1 s: such jobs cannot be read at 1 Hz, whatever the noise, and steps below "
       "two seconds only through aliases.\n\n"},
      {"noise", "Noise that nobody tuned on", "SNR, dB", ""},
  };
  for (const Sweep& sweep : sweeps) {
    text += fmt::format("\n## {}\n\n{}![]({}.svg)\n\n", sweep.title, sweep.text, sweep.name) +
            sweep_section(results, sweep.name);
  }
  return text;
}

}  // namespace

std::string study_table(const StudyResults& results) {
  std::string text;
  for (const PointResult& result : results.points) {
    const StudySummary& sum = result.summary;
    text += fmt::format(
        "{:10} {:28} x {:<6} ari {:.3f} recall {:.4f} missing {:>2} of {:<3} list {:6.1f} [{}] "
        "{}\n",
        result.point.sweep,
        result.point.series,
        result.point.x,
        sum.adjusted_rand_mean,
        sum.recall(),
        sum.runs_missing,
        sum.runs,
        sum.list_mean,
        scopes_text(sum),
        verdict(result));
  }
  for (const KindResult& result : results.kinds) {
    const StudySummary& sum = result.summary;
    text += fmt::format("{:26} recall {:.4f} above 0.99: {:>3} runs, {} with a miss [{}] {}\n",
                        result.kind.name,
                        sum.recall(),
                        result.runs_confident,
                        result.runs_confident_missing,
                        scopes_text(sum),
                        sum.why_fallen_back);
    for (const StudyMiss& miss : result.misses) {
      text += "    " + miss_text(miss) + "\n";
    }
  }
  return text + realistic_section(results) + reliability_section(results) +
         (results.hold() ? "everything that is required holds\n"
                         : "something that is required does not hold\n");
}

std::vector<StudyFile> study_files(const StudyResults& results, const StudyOrigin& origin) {
  std::vector<StudyFile> files = {
      {"README.md", readme(results, origin)},
      {"points.json", points_json(results, origin)},
      {"kinds.json", kinds_json(results, origin)},
      {"realistic.json", realistic_json(results, origin)},
      {"reliability.svg", to_svg(reliability_chart(results))},
  };
  const auto add = [&](const char* sweep, const char* title, const char* x_label, bool recall) {
    files.push_back(
        {std::string(sweep) + ".svg", to_svg(chart_of(results, sweep, title, x_label, recall))});
  };
  add("snr", "Stages found against noise", "SNR, dB", false);
  add("skew", "Stages found against clock skew", "clocks off by up to, s", false);
  add("phases", "Samplers with phases of their own", "stage offset, s", false);
  add("length", "Stages found against record length", "record, s", false);
  add("step_time", "Stages found against step time", "step, s", false);
  add("noise", "Stages found under noise of other kinds", "SNR, dB", false);
  return files;
}

}  // namespace bonescan
