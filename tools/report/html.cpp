#include "tools/report/html.h"

#include "tools/report/explain.h"
#include "tools/report/format.h"
#include "tools/report/skeleton_report.h"
#include "tools/report/timeline_svg.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

namespace bonescan {
namespace {

constexpr std::string_view kStyle = R"css(
body{font:15px/1.45 system-ui,sans-serif;color:#1c2330;background:#fff;
max-width:1140px;margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 2px}h2{font-size:16px;margin:28px 0 8px}.meta{color:#5b6472;margin:0}
.note{border-left:4px solid #b4690e;background:#fdf5e8;padding:6px 10px;margin:12px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:10px;margin:18px 0}
.tile{border:1px solid #d9dee6;border-radius:6px;padding:10px 12px}
.tile b{display:block;font-size:24px;font-weight:600}
.tile span{color:#5b6472;font-size:13px;display:block}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th,td{text-align:left;vertical-align:top;padding:5px 8px;border-bottom:1px solid #e3e7ed;
overflow-wrap:anywhere}
th{color:#5b6472;font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}
td.s,th.s{white-space:nowrap}
summary{cursor:pointer}
pre{white-space:pre-wrap;background:#f5f7fa;padding:8px;margin:6px 0;font-size:12.5px}
.dot{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:5px;border:1px solid}
.key{font-size:13px;color:#5b6472}.key span{margin-right:16px;white-space:nowrap}
.grid{stroke:#e9edf2}.edge{stroke:#c9d0da}.label{font-size:11px;fill:#1c2330}
.tick{font-size:11px;fill:#5b6472;text-anchor:middle}.lane{font-size:12px;fill:#5b6472}
.fault{fill:#a9c8f0;stroke:#2b6cb0;background:#a9c8f0;border-color:#2b6cb0}
.matched{fill:#a6dcb4;stroke:#2f7d4f;background:#a6dcb4;border-color:#2f7d4f}
.duplicate{fill:#e2f3e6;stroke:#7fb08f;background:#e2f3e6;border-color:#7fb08f}
.false{fill:#f6b8ae;stroke:#b3261e;background:#f6b8ae;border-color:#b3261e}
.missed{fill:#fff;stroke:#b3261e;stroke-width:2;background:#fff;border-color:#b3261e}
.agent{fill:#f7ddb0;stroke:#b4690e;background:#f7ddb0;border-color:#b4690e}
.undecided{fill:#e4e7ec;stroke:#7a828f;background:#e4e7ec;border-color:#7a828f}
)css";

constexpr std::string_view kKey =
    "<p class=\"key\"><span><i class=\"dot fault\"></i>fault, found</span>"
    "<span><i class=\"dot missed\"></i>fault, missed</span>"
    "<span><i class=\"dot matched\"></i>incident, right</span>"
    "<span><i class=\"dot duplicate\"></i>duplicate or merged</span>"
    "<span><i class=\"dot false\"></i>false alarm</span>"
    "<span><i class=\"dot agent\"></i>agent death or planned</span>"
    "<span><i class=\"dot undecided\"></i>not decided</span></p>\n";

std::string header(const RunData& run) {
  const RunInfo& info = run.info;
  std::string html = fmt::format(
      "<h1>{}</h1>\n<p class=\"meta\">{} &middot; {} min &middot; {} RNICs "
      "&middot; {} probes, {} lost &middot; bonescan {} {}</p>\n",
      escape_html(info.scenario_name),
      escape_html(provenance_text(info)),
      clock_text(run.result.reached),
      run.result.rnics,
      run.result.probes_sent,
      run.result.probes_lost,
      escape_html(info.version),
      escape_html(info.commit));
  html +=
      fmt::format("<p class=\"meta\">fingerprint {} &middot; scenario {}</p>\n",
                  run.result.fingerprint.empty() ? "unknown" : escape_html(run.result.fingerprint),
                  escape_html(info.scenario_hash));
  if (!run.result.complete) {
    html += fmt::format(
        "<p class=\"note\">This run was cut at {} min of {} min. What is here is true "
        "for the stored part.</p>\n",
        clock_text(run.result.reached),
        clock_text(kStartOfRun + info.planned));
  }
  return html;
}

std::string tile(std::string_view name, const std::string& value, const std::string& detail) {
  return fmt::format("<div class=\"tile\"><span>{}</span><b>{}</b><span>{}</span></div>\n",
                     name,
                     escape_html(value),
                     escape_html(detail));
}

std::string ratio_tile(std::string_view name, const Ratio& ratio) {
  if (!ratio.value || !ratio.wilson95) {
    return tile(name, "-", "no trials");
  }
  return tile(name,
              fmt::format("{:.1f} %", 100 * *ratio.value),
              fmt::format("{} of {}; 95 % interval {:.1f} to {:.1f}",
                          ratio.successes,
                          ratio.trials,
                          100 * ratio.wilson95->low,
                          100 * ratio.wilson95->high));
}

std::string tiles(const RunData& run, const Evaluation& evaluation) {
  std::string html = "<div class=\"tiles\">\n";
  if (!evaluation.detection || !evaluation.localization) {
    html += tile("incidents", fmt::format("{}", run.incidents.size()), "no truth to score against");
    return html + "</div>\n";
  }
  const DetectionScore& score = *evaluation.detection;
  const TimeToDetect& delay = score.time_to_detect;
  html += ratio_tile("recall", score.recall);
  html += ratio_tile("precision", score.precision);
  html += tile(
      "time to detect, mean",
      seconds_text(delay.mean_s),
      fmt::format("median {}, p95 {}", seconds_text(delay.median_s), seconds_text(delay.p95_s)));
  html += ratio_tile("placed right", evaluation.localization->accuracy);
  html += tile("false alarms",
               fmt::format("{}", score.false_positives),
               score.false_alarms_per_day_upper95 ? fmt::format("95 % upper bound {:.1f} a day",
                                                                *score.false_alarms_per_day_upper95)
                                                  : "rate undefined");
  return html + "</div>\n";
}

std::string fault_row(const RunData& run, const TruthRow& truth, const FaultOutcome& outcome) {
  const Incident* incident = outcome.incident ? &run.incidents[*outcome.incident] : nullptr;
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td>{}</td>"
      "<td class=\"s\">{}</td><td class=\"s\">{}</td></tr>\n",
      escape_html(truth.name),
      escape_html(truth.kind),
      escape_html(truth.component),
      clock_text(truth.injected),
      outcome.time_to_detect_s ? seconds_text(outcome.time_to_detect_s)
                               : std::string(to_string(outcome.status)),
      incident != nullptr ? escape_html(named_component(run, *incident)) : "-",
      to_string(outcome.placement.placement),
      incident != nullptr ? fmt::format("<a href=\"#i{0}\">{0}</a>", incident_id_text(incident->id))
                          : "-");
}

std::string fault_table(const RunData& run, const Evaluation& evaluation) {
  if (!evaluation.detection) {
    return "";
  }
  std::string html =
      "<h2>Faults</h2>\n<table><tr><th>name</th><th>kind</th><th>where</th><th class=\"n\">injected"
      "</th><th class=\"n\">detected "
      "after</th><th>placed</th><th class=\"s\">placement</th><th>incident</th></tr>\n";
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    html += fault_row(run, run.truth[f], evaluation.faults[f]);
  }
  return html + "</table>\n";
}

std::string incident_table(const RunData& run, const Evaluation& evaluation) {
  std::string html =
      "<h2>Incidents</h2>\n<table><tr><th "
      "class=\"n\">opened</th><th>urgency</th><th>layer</th><th>component and "
      "evidence</th><th>counts as</th></tr>\n";
  for (std::size_t i = 0; i < run.incidents.size(); ++i) {
    const Incident& incident = run.incidents[i];
    html += fmt::format(
        "<tr id=\"i{}\"><td class=\"n\">{}</td><td>{}</td><td>{}</td><td><details><summary>{}: {}, "
        "{} pairs{}"
        "</summary><pre>{}</pre></details></td><td class=\"s\">{}</td></tr>\n",
        incident_id_text(incident.id),
        clock_text(incident.opened),
        incident.planned ? "planned" : to_string(incident.severity),
        to_string(incident.layer),
        escape_html(named_component(run, incident)),
        escape_html(incident.kind),
        incident.pairs.size(),
        incident.episodes > 1 ? fmt::format(", {} episodes", incident.episodes) : "",
        escape_html(explain_incident(run, evaluation, i)),
        evaluation.detection ? to_string(evaluation.incidents[i].status) : "-");
  }
  return html + "</table>\n";
}

}  // namespace

std::string report_html(const RunData& run, const Evaluation& evaluation) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>bonescan: {}</title><style>{}</style></head><body>\n"
      "{}{}<h2>Timeline</h2>\n{}{}{}{}{}</body></html>\n",
      escape_html(run.info.scenario_name),
      kStyle,
      header(run),
      tiles(run, evaluation),
      timeline_svg(run, evaluation),
      kKey,
      fault_table(run, evaluation),
      incident_table(run, evaluation),
      skeleton_html(run));
}

}  // namespace bonescan
