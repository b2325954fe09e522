#include "tools/study/detection/detection_text.h"

#include "tools/study/output/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Three digits; "-" for what never happened.
std::string number(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value >= 100.0) {
    return fmt::format("{:.0f}", value);
  }
  return value >= 10.0 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string missed_text(const TrialSeries& series) {
  const auto missed = series.outcomes.size() - series.found();
  return missed == 0 ? "" : fmt::format(" ({} missed)", missed);
}

/// "mean / median / p95", misses at the end of the watch.
std::string delay_text(const TrialSeries& series, double missed_s) {
  if (series.outcomes.empty()) {
    return "-";
  }
  if (series.found() == 0) {
    return "never";
  }
  return fmt::format("{} / {} / {}{}",
                     number(series.mean_s(missed_s)),
                     number(series.quantile_s(0.5)),
                     number(series.quantile_s(0.95)),
                     missed_text(series));
}

std::string required_text(const DelayResult& result) {
  const DelayBound& bound = result.one.bound;
  if (!bound.wanted()) {
    return "";
  }
  std::string text;
  const auto add = [&](const char* what, double value, const char* unit) {
    if (value > 0.0) {
      text += fmt::format("{}{} ≤ {:g}{}", text.empty() ? "" : ", ", what, value, unit);
    }
  };
  add("mean", bound.mean_s, " s");
  add("p95", bound.p95_s, " s");
  add("median", bound.median_s / 3600.0, " h");
  add("mean", bound.mean_probes, " probes");
  return text + (result.holds() ? ": **met**" : ": **not met**");
}

std::vector<std::string> groups_of(const std::vector<DelayResult>& delays) {
  std::vector<std::string> groups;
  for (const DelayResult& result : delays) {
    if (std::find(groups.begin(), groups.end(), result.one.group) == groups.end()) {
      groups.push_back(result.one.group);
    }
  }
  return groups;
}

std::string delay_table(const DetectionResults& results, const std::string& group) {
  const bool counts_probes = group == "loss, fabric link";
  std::string text = fmt::format("### {}\n\n| fault | trials | bound | bonescan | paper |", group);
  for (const DetectorEntry& entry : results.entries) {
    text += entry.ours || entry.paper ? "" : fmt::format(" {} |", entry.name);
  }
  text += counts_probes ? " probes: bound | bonescan | sent by then |" : "";
  text += " required |\n|---|---|---|---|---|";
  for (const DetectorEntry& entry : results.entries) {
    text += entry.ours || entry.paper ? "" : "---|";
  }
  text += counts_probes ? "---|---|---|---|\n" : "---|\n";
  for (const DelayResult& result : results.delays) {
    if (result.one.group != group) {
      continue;
    }
    const double missed_s = std::max(60.0, result.one.plan.watch_s);
    text += fmt::format("| {} | {} | {} | {} | {} |",
                        result.one.name,
                        result.one.plan.trials,
                        number(result.bound.delay_s),
                        delay_text(result.ours, missed_s),
                        delay_text(result.paper, missed_s));
    for (std::size_t i = 0; i < results.entries.size(); ++i) {
      if (!results.entries[i].ours && !results.entries[i].paper) {
        text += fmt::format(" {} |", delay_text(result.series[i], missed_s));
      }
    }
    if (counts_probes) {
      text += result.ours.found() == 0 ? fmt::format(" {} | - | - |", number(result.bound.probes))
                                       : fmt::format(" {} | {} | {} |",
                                                     number(result.bound.probes),
                                                     number(result.ours.mean_probes()),
                                                     number(result.ours.mean_probes_sent()));
    }
    text += fmt::format(" {} |\n", required_text(result));
  }
  return text + "\n";
}

std::string rules_table(const DetectionResults& results) {
  std::string text =
      "### Which of the bonescan rules\n\nMean delay in seconds, misses at the end of the "
      "watch.\n\n"
      "| fault |";
  std::string line = "\n|---|";
  for (const DetectorEntry& entry : results.entries) {
    if (entry.ours || entry.paper) {
      text += fmt::format(" {} |", entry.name);
      line += "---|";
    }
  }
  text += line + "\n";
  for (const DelayResult& result : results.delays) {
    if (result.one.group == "worlds" || result.one.name.find("not counter") != std::string::npos) {
      continue;
    }
    text += fmt::format("| {}: {} |", result.one.group, result.one.name);
    for (std::size_t i = 0; i < results.entries.size(); ++i) {
      if (results.entries[i].ours || results.entries[i].paper) {
        text += fmt::format(
            " {} |",
            result.series[i].outcomes.empty() ? "-"
            : result.series[i].found() == 0
                ? "never"
                : number(result.series[i].mean_s(std::max(60.0, result.one.plan.watch_s))) +
                      missed_text(result.series[i]));
      }
    }
    text += "\n";
  }
  return text + "\n";
}

