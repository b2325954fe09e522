#include "detectors/localize/table_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

constexpr std::string_view kDrop = "drop";
constexpr std::size_t kDepthMax = 64;

/// One level of parentheses while actions are read.
struct Level {
  std::vector<std::string> done;
  std::string current;
  bool sortable = false;  ///< inside set(): the order of fields has no meaning

  std::string close() {
    done.push_back(std::move(current));
    if (sortable) {
      std::sort(done.begin(), done.end());
    }
    return fmt::format("{}", fmt::join(done, ","));
  }
};

std::string without_blanks(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      kept.push_back(c);
    }
  }
  return kept;
}

std::string flows_text(std::size_t count) {
  return fmt::format("{} active flow{}", count, count == 1 ? "" : "s");
}

std::string_view role_text(FlowRole role) {
  return role == FlowRole::kEncap ? "encap" : "decap";
}

std::string flow_text(const FlowTableRow& row) {
  return fmt::format("{} of {}", role_text(row.role), row.match.empty() ? "one flow" : row.match);
}

std::string used_text(const FlowEntry& entry) {
  return fmt::format("{} packets, last {:.1f} s ago", entry.packets, seconds(entry.used));
}

RowDiff compare_dropped(const FlowTableRow& row,
                        std::string_view datapath,
                        std::string_view eswitch) {
  const bool software = row.datapath.present && datapath != kDrop;
  const bool hardware = row.eswitch.present && eswitch != kDrop;
  if (software || hardware) {
    return {RowFinding::kExtra,
            fmt::format("{}: OpenFlow drops it, the {} forwards it ({})",
                        flow_text(row),
                        hardware ? "eswitch" : "datapath",
                        hardware ? eswitch : datapath),
            hardware ? TableOwner::kEswitch : TableOwner::kDatapath};
  }
  if (row.datapath.present || row.eswitch.present) {
    return {RowFinding::kMatches, fmt::format("{}: dropped, as OpenFlow says", flow_text(row))};
  }
  return {RowFinding::kIdle, fmt::format("{}: idle, in no table", flow_text(row))};
}

RowDiff compare_absent(const FlowTableRow& row, const TableDiffOptions& options) {
  const auto in_use = [&options](const FlowEntry& entry) {
    return entry.packets > 0 && entry.used < options.max_idle;
  };
  if (!in_use(row.datapath) && !in_use(row.eswitch)) {
    return {RowFinding::kIdle, fmt::format("{}: idle, in no table", flow_text(row))};
  }
  const FlowEntry& entry = in_use(row.datapath) ? row.datapath : row.eswitch;
  return {RowFinding::kMissing,
          fmt::format("{}: in use ({}), yet neither the datapath nor the eswitch holds it",
                      flow_text(row),
                      used_text(entry)),
          row.hardware_expected ? TableOwner::kEswitch : TableOwner::kDatapath};
}

/// The datapath holds the flow as expected and the eswitch, which should, does not.
RowDiff compare_software_only(const FlowTableRow& row, const TableDiffOptions& options) {
  const Duration used = row.datapath.used;
  if (used >= options.max_idle && used < options.max_idle + options.ageing_grace) {
    return {RowFinding::kIdle,
            fmt::format(
                "{}: ageing out after {:.1f} s without a packet", flow_text(row), seconds(used))};
  }
  return {RowFinding::kSoftwareOnly,
          fmt::format("{}: the datapath holds it ({}), the eswitch does not: its packets take the "
                      "software path",
                      flow_text(row),
                      used_text(row.datapath)),
          TableOwner::kEswitch};
}

/// An entry before the flow's own takes its packets; harmless only if it does what OpenFlow says.
bool is_shadowed(const FlowTableRow& row, std::string_view expected) {
  return row.shadow.present && normalized_actions(row.shadow.actions) != expected;
}

RowDiff shadowed(const FlowTableRow& row, std::string_view expected) {
  return {
      RowFinding::kShadowed,
      fmt::format("{}: OpenFlow says {}, but {} comes before its entry and does {} ({} packets)",
                  flow_text(row),
                  expected,
                  row.shadow_match.empty() ? "a foreign entry" : row.shadow_match,
                  normalized_actions(row.shadow.actions),
                  row.shadow.packets),
      TableOwner::kEswitch};
}

}  // namespace

std::string_view to_string(RowFinding finding) {
  switch (finding) {
    case RowFinding::kIdle:
      return "idle";
    case RowFinding::kMatches:
      return "matches";
    case RowFinding::kSoftwareOnly:
      return "software-only";
    case RowFinding::kStandsStill:
      return "stands-still";
    case RowFinding::kMissing:
      return "missing";
    case RowFinding::kExtra:
      return "extra";
    case RowFinding::kShadowed:
      return "shadowed";
    case RowFinding::kAlteredAction:
      return "altered-action";
  }
  return "unknown";
}

