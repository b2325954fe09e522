#include "tools/report/table.h"

#include "tools/report/format.h"
#include "tools/report/skeleton_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kTableWidth = 120;
constexpr std::string_view kGap = "  ";

struct Column {
  std::string_view title;
  std::size_t least = 0;  ///< never cut below this, if that wide at all
};

using Row = std::vector<std::string>;

/// Natural widths; if the table is too wide, the column with most to give is cut, again and again.
std::vector<std::size_t> column_widths(const std::vector<Column>& columns,
                                       const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  std::size_t total = kGap.size() * (columns.size() - 1);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = display_width(columns[c].title);
    for (const Row& row : rows) {
      width = std::max(width, display_width(row[c]));
    }
    widths.push_back(width);
    total += width;
  }
  for (; total > kTableWidth; --total) {
    std::size_t widest = 0;
    std::size_t most = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::size_t slack = widths[c] - std::min(widths[c], columns[c].least);
      if (slack > most) {
        most = slack;
        widest = c;
      }
    }
    if (most == 0) {
      break;
    }
    --widths[widest];
  }
  return widths;
}

std::string table_line(const Row& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t c = 0; c < row.size(); ++c) {
    line += (c == 0 ? "" : std::string(kGap)) + fit(row[c], widths[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string render(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  const std::vector<std::size_t> widths = column_widths(columns, rows);
  Row titles;
  for (const Column& column : columns) {
    titles.emplace_back(column.title);
  }
  std::string text = table_line(titles, widths);
  for (const Row& row : rows) {
    text += table_line(row, widths);
  }
  return text;
}

std::string placed_text(const RunData& run, const TruthRow& truth, const FaultOutcome& outcome) {
  if (!outcome.incident) {
    return "-";
  }
  const Incident& incident = run.incidents[*outcome.incident];
  const std::string named = named_component(run, incident);
  const std::size_t others = incident.candidates.empty() ? 0 : incident.candidates.size() - 1;
  return (named == truth.component ? "same" : named) +
         (others > 0 ? fmt::format(" or {} more", others) : "");
}

std::string right_text(const FaultOutcome& outcome) {
  switch (outcome.placement.placement) {
    case Placement::kNotJudged:
      return "-";
    case Placement::kCorrect:
      return "yes";
    case Placement::kWrong:
      return "no";
    case Placement::kAbstained:
      return "unsure";
  }
  return "-";
}

std::string after_text(const FaultOutcome& outcome) {
  return outcome.time_to_detect_s ? seconds_text(outcome.time_to_detect_s)
                                  : std::string(to_string(outcome.status));
}

std::string fault_table(const RunData& run, const Evaluation& evaluation) {
  std::vector<Row> rows;
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    const TruthRow& truth = run.truth[f];
    const FaultOutcome& outcome = evaluation.faults[f];
    rows.push_back({truth.name,
                    truth.kind,
                    truth.component,
                    clock_text(truth.injected),
                    after_text(outcome),
                    placed_text(run, truth, outcome),
                    right_text(outcome),
                    outcome.incident ? decisive_stage(run.incidents[*outcome.incident])
                                     : std::string(truth.visible ? "" : "not visible")});
  }
  return render({{"fault", 12},
                 {"kind", 16},
                 {"where", 24},
                 {"injected", 8},
                 {"found in", 8},
                 {"placed", 16},
                 {"right", 6},
                 {"evidence", 15}},
                rows);
}

/// Incidents that found no fault; without truth that is all of them.
std::string incident_table(const RunData& run, const Evaluation& evaluation) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < run.incidents.size(); ++i) {
    const Incident& incident = run.incidents[i];
    const IncidentStatus status = evaluation.incidents[i].status;
    if (status == IncidentStatus::kMatched) {
      continue;
    }
    rows.push_back({incident_id_text(incident.id),
                    evaluation.detection ? std::string(to_string(status)) : "-",
                    std::string(to_string(incident.layer)),
                    incident.kind,
                    named_component(run, incident),
                    clock_text(incident.opened),
                    fmt::format("{}", incident.pairs.size()),
                    decisive_stage(incident)});
  }
  if (rows.empty()) {
    return "";
  }
  return (evaluation.detection ? "\nIncidents that found no fault:\n" : "") +
         render({{"incident", 16},
                 {"counts as", 9},
                 {"layer", 5},
                 {"kind", 10},
                 {"component", 16},
                 {"opened", 6},
                 {"pairs", 5},
                 {"evidence", 15}},
                rows);
}