std::string drift_table(const DetectionResults& results) {
  if (results.drifts.empty()) {
    return "";
  }
  std::string text =
      "### Drift of 10 % a day, one pair\n\nHours after the drift began, 36 h after the start; "
      "mean / "
      "median / p95.\n\n| levels | trials | bound |";
  std::string line = "\n|---|---|---|";
  for (const DetectorEntry& entry : results.slow_entries) {
    text += fmt::format(" {} |", entry.name);
    line += "---|";
  }
  text += " false accusations before the drift | required |" + line + "---|---|\n";
  for (const DelayResult& result : results.drifts) {
    text += fmt::format("| {} | {} | {} |",
                        result.one.name,
                        result.one.plan.trials,
                        number(result.bound.delay_s / 3600.0));
    std::string false_alarms;
    for (std::size_t i = 0; i < results.slow_entries.size(); ++i) {
      const TrialSeries& series = result.series[i];
      text += series.found() == 0
                  ? " never |"
                  : fmt::format(" {} / {} / {}{} |",
                                number(series.mean_s(result.one.plan.watch_s) / 3600.0),
                                number(series.quantile_s(0.5) / 3600.0),
                                number(series.quantile_s(0.95) / 3600.0),
                                missed_text(series));
      false_alarms += fmt::format(
          "{}{}: {}", i == 0 ? "" : ", ", results.slow_entries[i].name, series.false_alarms);
    }
    text += fmt::format(" {} | {} |\n", false_alarms, required_text(result));
  }
  return text + "\n";
}

std::string null_table(const DetectionResults& results) {
  if (results.nulls.empty()) {
    return "";
  }
  std::string text =
      "### Counted\n\nIncidents where nothing is wrong: accusations of a pair with gaps under "
      "60 "
      "s are one, and so are pooled ones of a turn.\n\n| world | fleet-days |";
  std::string line = "\n|---|---|";
  for (const DetectorEntry& entry : results.entries) {
    text += fmt::format(" {} |", entry.name);
    line += "---|";
  }
  text += " all bonescan rules | a fleet-day, 95 % bounds |" + line + "---|---|\n";
  for (const NullResult& result : results.nulls) {
    const double fleet_days = static_cast<double>(result.series.front().visits) / kFleetDayVisits;
    text += fmt::format("| {} | {:.4f} |", to_string(result.world), fleet_days);
    std::uint64_t ours = 0;
    for (std::size_t i = 0; i < results.entries.size(); ++i) {
      text += fmt::format(" {} |", result.series[i].incidents);
      ours += results.entries[i].ours ? result.series[i].incidents : 0;
    }
    text += fmt::format(" {} | {} to {} |\n",
                        ours,
                        number(poisson_lower(ours) / fleet_days),
                        number(poisson_upper(ours) / fleet_days));
  }
  return text +
         fmt::format(
             "\nAllowed are {} false alarms a fleet-day (goal {}). To show that little, {:.1f} "
             "fleet-days without one are needed; this run is shorter, so it shows the last "
             "column and no more.\n\n",
             kAllowedFalseAlarms,
             kGoalFalseAlarms,
             poisson_upper(0) / kAllowedFalseAlarms);
}

std::string rare_table(const DetectionResults& results) {
  if (results.rare.empty()) {
    return "";
  }
  std::string text = fmt::format(
      "### All rules together\n\nFalse alarms of a 32,768-RNIC-day in the well-specified world, by "
      "importance sampling at the thresholds in use; required is a sum of at most {} (goal {}).\n\n"
      "| rule | allowed to it | measured | standard error | samples | alarms among them |\n"
      "|---|---|---|---|---|---|\n",
      kAllowedFalseAlarms,
      kGoalFalseAlarms);
  for (const RareAlarms& one : results.rare) {
    const std::string measured =
        one.samples == 0 ? "- | - | 0"
                         : fmt::format("{:.2g} | {:.2g} | {}", one.rate, one.error, one.samples);
    text += fmt::format("| {} | {:.2g} | {} | {} |\n", one.rule, one.budget, measured, one.alarms);
  }
  const RareAlarms all = sum_of(results.rare);
  return text + fmt::format(
                    "| **sum**, what is not measured as allowed | {:.2f} | {:.2f} | {:.2f} | "
                    "| {} |\n\n",
                    all.budget,
                    all.rate,
                    all.error,
                    all.rate <= kAllowedFalseAlarms ? "**met**" : "**not met**");
}

