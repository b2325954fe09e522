// The ping lists of one task while they change: what its skeleton says, what makes links
// distinguishable, and what an open incident still needs.
//
// A pair of an open incident stays listed whatever the skeleton says, from both ends: silence of a
// pair that nobody visits is not health.
// Invariants: 1. the lists are the union of the three; 2. whoever lists `b` for `a` lists `a` for
// `b`, where both are local; 3. the visiting order of what the skeleton says is a seeded
// permutation, and what is added comes after it; or both are counter-phased together.  Internal to
// detectors/pipeline.
#pragma once

#include "detectors/pipeline/pipeline_state.h"
#include "skeleton/rail_pairs.h"
#include "skeleton/task_skeleton.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class TaskLists final {
 public:
  /// The lists are those that the scheduler has.  REQUIRES: members ascend.
  explicit TaskLists(std::vector<EndpointId> members) : members_(std::move(members)) {}

  const std::vector<EndpointId>& members() const { return members_; }

  /// Have they ever been replaced?
  bool replaced() const { return !chosen_.empty(); }

  /// Directed pairs that were added so that links can be told apart.
  std::uint64_t repaired() const { return repaired_.size(); }

  /// Directed pairs in all lists.
  std::uint64_t pair_count(const PipelineState& state) const;

  /// Replaces what the skeleton says, and repairs it by the paths that are known.
  void choose(PipelineState& state, const TaskSkeleton& skeleton);

  /// Replaces what is kept for open incidents: `pairs`, both ways.
  void keep(PipelineState& state, const std::vector<Pair>& pairs);

  std::size_t held_size() const;

 private:
  void repair(const PipelineState& state);
  /// Chosen targets in a seeded order, then those that repair() added.
  std::vector<EndpointId> order(const PipelineState& state, std::size_t member) const;
  void apply(PipelineState& state, std::size_t member);
  bool chosen(Pair pair) const;

  std::vector<EndpointId> members_;
  PingLists chosen_;            ///< by member, each ascending; empty while preloaded
  PingLists in_step_;           ///< by member: chosen and repaired, counter-phased; or empty
  std::vector<Pair> repaired_;  ///< ascending
  std::vector<Pair> kept_;      ///< ascending
};

}  // namespace bonescan
