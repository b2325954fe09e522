#include "tools/flows/flow_check.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace bonescan {
namespace {

using backend_ovs::DatapathFlow;
using backend_ovs::FlowRowOptions;
using backend_ovs::OffloadTable;
using backend_ovs::OpenflowTrace;
using backend_ovs::SourcedRow;

FlowRole role_of(const OpenflowTrace& trace) {
  return trace.passes.front().flow.find("tun_id=") == std::string::npos ? FlowRole::kEncap
                                                                        : FlowRole::kDecap;
}

std::string rule_text(const OpenflowTrace& trace, const FlowInputs& inputs) {
  const auto* rule = backend_ovs::rule_of(trace, inputs.now.openflow);
  return rule == nullptr ? ""
                         : fmt::format("table={},priority={}{}{}",
                                       rule->table,
                                       rule->priority,
                                       rule->match_text.empty() ? "" : ",",
                                       rule->match_text);
}

/// Where a person should look first.
void place(const SourcedRow& sourced, const FlowInputs& inputs, FlowFinding& finding) {
  const auto tc = inputs.tc_files.find(sourced.device);
  const bool shadowed = finding.diff.finding == RowFinding::kShadowed;
  const std::size_t filter = shadowed ? sourced.shadow_line : sourced.filter_line;
  if (tc != inputs.tc_files.end() && filter > 0 && (shadowed || sourced.row.eswitch.present)) {
    finding.file = tc->second;
    finding.line = filter;
  } else if (sourced.datapath_line > 0) {
    finding.file = inputs.files.datapath;
    finding.line = sourced.datapath_line;
  }
}

class Checker final {
 public:
  Checker(const FlowInputs& inputs, OffloadTable offload) : inputs_(inputs), offload_(offload) {}

  void check_trace(const NamedTrace& named) {
    const OpenflowTrace& trace = named.trace;
    FlowRowOptions options = {.offload = offload_, .role = role_of(trace)};
    const auto unaccounted =
        backend_ovs::unaccounted_packets(trace, inputs_.before, inputs_.now, inputs_.ports);
    if (unaccounted.value_or(0) >= TableDiffOptions{}.min_unaccounted) {
      options.recent_packets = *unaccounted;
    }
    const SourcedRow sourced = backend_ovs::traced_row(trace, inputs_.now, inputs_.ports, options);
    RowDiff diff = compare(sourced.row);
    const DatapathFlow* entry = backend_ovs::entry_of(trace, inputs_.now.datapath, inputs_.ports);
    if (entry != nullptr) {
      traced_.insert(entry->line);
      if (!is_mismatch(diff.finding) && unaccounted) {
        diff = compare_reads(sourced.row, *entry, *unaccounted, std::move(diff));
      }
    }
    add(std::move(diff), sourced, named.file, rule_text(trace, inputs_));
  }

  void check_entry(const DatapathFlow& entry) {
    if (traced_.count(entry.line) > 0) {
      return;
    }
    const SourcedRow sourced =
        backend_ovs::untraced_row(entry, inputs_.now, inputs_.ports, {.offload = offload_});
    add(compare(sourced.row), sourced, inputs_.files.datapath, "");
  }

  FlowCheck take() { return std::move(check_); }

 private:
  RowDiff compare_reads(const FlowTableRow& row,
                        const DatapathFlow& entry,
                        std::uint64_t unaccounted,
                        RowDiff otherwise) const {
    const DatapathFlow* before = backend_ovs::same_entry(entry, inputs_.before.datapath);
    if (before == nullptr) {
      return otherwise;
    }
    RowDiff diff = compare_counters(
        row,
        {.entry_before = before->packets, .entry_now = entry.packets, .unaccounted = unaccounted});
    return is_mismatch(diff.finding) ? std::move(diff) : std::move(otherwise);
  }

  void add(RowDiff diff, const SourcedRow& sourced, const std::string& file, std::string rule) {
    ++check_.flows;
    if (!is_mismatch(diff.finding)) {
      ++(diff.finding == RowFinding::kIdle ? check_.idle : check_.matching);
      return;
    }
    FlowFinding& finding = check_.findings.emplace_back();
    finding.diff = std::move(diff);
    finding.row = sourced.row;
    finding.file = file;
    finding.rule = std::move(rule);
    place(sourced, inputs_, finding);
  }

  const FlowInputs& inputs_;
  OffloadTable offload_;
  std::set<std::size_t> traced_;  ///< lines of entries that a trace leads to
  FlowCheck check_;
};

}  // namespace

FlowCheck check_flows(const FlowInputs& inputs, OffloadTable offload) {
  Checker checker(inputs, offload);
  for (const NamedTrace& named : inputs.traces) {
    checker.check_trace(named);
  }
  for (const DatapathFlow& entry : inputs.now.datapath) {
    checker.check_entry(entry);
  }
  return checker.take();
}

}  // namespace bonescan