std::string operating_table(const DetectionResults& results) {
  if (results.operating.empty()) {
    return "";
  }
  std::string text =
      "## Operating curves\n\nShort-term detectors, one pair, sweep of 17 s: share found within 60 "
      "s "
      "against false alarms of a 32,768-RNIC-day.\n\n| detector | setting | x1.25 | x1.5 | x7.5 | "
      "false alarms | fleet-days | a fleet-day |\n|---|---|---|---|---|---|---|---|\n";
  for (const OperatingPoint& point : results.operating) {
    text += fmt::format("| {} | {} {:g} | {:.2f} | {:.2f} | {:.2f} | {} | {:.4f} | {} |\n",
                        point.curve,
                        point.setting,
                        point.value,
                        point.found_small,
                        point.found_middle,
                        point.found_large,
                        point.false_alarms,
                        point.fleet_days,
                        point.false_alarms == 0
                            ? fmt::format("< {}", number(poisson_upper(0) / point.fleet_days))
                            : number(static_cast<double>(point.false_alarms) / point.fleet_days));
  }
  return text + "\n![operating curves](roc.svg)\n\n";
}

std::string ablation_table(const DetectionResults& results) {
  if (results.ablations.empty()) {
    return "";
  }
  std::string text =
      "## Ablation\n\nThe bonescan rules with one part switched off; mean delay in seconds, misses "
      "at the end of the watch.\n\n| switched off |";
  std::string line = "\n|---|";
  for (const std::string& name : results.ablation_cases) {
    text += fmt::format(" {} |", name);
    line += "---|";
  }
  text += " false alarms |" + line + "---|\n";
  for (const AblationResult& result : results.ablations) {
    text += fmt::format("| {} |", result.name);
    for (std::size_t i = 0; i < result.series.size(); ++i) {
      const double missed_s =
          results.ablation_cases[i].find("fabric") == std::string::npos ? 60.0 : 240.0;
      text += result.series[i].found() == 0 ? " never |"
                                            : fmt::format(" {}{} |",
                                                          number(result.series[i].mean_s(missed_s)),
                                                          missed_text(result.series[i]));
    }
    text += fmt::format(" {} in {:.4f} fleet-days |\n",
                        result.null.incidents,
                        static_cast<double>(result.null.visits) / kFleetDayVisits);
  }
  return text + "\n";
}

std::string placing_table(const DetectionResults& results) {
  if (results.placing.empty()) {
    return "";
  }
  std::string text =
      "### Likelihood and repair\n\nWhere the faults of a fabric link are placed after three "
      "sweeps: "
      "the true directed link alone, among others, or not at all. *raw-vote* is the localizer "
      "without a likelihood; *neighbours* are lists that were not "
      "repaired. All other localizers are in results.json.\n\n"
      "| fault | lists | pairs | ambiguous links | localizer | alone | among others | nobody "
      "accused "
      "| others accused |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const PlacingResult& one : results.placing) {
    if (one.localizer != "bonescan" && one.localizer != "raw-vote") {
      continue;
    }
    text += fmt::format("| {} | {} | {} | {} | {} | {} of {} | {} | {} | {} |\n",
                        one.fault,
                        one.lists,
                        number(one.pairs),
                        number(one.ambiguous),
                        one.localizer,
                        one.alone,
                        one.trials,
                        one.held,
                        one.silent,
                        one.others);
  }
  return text + "\n";
}

/// Mean delay over x, the bound first.
LineChart delay_chart(const DetectionResults& results,
                      const std::string& group,
                      const std::string& x_label) {
  LineChart chart{.title = "Mean delay: " + group,
                  .x_label = x_label,
                  .y_label = "s",
                  .lines = {{"information bound", {}}, {"bonescan", {}}, {"paper", {}}},
                  .x_scale = ChartScale::kLogarithmic,
                  .y_scale = ChartScale::kLogarithmic};
  for (const DetectorEntry& entry : results.entries) {
    if (!entry.ours && !entry.paper) {
      chart.lines.push_back({entry.name, {}});
    }
  }
  for (const DelayResult& result : results.delays) {
    if (result.one.group != group) {
      continue;
    }
    const auto add = [&](std::size_t curve, const TrialSeries& series) {
      if (!series.outcomes.empty() && series.found() != 0) {
        chart.lines[curve].points.emplace_back(
            result.one.x, series.mean_s(std::max(60.0, result.one.plan.watch_s)));
      }
    };
    chart.lines[0].points.emplace_back(result.one.x, result.bound.delay_s);
    add(1, result.ours);
    add(2, result.paper);
    std::size_t curve = 3;
    for (std::size_t i = 0; i < results.entries.size(); ++i) {
      if (!results.entries[i].ours && !results.entries[i].paper) {
        add(curve++, result.series[i]);
      }
    }
  }
  return chart;
}

