#include "scenarios/schema/cloud_keys.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kTracePath = "cloud.trace.file";
constexpr std::string_view kTraceHeader =
    "submit_s,containers,rnics,lifetime_s,ready_spread_s,trains";
constexpr std::size_t kTraceColumns = 6;

constexpr Range<double> kShare{0.0, 1.0};
constexpr Range<Duration> kLong{Duration::zero(), hours(24 * 366)};
constexpr Range<Duration> kShort{Duration::zero(), hours(1)};

auto cloud(auto member) {
  return field(&Scenario::cloud, member);
}

KeyTable<CloudShare> share_table(const std::string& value, const std::string& meaning) {
  KeyTable<CloudShare> table;
  table.count(value, {1, 4096}, field(&CloudShare::value), meaning).required();
  table.ratio("share", kShare, field(&CloudShare::share), "Its share, relative to all.").required();
  return table;
}

KeyTable<LifetimeQuantile> quantile_table() {
  KeyTable<LifetimeQuantile> table;
  table.ratio("share", kShare, field(&LifetimeQuantile::share), "Share of the tasks ...")
      .required();
  table
      .duration("time",
                {milliseconds(1), hours(24 * 366)},
                field(&LifetimeQuantile::time),
                "... that live no longer. Linear in the logarithm of time in between.")
      .required();
  return table;
}

KeyTable<CloudTraceTask> task_table() {
  KeyTable<CloudTraceTask> table;
  table.duration("at", kLong, field(&CloudTraceTask::at), "When it is submitted.").required();
  table.count("containers", {1, 4096}, field(&CloudTraceTask::containers), "Its containers.");
  table.count("rnics", {1, 16}, field(&CloudTraceTask::rnics), "RNICs (and GPUs) of each.");
  table.duration("lifetime",
                 {milliseconds(1), hours(24 * 366)},
                 field(&CloudTraceTask::lifetime),
                 "From its creation until it is asked to stop.");
  table.duration("ready_spread",
                 kShort,
                 field(&CloudTraceTask::ready_spread),
                 "Time over which its containers become ready.");
  table.choice<bool>("trains",
                     {{"no", false}, {"yes", true}},
                     field(&CloudTraceTask::trains),
                     "Whether it has the bursts of training.");
  return table;
}

