#include "scenarios/schema/maintenance_keys.h"

#include "detectors/incident/maintenance.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName{0, 200};
constexpr Range<Duration> kWithinARun{Duration::zero(), std::chrono::hours(24 * 366)};

KeyTable<MaintenanceWindow> window_table() {
  KeyTable<MaintenanceWindow> table;
  table.duration("from",
                 kWithinARun,
                 field(&MaintenanceWindow::from),
                 "When the work begins, after the start of the run.");
  table
      .text("from_utc",
            {0, 20},
            field(&MaintenanceWindow::from_utc),
            "The same on an agent's calendar, as `2026-11-30T08:00:00Z`; needs `for`. A simulated "
            "run "
            "begins at 1970-01-01T00:00:00Z.")
      .otherwise("`from` says it");
  table.duration("to",
                 kWithinARun,
                 field(&MaintenanceWindow::to),
                 "When it ends, after the start of the run.");
  table.duration("for",
                 kWithinARun,
                 field(&MaintenanceWindow::length),
                 "How long it lasts. Either this or `to`.");
  table
      .text("component",
            kName,
            field(&MaintenanceWindow::component),
            "What is worked on, as reports name it, or a beginning of names and `*`. One of "
            "`component`, `host` and `task`.")
      .otherwise("none");
  table
      .text("host",
            kName,
            field(&MaintenanceWindow::host),
            "A host with everything in it and its cables, or a beginning and `*`.")
      .otherwise("none");
  table
      .text("task",
            kName,
            field(&MaintenanceWindow::task),
            "All endpoints of a job, or of jobs with this beginning and `*`.")
      .otherwise("none");
  return table;
}

void check_window(const MaintenanceWindow& window, const YamlNode& root, const std::string& path) {
  const int subjects = (window.component.empty() ? 0 : 1) + (window.host.empty() ? 0 : 1) +
                       (window.task.empty() ? 0 : 1);
  if (subjects != 1) {
    raise(locate(root, path),
          path,
          {"one of component, host and task",
           subjects == 0 ? "none" : fmt::format("{} of them", subjects),
           "say what is worked on; several things take several windows"});
  }
  if (!window.from_utc.empty() && !unix_s_from_utc(window.from_utc)) {
    raise(locate(root, path + ".from_utc"),
          path + ".from_utc",
          {"a time in UTC", in_quotes(window.from_utc), "write it as 2026-11-30T08:00:00Z"});
  }
  const bool has_length = window.length > Duration::zero();
  if (has_length == (window.to > Duration::zero()) ||
      (!has_length && (!window.from_utc.empty() || window.to <= window.from))) {
    raise(locate(root, path),
          path,
          {"an end after the beginning: either `for`, or `to` beside `from`",
           fmt::format("from {}, to {}, for {}",
                       window.from_utc.empty() ? format_duration(window.from) : window.from_utc,
                       format_duration(window.to),
                       format_duration(window.length)),
           "give the window a length with `for`"});
  }
}

}  // namespace

void add_maintenance_keys(KeyTable<PipelineOptions>& table) {
  table.list("maintenance",
             {0, 10'000},
             window_table(),
             field(&PipelineOptions::maintenance),
             "Planned work: incidents that lie in it, with all of their candidates or all of their "
             "pairs, are recorded as planned and alert nobody.");
}

void check_maintenance(const PipelineOptions& pipeline, const YamlNode& root) {
  for (std::size_t i = 0; i < pipeline.maintenance.size(); ++i) {
    check_window(pipeline.maintenance[i], root, fmt::format("maintenance[{}]", i));
  }
}

}  // namespace bonescan
