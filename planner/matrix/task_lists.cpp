#include "planner/matrix/task_lists.h"

namespace bonescan {

RankRanges TaskLists::skeleton(std::uint32_t rank) const {
  const PlannedTask& task = *task_;
  const std::uint32_t width = task.tp * task.dp;
  const std::uint32_t stage = task.stage(rank);
  RankRanges ranges;
  const auto add_stage = [&](std::uint32_t neighbour) {
    const std::uint32_t first = neighbour * width + task.replica(rank) * task.tp;
    if (task.ranks_known) {
      ranges.add(first, first + task.tp);
    } else {
      ranges.add(neighbour * width, (neighbour + 1) * width);
    }
  };
  ranges.add(stage * width, (stage + 1) * width);
  if (task.pp > 1) {
    add_stage((stage + 1) % task.pp);
  }
  if (task.pp > 2) {
    add_stage((stage + task.pp - 1) % task.pp);
  }
  return ranges;
}

}  // namespace bonescan
