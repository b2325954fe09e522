// A recorded trace of faults as a plan: which of its faults are ours, and when they strike.
//
// The trace is that of InfiniteHBD (400 GPU servers over 349 days): a fault there means that a node
// was unavailable, the wait for a spare part included.  Its network faults have kinds here; most
// faults are of GPUs, fans, power, or unknown.
// Thread-safe.
#pragma once

#include "faults/processes/failure_options.h"
#include "sim/base/units.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace bonescan {

/// The kind of a fault of the trace, by its class and description; empty if it is not of the
/// network.
std::string_view kind_of_trace_fault(const TraceFault& fault);

/// A fault of the trace in the time of the run.
struct TimedTraceFault {
  const TraceFault* fault = nullptr;
  Duration at{};      ///< after the start of the run
  Duration length{};  ///< zero: it never ended
};

/// Those that begin in [from, until) of the run, in their order.
std::vector<TimedTraceFault> faults_in_run(const FailureOptions& options);

struct TraceCounts {
  std::size_t network = 0;  ///< with a kind
  std::size_t others = 0;   ///< not of the network
  std::size_t outside = 0;  ///< before or after the part of the trace that the run covers
};

TraceCounts count_trace(const FailureOptions& options);

/// When the jobs stand still for faults that are not of the network.
std::vector<Duration> trace_stalls(const FailureOptions& options);

}  // namespace bonescan
