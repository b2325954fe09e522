// How long the ping lists of a scheme are, as a histogram over RNICs.
//
// A prediction needs the length of a list and nothing else of it.  Tasks of one shape have lists of
// the same lengths wherever they run, so one task of each shape is placed in a fabric of its own
// and counted as often as there are such tasks: ten million RNICs cost no more than ten tasks.
// Invariants: 1. lengths ascend and are unlike; 2. RNICs without a list are left out: nobody of
// their task is on another host, so no network failure concerns it.
#pragma once

#include "planner/matrix/probe_matrix.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct ListLength {
  std::uint32_t length = 0;  ///< entries, at least 1
  std::uint64_t rnics = 0;
};

/// A kind of task, and how many of it there are.
struct TaskGroup {
  TaskShape shape;
  std::uint64_t count = 1;
};

std::vector<ListLength> list_lengths(const ProbeMatrix& matrix);

/// Of a scheme that knows tasks, skeleton-repaired excepted.
/// @param fabric  its preset and rails; how many hosts it has does not matter
/// @errors those of place_tasks() and probe_matrix()
Expected<std::vector<ListLength>> list_lengths(ProbeScheme scheme,
                                               std::span<const TaskGroup> groups,
                                               const FabricOptions& fabric);

/// At most so many lengths: neighbours are joined at their mean, rounded, where that changes least.
std::vector<ListLength> coarsened(std::vector<ListLength> lengths, std::size_t most);

}  // namespace bonescan
