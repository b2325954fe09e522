#include "faults/processes/fault_trace.h"

#include "faults/kinds/fault_kind.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace bonescan {
namespace {

/// However fast a trace is played, a fault lasts as long as a person would notice. @ours
constexpr Duration kShortest = std::chrono::seconds(1);

struct Row {
  std::string_view fault_class;
  std::string_view fault;
  std::string_view kind;
};

/// @ours; each on the host of its node.
constexpr std::array kRows = {
    Row{"Parameter Plane Cable", "Link Down", "switch-port-down"},
    Row{"NIC", "Rnic Gid Error", "gid-change"},
    Row{"NIC", "NIC Link Speed low", "lane-downgrade"},
    Row{"NIC", "NIC Lost", "rnic-hardware-failure"},
    Row{"NIC", "NIC PCI link Width low", "pcie-width-loss"},
    Row{"Change", "Y-cables Taken offline", "switch-port-down"},
    Row{"Change", "Remote Optical Module Failure", "rnic-port-down"},
};

}  // namespace

std::string_view kind_of_trace_fault(const TraceFault& fault) {
  for (const Row& row : kRows) {
    if (row.fault_class == fault.fault_class && row.fault == fault.fault) {
      return find_fault_kind(row.kind) == nullptr ? std::string_view() : row.kind;
    }
  }
  return {};
}

std::vector<TimedTraceFault> faults_in_run(const FailureOptions& options) {
  std::vector<TimedTraceFault> timed;
  const double speedup = options.trace.speedup;
  for (const TraceFault& fault : options.trace.faults) {
    const Duration at =
        options.from + from_seconds(seconds(fault.at - options.trace.offset) / speedup);
    if (at < options.from || at >= options.until) {
      continue;
    }
    const Duration length = from_seconds(seconds(fault.length) / speedup);
    const bool ended = fault.length > Duration::zero();
    timed.push_back({&fault, at, ended ? std::max(kShortest, length) : Duration::zero()});
  }
  return timed;
}

TraceCounts count_trace(const FailureOptions& options) {
  TraceCounts counts;
  const auto timed = faults_in_run(options);
  for (const TimedTraceFault& fault : timed) {
    ++(kind_of_trace_fault(*fault.fault).empty() ? counts.others : counts.network);
  }
  counts.outside = options.trace.faults.size() - timed.size();
  return counts;
}

std::vector<Duration> trace_stalls(const FailureOptions& options) {
  std::vector<Duration> stalls;
  if (options.process == FailureProcess::kTrace && options.trace.others == TraceOthers::kStall) {
    for (const TimedTraceFault& fault : faults_in_run(options)) {
      if (kind_of_trace_fault(*fault.fault).empty()) {
        stalls.push_back(fault.at);
      }
    }
  }
  return stalls;
}

}  // namespace bonescan