std::string detection_lines(const DetectionScore& score, const std::string& mark) {
  const TimeToDetect& delay = score.time_to_detect;
  std::string text;
  text += fmt::format("precision       {}  {}\n", ratio_text(score.precision), mark);
  text += fmt::format("recall          {}  {}\n", ratio_text(score.recall), mark);
  text += fmt::format("  of visible    {}  {}\n", ratio_text(score.recall_visible), mark);
  // Of what probes saw as well it says nothing new.
  if (score.host_visible > 0 && score.visible < score.faults) {
    text += fmt::format("  by hosts      {}  {}\n", ratio_text(score.recall_host_visible), mark);
  }
  text += fmt::format("time to detect  mean {}, median {}, p95 {} (with misses {}; bound {})  {}\n",
                      seconds_text(delay.mean_s),
                      seconds_text(delay.median_s),
                      seconds_text(delay.p95_s),
                      seconds_text(delay.mean_with_misses_s),
                      seconds_text(delay.information_bound_mean_s),
                      mark);
  if (score.false_alarms_per_day && score.false_alarms_per_day_upper95) {
    text += fmt::format("false alarms    {} = {:.1f} a day (95 % upper bound {:.1f})  {}\n",
                        score.false_positives,
                        *score.false_alarms_per_day,
                        *score.false_alarms_per_day_upper95,
                        mark);
  } else {
    text += fmt::format("false alarms    {}, rate undefined  {}\n", score.false_positives, mark);
  }
  text += fmt::format(
      "also            duplicates {}, merged {}, agent deaths {}, faults undecided {}\n",
      score.duplicates,
      score.merged,
      score.agent_deaths,
      score.undecided);
  if (score.planned > 0) {
    text += fmt::format("planned         {} incidents in maintenance windows, set aside\n",
                        score.planned);
  }
  return text;
}

std::string summary(const RunData& run, const Evaluation& evaluation) {
  const std::string mark = "[" + provenance_text(run.info) + "]";
  std::string text = "\n";
  if (evaluation.detection) {
    text += detection_lines(*evaluation.detection, mark);
  } else {
    text += fmt::format(
        "incidents       {}; no truth to score against  {}\n", run.incidents.size(), mark);
  }
  if (evaluation.localization) {
    const LocalizationScore& score = *evaluation.localization;
    text += fmt::format("localization    {}  {}\n", ratio_text(score.accuracy), mark);
  }
  text += skeleton_lines(run);
  text += fmt::format("deadline        {} after time zero for an abrupt fault\n",
                      seconds_text(exact_seconds(evaluation.matching.abrupt_deadline)));
  return text;
}

}  // namespace

std::string report_table(const RunData& run, const Evaluation& evaluation) {
  const std::string title = fmt::format("{}: {} min, {} RNICs, {} probes, {}{}",
                                        run.info.scenario_name,
                                        clock_text(run.result.reached),
                                        run.result.rnics,
                                        run.result.probes_sent,
                                        provenance_text(run.info),
                                        run.result.complete ? "" : ", NOT COMPLETE");
  std::string text = fit(title, std::min(display_width(title), kTableWidth)) + "\n\n";
  if (evaluation.detection) {
    text += run.truth.empty() ? "No fault was injected.\n" : fault_table(run, evaluation);
  }
  return text + incident_table(run, evaluation) + summary(run, evaluation);
}

}  // namespace bonescan
