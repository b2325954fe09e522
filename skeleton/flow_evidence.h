// Who talks to whom, read off the flow tables: one task's dumps, asked for a few at a time.
//
// Intuition: throughput says when an RNIC sends, the tables at it say to whom.  They name
// cross-rail and expert-parallel peers as well, which bursts cannot, at the price of dumps, each of
// which slows an RNIC for a moment.  Probes leave entries too; what carries no more than probes do
// is no peer. Rates are differences of two dumps, so that an old entry does not count as traffic.
// An edge is known if either end's table names it.  So only pairs of which both tables are unknown
// can be missed: members that could not be read, or whose tables name nobody, are listed as each
// other's peers.  Where entries come and go between readings more readings are made, and until it
// is likely that all were seen the scope is kSameRail, with the peers known so far beside it.
// Complexity: one dump a reading; skeleton() O(entries log entries).
// Invariants: 1. never more than the budget is asked for in a poll (the oracle is asked for all at
// once: it costs nothing); 2. a table that could not be read is unknown, not empty.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "skeleton/skeleton_options.h"
#include "skeleton/task_skeleton.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace bonescan {

class FlowEvidence final {
 public:
  /// REQUIRES: members ascend.
  FlowEvidence(std::vector<EndpointId> members, const SkeletonOptions& options);
  ~FlowEvidence();
  FlowEvidence(FlowEvidence&&) noexcept;
  FlowEvidence& operator=(FlowEvidence&&) noexcept;

  /// Asks for the dumps that are due at `now`, at most `budget`; returns how many it asked for.
  std::size_t poll(FlowTableSource& tables, Time now, std::size_t budget);

  /// What the tables say, once each member's were read twice or could not be read; nothing before.
  /// Where a member's could not be read its scope is wider, and `why` says so.
  std::optional<TaskSkeleton> skeleton() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