std::string normalized_actions(std::string_view actions) {
  const std::string text = without_blanks(actions);
  if (text.empty()) {
    return std::string(kDrop);
  }
  std::vector<Level> levels(1);
  for (const char c : text) {
    Level& level = levels.back();
    if (c == '(') {
      if (levels.size() == kDepthMax) {
        return text;
      }
      const bool sortable = level.sortable || level.current == "set";
      level.current.push_back(c);
      levels.emplace_back().sortable = sortable;
    } else if (c == ')') {
      if (levels.size() == 1) {
        return text;
      }
      const std::string inner = level.close();
      levels.pop_back();
      levels.back().current += inner;
      levels.back().current.push_back(c);
    } else if (c == ',') {
      level.done.push_back(std::move(level.current));
      level.current.clear();
    } else {
      level.current.push_back(c);
    }
  }
  return levels.size() == 1 ? levels.back().close() : text;
}

RowDiff compare(const FlowTableRow& row, const TableDiffOptions& options) {
  const std::string expected = normalized_actions(row.expected_actions);
  const std::string datapath = normalized_actions(row.datapath.actions);
  const std::string eswitch = normalized_actions(row.eswitch.actions);
  if (is_shadowed(row, expected)) {
    return shadowed(row, expected);
  }
  if (expected == kDrop) {
    return compare_dropped(row, datapath, eswitch);
  }
  if (!row.datapath.present && !row.eswitch.present) {
    return compare_absent(row, options);
  }
  const bool software_altered = row.datapath.present && datapath != expected;
  const bool hardware_altered = row.eswitch.present && eswitch != expected;
  if (software_altered || hardware_altered) {
    return {RowFinding::kAlteredAction,
            fmt::format("{}: OpenFlow says {}, the {} does {}",
                        flow_text(row),
                        expected,
                        hardware_altered ? "eswitch" : "datapath",
                        hardware_altered ? eswitch : datapath),
            hardware_altered ? TableOwner::kEswitch : TableOwner::kDatapath};
  }
  if (!row.eswitch.present && row.hardware_expected) {
    return compare_software_only(row, options);
  }
  return {RowFinding::kMatches, fmt::format("{}: as OpenFlow says", flow_text(row))};
}

RowDiff compare_counters(const FlowTableRow& row,
                         const CounterReads& reads,
                         const TableDiffOptions& options) {
  if (reads.entry_now != reads.entry_before || reads.unaccounted < options.min_unaccounted) {
    return {RowFinding::kMatches, fmt::format("{}: its entry counts on", flow_text(row))};
  }
  const bool hardware = row.eswitch.present;
  return {RowFinding::kStandsStill,
          fmt::format("{}: OpenFlow counted {} packets that no entry did, and its {} entry stands "
                      "still at {}",
                      flow_text(row),
                      reads.unaccounted,
                      hardware ? "eswitch" : "datapath",
                      reads.entry_now),
          hardware ? TableOwner::kEswitch : TableOwner::kDatapath};
}

TableDiff summarize(const FlowTableDump& dump, const TableDiffOptions& options) {
  TableDiff diff;
  diff.rows.reserve(dump.rows.size());
  std::size_t idle = 0;
  std::size_t mismatches = 0;
  std::size_t first_strongest = 0;
  for (const FlowTableRow& row : dump.rows) {
    const RowDiff& found = diff.rows.emplace_back(compare(row, options));
    idle += found.finding == RowFinding::kIdle ? 1 : 0;
    mismatches += is_mismatch(found.finding) ? 1 : 0;
    if (found.finding > diff.strongest) {
      first_strongest = diff.rows.size() - 1;
      diff.strongest = found.finding;
    }
  }
  diff.culprit = dump.rnic;
  if (!diff.rows.empty() && diff.rows[first_strongest].owner == TableOwner::kDatapath) {
    diff.culprit = dump.bridge;
  }
  const std::size_t active = dump.rows.size() - idle;
  diff.mismatch = mismatches > 0;
  diff.clear = mismatches == 0 && active > 0;
  if (diff.mismatch) {
    diff.text = fmt::format("{} of {} not as OpenFlow says; {}",
                            mismatches,
                            flows_text(active),
                            diff.rows[first_strongest].text);
  } else if (diff.clear) {
    diff.text = fmt::format("{} as OpenFlow says, {} idle", flows_text(active), idle);
  } else {
    diff.text = fmt::format("no flow is active ({} idle): the tables say nothing", idle);
  }
  return diff;
}

}  // namespace bonescan
