#include "planner/optimize/list_lengths.h"

#include "planner/matrix/task_lists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bonescan {
namespace {

std::vector<ListLength> from_counts(const std::map<std::uint32_t, std::uint64_t>& counts) {
  std::vector<ListLength> lengths;
  for (const auto& [length, rnics] : counts) {
    if (length > 0) {
      lengths.push_back({length, rnics});
    }
  }
  return lengths;
}

/// Entries of one rank's list.
std::uint32_t length_of(ProbeScheme scheme, const TaskLists& lists, std::uint32_t rank) {
  switch (scheme) {
    case ProbeScheme::kFullMesh:
      return (lists.hosts() - 1) * lists.per_host();
    case ProbeScheme::kSameRail:
      return lists.hosts() - 1;
    default:
      return lists.same_slot_count(rank, lists.skeleton(rank));
  }
}

}  // namespace

std::vector<ListLength> list_lengths(const ProbeMatrix& matrix) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::size_t source = 0; source + 1 < matrix.first.size(); ++source) {
    ++counts[matrix.first[source + 1] - matrix.first[source]];
  }
  return from_counts(counts);
}

Expected<std::vector<ListLength>> list_lengths(ProbeScheme scheme,
                                               std::span<const TaskGroup> groups,
                                               const FabricOptions& fabric) {
  if (!knows_tasks(scheme) || scheme == ProbeScheme::kSkeletonRepaired) {
    return fail(ErrorCode::kInvalid, "lists of this scheme do not follow from tasks alone");
  }
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const TaskGroup& group : groups) {
    const Fabric place(with_hosts(fabric, hosts_of(group.shape, fabric.rails)));
    const auto tasks = place_tasks(place, std::span(&group.shape, 1));
    if (!tasks) {
      return tl::unexpected(tasks.error());
    }
    const TaskLists lists(place, tasks->front());
    for (std::uint32_t rank = 0; rank < group.shape.rnics; ++rank) {
      counts[length_of(scheme, lists, rank)] += group.count;
    }
  }
  return from_counts(counts);
}

std::vector<ListLength> coarsened(std::vector<ListLength> lengths, std::size_t most) {
  while (lengths.size() > std::max<std::size_t>(most, 1)) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < lengths.size(); ++i) {
      const double apart = std::log(static_cast<double>(lengths[i + 1].length) /
                                    static_cast<double>(lengths[i].length));
      const auto rnics = static_cast<double>(std::min(lengths[i].rnics, lengths[i + 1].rnics));
      if (apart * rnics < least) {
        least = apart * rnics;
        best = i;
      }
    }
    ListLength& kept = lengths[best];
    const ListLength& gone = lengths[best + 1];
    const auto rnics = static_cast<double>(kept.rnics + gone.rnics);
    const double sum = static_cast<double>(kept.length) * static_cast<double>(kept.rnics) +
                       static_cast<double>(gone.length) * static_cast<double>(gone.rnics);
    kept.length = static_cast<std::uint32_t>(std::lround(sum / rnics));
    kept.rnics += gone.rnics;
    lengths.erase(lengths.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  return lengths;
}

}  // namespace bonescan
