// The last stage of Algorithm 1: does the RNIC do what OpenFlow says?
//
// A dump holds, for each flow, the actions that OpenFlow gives its five-tuple, the software
// megaflow, and the eswitch's entry.  A healthy active flow is in both tables with the expected
// actions.  An idle flow is in neither, which says nothing; so a diff is clear only if some flow
// was seen to match.
//
// Where nothing is offloaded the datapath is the last table, and a finding there names the bridge;
// else it names the RNIC.
//
// One dump cannot convict a counter: counters restart at zero after a rule is modified, wrap, and
// lag by the refresh period, and none of these is a fault.  Only the presence and the actions of
// entries are compared; counters merely tell an active flow from an idle one.  Two readings under
// traffic can: `compare_counters`.
#pragma once

#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// By rising weight as evidence: the first of a summary is the largest of its rows.
enum class RowFinding : std::uint8_t {
  kIdle,           ///< in no table, or just ageing out of them: says nothing
  kMatches,        ///< does what OpenFlow says
  kSoftwareOnly,   ///< used, and in the datapath, but the eswitch that should hold it does not
  kStandsStill,    ///< OpenFlow counts its packets, the entry that should take them does not
  kMissing,        ///< used a moment ago, yet in neither table
  kExtra,          ///< forwards although OpenFlow says drop
  kShadowed,       ///< a foreign entry before it takes its packets and does something else
  kAlteredAction,  ///< does something else than OpenFlow says
};

/// Whose table a finding speaks of.
enum class TableOwner : std::uint8_t {
  kDatapath,  ///< the bridge's megaflows, in software
  kEswitch,   ///< the RNIC's offloaded entries
};

std::string_view to_string(RowFinding finding);

constexpr bool is_mismatch(RowFinding finding) {
  return finding > RowFinding::kMatches;
}

struct TableDiffOptions {
  Duration max_idle = std::chrono::seconds(10);  ///< Open vSwitch other_config:max-idle
  /// An idle megaflow may outlive its eswitch entry by this: offloaded-stats-delay and one sweep.
  Duration ageing_grace = std::chrono::milliseconds(2500);
  /// Fewer packets that no entry accounts for may be the lag of counters.
  std::uint64_t min_unaccounted = 5;
};

struct RowDiff {
  RowFinding finding = RowFinding::kIdle;
  std::string text;  ///< one sentence
  TableOwner owner = TableOwner::kEswitch;
};

struct TableDiff {
  ComponentId culprit;  ///< owner of the table that the strongest finding speaks of
  bool mismatch = false;
  bool clear = false;  ///< no mismatch, and at least one flow was seen to match
  RowFinding strongest = RowFinding::kIdle;
  std::vector<RowDiff> rows;  ///< as in the dump
  std::string text;           ///< one sentence: counts, and the first of the strongest rows
};

/// Actions in a form that can be compared: no blanks, the fields inside set() in ascending order,
/// an empty list as "drop".  The order of the actions themselves is kept: it has a meaning.
/// Text with unbalanced parentheses, or more than 63 inside each other, only loses its blanks.
std::string normalized_actions(std::string_view actions);

RowDiff compare(const FlowTableRow& row, const TableDiffOptions& options = {});

/// What two readings of the tables around one flow say, the second under traffic.
struct CounterReads {
  std::uint64_t entry_before = 0;  ///< packets of the flow's entry
  std::uint64_t entry_now = 0;
  /// Packets that the flow's OpenFlow rule counted in between, and no entry.
  std::uint64_t unaccounted = 0;
};

/// kStandsStill if the flow's packets take another way than its entry; else kMatches.
RowDiff compare_counters(const FlowTableRow& row,
                         const CounterReads& reads,
                         const TableDiffOptions& options = {});

TableDiff summarize(const FlowTableDump& dump, const TableDiffOptions& options = {});

}  // namespace bonescan