LineChart operating_chart(const DetectionResults& results) {
  LineChart chart{.title = "Found within 60 s, a pair that takes 1.5 times as long",
                  .x_label = "false alarms a 32,768-RNIC-day (none seen: drawn at the 95 % bound)",
                  .y_label = "share found",
                  .lines = {},
                  .x_scale = ChartScale::kLogarithmic};
  for (const OperatingPoint& point : results.operating) {
    if (chart.lines.empty() || chart.lines.back().name != point.curve) {
      chart.lines.push_back({point.curve, {}});
    }
    const double alarms =
        point.false_alarms == 0 ? poisson_upper(0) : static_cast<double>(point.false_alarms);
    chart.lines.back().points.emplace_back(alarms / point.fleet_days, point.found_middle);
  }
  return chart;
}

}  // namespace

std::string null_check_text(const std::vector<NullCheck>& checks) {
  if (checks.empty()) {
    return "";
  }
  std::string text =
      "### The null, asked directly\n\nThresholds for one exceedance in ten million evaluations, "
      "fitted on even seeds, held, and counted on odd ones. *ln p* counts the evaluations of which "
      "the detector itself said so, both of its statistics paid for.\n\n| world | statistic | "
      "fitted "
      "on | evaluations | expected | counted | ratio, 95 % bounds | ln p | required |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const NullCheck& check : checks) {
    if (check.evaluations == 0) {
      text += fmt::format(
          "| {} | {} | {:.3g} | none: the fit was not trusted |  |  |  |  | **not met** |\n",
          to_string(check.world),
          check.statistic,
          static_cast<double>(check.fitted));
      continue;
    }
    text += fmt::format(
        "| {} | {} | {:.3g} | {:.3g} | {:.1f} | {} | {:.2f} ({:.2f} to {:.2f}) | {} | {}: {} |\n",
        to_string(check.world),
        check.statistic,
        static_cast<double>(check.fitted),
        static_cast<double>(check.evaluations),
        check.expected(),
        check.exceedances,
        check.ratio(),
        poisson_lower(check.exceedances) / check.expected(),
        poisson_upper(check.exceedances) / check.expected(),
        check.verdict_exceedances,
        check.world == NoiseWorld::kWellSpecified ? "within 30 %" : "factor ≤ 3",
        check.holds() ? "**met**" : "**not met**");
  }
  return text + "\n";
}

std::string detection_readme(const DetectionResults& results, const DetectionOrigin& origin) {
  std::string text = fmt::format(
      "# How soon and how surely detectors notice\n\nSimulated. Made by `{}` at commit `{}` in "
      "{:.1f} "
      "minutes, {} seeds from 400,000 on; [METHODS](../../detectors/detect/METHODS.md) says what "
      "is "
      "compared and how. Delays are seconds from the onset until an accusation of an affected "
      "pair: "
      "mean / median / p95 of all trials, misses at 60 s or at the end of a longer watch. "
      "*bonescan* "
      "and *paper* are all rules of the configuration together, whichever speaks first. *Bound* is "
      "the best sequential test that knows the fault, at {} false alarms a fleet-day.\n\n",
      origin.study.command,
      origin.study.commit,
      origin.minutes,
      results.parity == SeedParity::kOdd ? "odd" : "even",
      kGoalFalseAlarms);
  if (!results.complete) {
    text += "**The run was stopped: parts are missing below.**\n\n";
  }
  text += "Everything required: ";
  text += results.hold() ? "**met**.\n\n" : "**not met** (see the last columns).\n\n";
  text += "## Delays\n\n";
  for (const std::string& group : groups_of(results.delays)) {
    text += delay_table(results, group);
  }
  text += drift_table(results);
  text += rules_table(results);
  text += "![steps](delay_step.svg)\n\n![loss of a link](delay_loss_link.svg)\n\n";
  text += "## False alarms\n\n";
  text += rare_table(results);
  text += null_table(results);
  text += null_check_text(results.checks);
  text += operating_table(results);
  text += ablation_table(results);
  text += placing_table(results);
  return text;
}

std::vector<StudyFile> detection_files(const DetectionResults& results,
                                       const DetectionOrigin& origin) {
  return {
      {"README.md", detection_readme(results, origin)},
      {"results.json", detection_json(results, origin)},
      {"delay_step.svg", to_svg(delay_chart(results, "step, one pair", "factor"))},
      {"delay_loss_pair.svg", to_svg(delay_chart(results, "loss, one pair", "loss, %"))},
      {"delay_loss_link.svg", to_svg(delay_chart(results, "loss, fabric link", "loss, %"))},
      {"roc.svg", to_svg(operating_chart(results))},
  };
}

}  // namespace bonescan
