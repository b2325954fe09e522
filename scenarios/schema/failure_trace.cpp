#include "scenarios/schema/failure_trace.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::string_view kPath = "failures.trace.file";
constexpr double kDayMs = 86'400'000.0;
constexpr double kMostDays = 3'660.0;

struct TraceRow {
  const YamlNode* node = nullptr;  ///< the row
  std::string node_id;
  std::string fault_class;
  std::string fault;
  std::int64_t at_ms = 0;
  bool starts = false;
};

const YamlNode& member(const YamlNode& row, std::string_view key) {
  const YamlEntry* entry = row.find(key);
  if (entry == nullptr) {
    raise(row.at,
          kPath,
          {fmt::format("an event with {}", key),
           describe(row),
           "an event has node_id, event_time, event_type and fault_type {Class, Desc}"});
  }
  return entry->value;
}

TraceRow read_row(const YamlNode& row) {
  TraceRow read;
  read.node = &row;
  read.node_id = read_text(member(row, "node_id"), kPath, {1, 200});
  const double days = read_number(member(row, "event_time"), kPath, {0.0, kMostDays});
  read.at_ms = std::llround(days * kDayMs);
  constexpr std::string_view kStart = "fault_start";
  constexpr std::string_view kEnd = "fault_end";
  read.starts = read_choice(member(row, "event_type"), kPath, {kStart, kEnd}) == 0;
  const YamlNode& type = member(row, "fault_type");
  read.fault_class = read_text(member(type, "Class"), kPath, {1, 200});
  read.fault = read_text(member(type, "Desc"), kPath, {1, 200});
  return read;
}

void add(YamlNode& map, std::string_view key, const Position& at, std::string text) {
  map.entries.push_back(
      {std::string(key), at, make_node(YamlNode::Kind::kScalar, at, std::move(text))});
}

YamlNode fault_node(const TraceRow& start) {
  const Position& at = start.node->at;
  YamlNode fault = make_node(YamlNode::Kind::kMap, at);
  add(fault, "node", at, start.node_id);
  add(fault, "at", at, fmt::format("{}ms", start.at_ms));
  add(fault, "class", at, start.fault_class);
  add(fault, "fault", at, start.fault);
  return fault;
}

/// One entry for each start, in the order of the file.
YamlNode joined(const YamlNode& events) {
  YamlNode faults = make_node(YamlNode::Kind::kList, events.at);
  std::map<std::tuple<std::string, std::string, std::string>, std::deque<std::size_t>> open;
  std::vector<std::int64_t> starts_ms;
  std::int64_t before_ms = 0;
  for (const YamlNode& event : events.items) {
    const TraceRow row = read_row(event);
    if (row.at_ms < before_ms) {
      raise(event.at,
            kPath,
            {"events in the order of time", "an earlier one than before", "sort the file"});
    }
    before_ms = row.at_ms;
    auto& waiting = open[{row.node_id, row.fault_class, row.fault}];
    if (row.starts) {
      waiting.push_back(faults.items.size());
      starts_ms.push_back(row.at_ms);
      faults.items.push_back(fault_node(row));
      continue;
    }
    if (waiting.empty()) {
      raise(event.at,
            kPath,
            {"a start before every end",
             "the end of a fault that did not begin",
             "delete the event, or add its start"});
    }
    const std::size_t index = waiting.front();
    waiting.pop_front();
    const std::int64_t length_ms = std::max<std::int64_t>(1, row.at_ms - starts_ms[index]);
    add(faults.items[index], "length", event.at, fmt::format("{}ms", length_ms));
  }
  return faults;
}

}  // namespace

bool include_failure_trace(YamlNode& root, const std::string& file) {
  YamlEntry* failures = root.find("failures");
  YamlEntry* trace = failures == nullptr ? nullptr : failures->value.find("trace");
  const YamlEntry* include = trace == nullptr ? nullptr : trace->value.find("file");
  if (include == nullptr) {
    return false;
  }
  const Position at = include->value.at;
  const std::string name = read_text(include->value, kPath, {1, 1000});
  const std::string resolved = (std::filesystem::path(file).parent_path() / name).string();
  const std::string text = read_config_file(resolved, at, kPath);
  const YamlNode events = parse_yaml_value(text, std::make_shared<const std::string>(resolved));
  if (events.kind != YamlNode::Kind::kList) {
    raise(events.at, kPath, {"a list of events", describe(events), "the file is a JSON array"});
  }
  std::erase_if(trace->value.entries, [](const YamlEntry& entry) { return entry.key == "file"; });
  trace->value.entries.push_back({"faults", at, joined(events)});
  return true;
}

}  // namespace bonescan
