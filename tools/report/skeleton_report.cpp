#include "tools/report/skeleton_report.h"

#include "tools/report/format.h"
#include "tools/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

/// More tasks than these are summed up.
constexpr std::size_t kTasksShown = 8;

/// Of a run with many tasks under one name, those with the same name follow each other.
std::vector<std::pair<std::string, std::vector<const SkeletonRecord*>>> by_task(
    const RunData& run) {
  std::vector<std::pair<std::string, std::vector<const SkeletonRecord*>>> tasks;
  std::map<std::string_view, std::size_t> known;
  for (const SkeletonRecord& record : run.skeletons) {
    const auto [place, added] = known.try_emplace(record.task, tasks.size());
    if (added) {
      tasks.emplace_back(record.task, std::vector<const SkeletonRecord*>());
    }
    tasks[place->second].second.push_back(&record);
  }
  return tasks;
}

/// "63", "8.75"
std::string destinations(const SkeletonRecord& record) {
  const double mean =
      record.members == 0 ? 0.0 : static_cast<double>(record.pairs) / record.members;
  std::string text = fmt::format("{:.2f}", mean);
  text.erase(text.find_last_not_of('0') + 1);
  text.erase(text.find_last_not_of('.') + 1);
  return text;
}

std::string basis_words(const SkeletonRecord& record) {
  if (record.basis == "preload") {
    return "as preloaded (" + record.why + ")";
  }
  return fmt::format("{} from {}, confidence {:.3f}",
                     record.scope,
                     record.basis == "throughput" ? "throughput" : "flow tables",
                     record.confidence);
}

std::string repaired_words(const SkeletonRecord& record) {
  return record.pairs_repaired == 0
             ? ""
             : fmt::format(", {} pairs of them to tell links apart", record.pairs_repaired);
}

std::string lags_words(const SkeletonRecord& record) {
  std::string text;
  for (const double lag_s : record.lags_s) {
    text += fmt::format("{}{:.1f}", text.empty() ? "" : ", ", lag_s);
  }
  return text.empty() ? "-" : text + " s";
}

/// One bar a task over the time of the run; the higher, the longer its lists.
std::string picture(const RunData& run, const std::vector<const SkeletonRecord*>& records) {
  constexpr double kWidth = 1100.0;
  constexpr double kHeight = 60.0;
  const double end_s = std::max(exact_seconds(run.result.reached), 1.0);
  double most = 1.0;
  for (const SkeletonRecord* record : records) {
    most = std::max(most, static_cast<double>(record->pairs));
  }
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"length of ping lists over time\">\n",
      kWidth,
      kHeight);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SkeletonRecord& record = *records[i];
    const double from_s = exact_seconds(record.at);
    const double to_s = i + 1 < records.size() ? exact_seconds(records[i + 1]->at) : end_s;
    const double height = kHeight * static_cast<double>(record.pairs) / most;
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{} "
        "{}, {} destinations</title></rect>\n",
        record.basis == "preload" ? "undecided" : "matched",
        kWidth * from_s / end_s,
        kHeight - height,
        std::max(kWidth * (to_s - from_s) / end_s, 0.5),
        height,
        clock_text(record.at),
        escape_html(record.scope),
        destinations(record));
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string skeleton_lines(const RunData& run) {
  std::string text;
  const auto tasks = by_task(run);
  for (std::size_t i = 0; i < std::min(tasks.size(), kTasksShown); ++i) {
    const SkeletonRecord& first = *tasks[i].second.front();
    const SkeletonRecord& last = *tasks[i].second.back();
    text += fmt::format("skeleton        {}: {} -> {} destinations, {}{}\n",
                        tasks[i].first,
                        destinations(first),
                        destinations(last),
                        basis_words(last),
                        repaired_words(last));
  }
  if (tasks.size() > kTasksShown) {
    text += fmt::format("skeleton        ... and {} more tasks\n", tasks.size() - kTasksShown);
  }
  return without_control_characters(text);
}

std::string skeleton_html(const RunData& run) {
  const auto tasks = by_task(run);
  if (tasks.empty()) {
    return "";
  }
  std::string html = "<h2>Who is probed</h2>\n";
  for (std::size_t i = 0; i < std::min(tasks.size(), kTasksShown); ++i) {
    html += fmt::format("<p class=\"meta\">{}: height is the length of the ping lists</p>\n",
                        escape_html(tasks[i].first));
    html += picture(run, tasks[i].second);
  }
  html +=
      "<table><tr><th class=\"n\">at</th><th>task</th><th>scope</th><th>from</th>"
      "<th class=\"n\">confidence</th><th class=\"n\">destinations</th><th class=\"n\">repaired"
      "</th><th class=\"n\">stages</th><th>lags</th><th>why</th></tr>\n";
  for (const SkeletonRecord& record : run.skeletons) {
    html += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"s\">{}</td><td class=\"s\">{}</td><td "
        "class=\"s\">{}</td>"
        "<td class=\"n\">{:.3f}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
        clock_text(record.at),
        escape_html(record.task),
        escape_html(record.scope),
        escape_html(record.basis),
        record.confidence,
        destinations(record),
        record.pairs_repaired,
        record.stages,
        lags_words(record),
        escape_html(record.why));
  }
  return html + "</table>\n";
}

Json skeleton_json(const RunData& run) {
  Json rows = Json::array();
  for (const SkeletonRecord& record : run.skeletons) {
    rows.push_back({{"at_s", exact_seconds(record.at)},
                    {"task", record.task},
                    {"scope", record.scope},
                    {"basis", record.basis},
                    {"confidence", json_number(record.confidence)},
                    {"members", record.members},
                    {"stages", record.stages},
                    {"lags_s", record.lags_s},
                    {"pairs", record.pairs},
                    {"pairs_repaired", record.pairs_repaired},
                    {"why", record.why}});
  }
  return rows;
}

std::string skeleton_at(const RunData& run, const Incident& incident) {
  if (run.skeletons.empty() || incident.pairs.empty() ||
      !run.pairs.contains(incident.pairs.front())) {
    return "";
  }
  const EndpointId source = run.pairs[incident.pairs.front()].source;
  if (!run.endpoints.contains(source)) {
    return "";
  }
  const SkeletonRecord* current = nullptr;
  for (const SkeletonRecord& record : run.skeletons) {
    if (record.task == run.endpoints[source].task && record.at <= incident.opened) {
      current = &record;
    }
  }
  return current == nullptr ? ""
                            : fmt::format("{} destinations an RNIC since {}, {}",
                                          destinations(*current),
                                          clock_text(current->at),
                                          basis_words(*current));
}

}  // namespace bonescan
