// The targets of one rank of a task, in the schemes that know tasks; by arithmetic.
//
// Between hosts the ranks of one slot (place within the container, hence rail) are those that
// differ by whole containers, so lists of a rail are steps of that many ranks through a range.
#pragma once

#include "planner/matrix/planned_task.h"

#include <array>
#include <cstdint>

namespace bonescan {

/// Ranks first, first + step, ... before `last`.
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The ranges that a list is made of; ranks of the source's own container are to be left out.
struct RankRanges {
  std::array<RankRange, 3> ranges = {};
  std::uint32_t count = 0;

  void add(std::uint32_t first, std::uint32_t last) { ranges[count++] = {first, last}; }
};

class TaskLists final {
 public:
  /// REQUIRES: `task` outlives this.
  TaskLists(const Fabric& fabric, const PlannedTask& task)
      : task_(&task), per_host_(task.rnics_per_host(fabric)) {}

  std::uint32_t per_host() const { return per_host_; }

  std::uint32_t hosts() const { return task_->rank_count() / per_host_; }

  /// The own stage, and of the neighbouring ones round the ring the own replica, or everybody where
  /// ranks are not known.
  RankRanges skeleton(std::uint32_t rank) const;

  RankRanges whole_task() const {
    RankRanges ranges;
    ranges.add(0, task_->rank_count());
    return ranges;
  }

  /// f(rank of the target) for all in the ranges on the same slot of other hosts.
  template <class F>
  void for_same_slot(std::uint32_t rank, const RankRanges& ranges, const F& f) const {
    const std::uint32_t slot = rank % per_host_;
    for (std::uint32_t i = 0; i < ranges.count; ++i) {
      for (std::uint32_t r = first_of_slot(ranges.ranges[i].first, slot); r < ranges.ranges[i].last;
           r += per_host_) {
        if (r != rank) {
          f(r);
        }
      }
    }
  }

  /// How often for_same_slot() calls f.
  std::uint32_t same_slot_count(std::uint32_t rank, const RankRanges& ranges) const {
    const std::uint32_t slot = rank % per_host_;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < ranges.count; ++i) {
      const auto [first, last] = ranges.ranges[i];
      const std::uint32_t from = first_of_slot(first, slot);
      count += from < last ? (last - from + per_host_ - 1) / per_host_ : 0;
      count -= rank >= first && rank < last ? 1 : 0;
    }
    return count;
  }

 private:
  std::uint32_t first_of_slot(std::uint32_t from, std::uint32_t slot) const {
    return from + (slot + per_host_ - from % per_host_) % per_host_;
  }

  const PlannedTask* task_;
  std::uint32_t per_host_;
};

}  // namespace bonescan