void add_arrivals(ScenarioTable& table) {
  table.count("cloud.initial_tasks",
              {0, 100'000},
              cloud(&CloudOptions::initial_tasks),
              "Tasks that run already when the run starts.");
  table.number("cloud.arrivals.containers_per_minute",
               {0.0, 10'000.0},
               cloud(&CloudOptions::containers_per_minute),
               "Mean rate of creation off peak, at random times. A large cluster sees hundreds.");
  table.duration("cloud.arrivals.until",
                 kLong,
                 cloud(&CloudOptions::arrivals_until),
                 "Nobody arrives at random from then on; 0s: never.");
  table.count("cloud.arrivals.queue_limit",
              {0, 100'000},
              cloud(&CloudOptions::queue_limit),
              "Tasks that may wait for GPUs: first in, first out, without overtaking. Further ones "
              "are refused, as is a task that the empty cluster could not hold.");
  table.number("cloud.peaks.containers_per_minute",
               {0.0, 10'000.0},
               cloud(&CloudOptions::peak_containers_per_minute),
               "Rate within a peak. A large cluster sees about 2000.");
  table.duration(
      "cloud.peaks.first", kLong, cloud(&CloudOptions::peak_first), "When the first peak begins.");
  table.duration("cloud.peaks.every",
                 kLong,
                 cloud(&CloudOptions::peak_every),
                 "From one to the next; 0s: there is only one.");
  table.duration("cloud.peaks.length",
                 {Duration::zero(), minutes(2)},
                 cloud(&CloudOptions::peak_length),
                 "How long a peak lasts; 0s: there are none.");
}

void add_tasks(ScenarioTable& table) {
  table
      .list("cloud.sizes",
            {1, 100},
            share_table("containers", "Containers of a task."),
            cloud(&CloudOptions::sizes),
            "How large tasks are.")
      .otherwise("1 to 128 containers, 2.2 on average");
  table
      .list("cloud.shapes",
            {1, 16},
            share_table("rnics", "RNICs (and GPUs) of each container of a task: 1, 2, 4, 8 ..."),
            cloud(&CloudOptions::shapes),
            "How many RNICs a container binds, in an aligned block of one host.")
      .otherwise("8: 83.1%, 4: 8.9%, 2: 4%, 1: 4%");
  table
      .list("cloud.lifetimes",
            {1, 100},
            quantile_table(),
            cloud(&CloudOptions::lifetimes),
            "Quantiles of the lives of tasks.")
      .otherwise("half below 58min, 70% below 98min, a tail to 60h");
  table
      .text("cloud.trace.file",
            {1, 1000},
            field(&ScenarioDraft::cloud_trace_file),
            "A CSV file, relative to this one, with the tasks for `cloud.tasks`. Its header is "
            "`submit_s,containers,rnics,lifetime_s,ready_spread_s,trains`; times in seconds, "
            "`trains` yes or no.")
      .otherwise("none");
  table.list("cloud.tasks",
             {0, 20'000},
             task_table(),
             cloud(&CloudOptions::trace),
             "Tasks that arrive at given times, besides those at random.");
  table.ratio("cloud.quiet_share",
              kShare,
              cloud(&CloudOptions::quiet_share),
              "Tasks without regular bursts: debugging and inference. They send nothing.");
}

void add_life(ScenarioTable& table) {
  table.duration("cloud.ready.base",
                 kShort,
                 cloud(&CloudOptions::ready_base),
                 "From the creation of a container until it is ready, at least.");
  table.duration("cloud.ready.spread",
                 {Duration::zero(), minutes(10)},
                 cloud(&CloudOptions::ready_spread),
                 "Containers of a task become ready over a time of up to this much more.");
  table.ratio("cloud.crashes.share",
              kShare,
              cloud(&CloudOptions::crash_share),
              "Containers that crash, unannounced, just after they became ready.");
  table.duration("cloud.crashes.within",
                 kShort,
                 cloud(&CloudOptions::crash_within),
                 "They crash within this time of becoming ready.");
  table.duration("cloud.crashes.noticed",
                 kShort,
                 cloud(&CloudOptions::crash_noticed),
                 "So much later the platform ends the whole task.");
  table.duration("cloud.stop_grace",
                 kShort,
                 cloud(&CloudOptions::stop_grace),
                 "From the announcement that a task stops until its containers are gone.");
  table.number("cloud.agents.restarts_per_day",
               {0.0, 10'000.0},
               cloud(&CloudOptions::agent_restarts_per_day),
               "Restarts of each agent, at random times.");
  table.duration("cloud.agents.down",
                 {milliseconds(1), hours(1)},
                 cloud(&CloudOptions::agent_down),
                 "How long a restart or an upgrade of an agent takes.");
  table.duration("cloud.agents.upgrade.first",
                 kLong,
                 cloud(&CloudOptions::upgrade_at),
                 "When the first rolling upgrade of all agents begins; 0s: there is none.");
  table.duration("cloud.agents.upgrade.every",
                 kLong,
                 cloud(&CloudOptions::upgrade_every),
                 "From one to the next; 0s: there is only one.");
  table.duration("cloud.agents.upgrade.over",
                 {milliseconds(1), hours(24)},
                 cloud(&CloudOptions::upgrade_over),
                 "Time over which the agents are upgraded, each at a random moment.");
}

class CloudChecker final {
 public:
  CloudChecker(const Scenario& scenario, const YamlNode& root)
      : scenario_(scenario), cloud_(scenario.cloud), root_(root) {}

  void check() const {
    if (scenario_.jobs.empty() && !cloud_.active()) {
      complain("jobs",
               {"a job, or a cloud in which tasks arrive",
                "neither",
                "add `jobs`, or `cloud` with `arrivals`, `peaks`, `tasks` or `initial_tasks`"});
    }
    check_shares(cloud_.sizes, "cloud.sizes");
    check_shares(cloud_.shapes, "cloud.shapes");
    check_shapes();
    check_lifetimes();
    if (cloud_.peak_every > Duration::zero() && cloud_.peak_every <= cloud_.peak_length) {
      complain("cloud.peaks.every",
               {fmt::format("more than cloud.peaks.length, which is {}",
                            format_duration(cloud_.peak_length)),
                format_duration(cloud_.peak_every),
                "a peak ends before the next one begins"});
    }
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  void check_shares(const std::vector<CloudShare>& shares, const std::string& path) const {
    double sum = 0.0;
    for (const CloudShare& entry : shares) {
      sum += entry.share;
    }
    if (!shares.empty() && sum <= 0.0) {
      complain(path, {"a share above 0", "zeros only", "give one of the entries a share"});
    }
  }

  void check_fits(std::uint32_t rnics, const std::string& path) const {
    if (rnics > scenario_.fabric.rails) {
      complain(path,
               {fmt::format("at most fabric.rails, which is {}", scenario_.fabric.rails),
                std::to_string(rnics),
                "a container is on one host; list smaller ones in cloud.shapes"});
    }
  }

  void check_shapes() const {
    const bool drawn = cloud_.initial_tasks > 0 || cloud_.containers_per_minute > 0.0 ||
                       cloud_.peak_length > Duration::zero();
    if (drawn && cloud_.shapes.empty()) {
      check_fits(8, "cloud.shapes");
    }
    for (std::size_t i = 0; i < cloud_.shapes.size(); ++i) {
      check_fits(cloud_.shapes[i].value, fmt::format("cloud.shapes[{}].rnics", i));
    }
    for (std::size_t i = 0; i < cloud_.trace.size(); ++i) {
      check_fits(cloud_.trace[i].rnics, fmt::format("cloud.tasks[{}].rnics", i));
    }
  }

  void check_lifetimes() const {
    for (std::size_t i = 1; i < cloud_.lifetimes.size(); ++i) {
      const LifetimeQuantile& before = cloud_.lifetimes[i - 1];
      const LifetimeQuantile& after = cloud_.lifetimes[i];
      const std::string path = fmt::format("cloud.lifetimes[{}]", i);
      if (after.share <= before.share) {
        complain(path + ".share",
                 {"a share above that of the entry before",
                  fmt::format("{:g}% after {:g}%", after.share * 100.0, before.share * 100.0),
                  "sort the quantiles"});
      }
      if (after.time < before.time) {
        complain(path + ".time",
                 {"no less than that of the entry before",
                  format_duration(after.time) + " after " + format_duration(before.time),
                  "a larger share lives for less than a longer time"});
      }
    }
  }

  const Scenario& scenario_;
  const CloudOptions& cloud_;
  const YamlNode& root_;
};

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') {
    line.pop_back();
  }
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(std::move(cell));
  }
  return cells;
}

bool is_plain(const std::string& cell) {
  return !cell.empty() &&
         cell.find_first_not_of("0123456789.abcdefghijklmnopqrstuvwxyz") == std::string::npos;
}

/// The rows as YAML, each on the line on which it stands in the file.
std::string tasks_text(const std::string& csv, Position at, const std::string& name) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto complain = [&](std::size_t number, const std::string& expected) {
    raise(at,
          kTracePath,
          {expected, fmt::format("line {} of {}", number, in_quotes(name)), "see SCHEMA.md"});
  };
  if (line.substr(0, line.find('\r')) != kTraceHeader) {
    complain(1, fmt::format("the header {}", kTraceHeader));
  }
  std::string text = "tasks:\n";
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) {
      text += "\n";
      continue;
    }
    if (cells.size() != kTraceColumns) {
      complain(number, fmt::format("{} columns", kTraceColumns));
    }
    for (const std::string& cell : cells) {
      if (!is_plain(cell)) {
        complain(number, "a number, yes or no in every column");
      }
    }
    text += fmt::format(
        "  - {{at: {}s, containers: {}, rnics: {}, lifetime: {}s, ready_spread: {}s, trains: "
        "{}}}\n",
        cells[0],
        cells[1],
        cells[2],
        cells[3],
        cells[4],
        cells[5]);
  }
  return text;
}

}  // namespace

void add_cloud_keys(ScenarioTable& table) {
  add_arrivals(table);
  add_tasks(table);
  add_life(table);
}

void check_cloud(const Scenario& scenario, const YamlNode& root) {
  CloudChecker(scenario, root).check();
}

bool include_cloud_trace(YamlNode& root, const std::string& file) {
  YamlEntry* cloud_entry = root.find("cloud");
  YamlEntry* trace = cloud_entry == nullptr ? nullptr : cloud_entry->value.find("trace");
  const YamlEntry* include = trace == nullptr ? nullptr : trace->value.find("file");
  if (include == nullptr) {
    return false;
  }
  const Position at = include->value.at;
  const std::string name = read_text(include->value, kTracePath, {1, 1000});
  const std::string resolved = (std::filesystem::path(file).parent_path() / name).string();
  const std::string csv = read_config_file(resolved, at, kTracePath);
  YamlNode included =
      parse_yaml_tree(tasks_text(csv, at, name), std::make_shared<const std::string>(resolved));
  YamlNode& beside = cloud_entry->value;
  std::erase_if(beside.entries, [](const YamlEntry& entry) { return entry.key == "trace"; });
  merge_maps(included, beside);
  beside = std::move(included);
  return true;
}

}  // namespace bonescan
