#include "planner/matrix/scheme_size.h"

#include "planner/matrix/matrix_builder.h"
#include "planner/matrix/task_lists.h"
#include "planner/matrix/tor_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// What follows from counts alone.
void finish(SchemeSize& size, const MatrixOptions& options) {
  size.probes_by_rnic_pair = size.pairs;
  if (size.probing_rnics > 0) {
    size.mean_list =
        static_cast<double>(size.probes_per_sweep) / static_cast<double>(size.probing_rnics);
  }
  size.sweep = options.visit_period * static_cast<Duration::rep>(size.longest_list);
  size.probes_by_time = static_cast<double>(size.probing_rnics) *
                        (seconds(options.round) / seconds(options.visit_period));
}

void add_lists(std::uint64_t lists, std::uint64_t entries, SchemeSize& size) {
  size.probing_rnics += entries > 0 ? lists : 0;
  size.pairs += lists * entries;
  size.longest_list = std::max(size.longest_list, entries);
}

void add_mesh(const TaskLists& lists, bool everybody, SchemeSize& size) {
  const std::uint64_t hosts = lists.hosts();
  const std::uint64_t others =
      everybody ? hosts * lists.per_host() - 1 : (hosts - 1) * lists.per_host();
  add_lists(hosts * lists.per_host(), others, size);
  size.probes_by_container_pair += hosts * (hosts - 1);
}

void add_same_rail(const TaskLists& lists, SchemeSize& size) {
  const std::uint64_t hosts = lists.hosts();
  add_lists(hosts * lists.per_host(), hosts - 1, size);
  size.probes_by_container_pair += hosts * (hosts - 1);
}

/// Hosts that any rank of a host has in its list; equal for all ranks if tp fills the host.
std::uint64_t host_targets(const TaskLists& lists, std::uint32_t host) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t slot = 0; slot < lists.per_host(); ++slot) {
    const std::uint32_t rank = host * lists.per_host() + slot;
    lists.for_same_slot(rank, lists.skeleton(rank), [&](std::uint32_t target) {
      hosts.push_back(target / lists.per_host());
    });
  }
  std::sort(hosts.begin(), hosts.end());
  return static_cast<std::uint64_t>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
}

void add_skeleton(const PlannedTask& task, const TaskLists& lists, SchemeSize& size) {
  for (std::uint32_t rank = 0; rank < task.rank_count(); ++rank) {
    add_lists(1, lists.same_slot_count(rank, lists.skeleton(rank)), size);
  }
  for (std::uint32_t host = 0; host < lists.hosts(); ++host) {
    const std::uint32_t rank = host * lists.per_host();
    size.probes_by_container_pair += task.tp == lists.per_host()
                                         ? lists.same_slot_count(rank, lists.skeleton(rank))
                                         : host_targets(lists, host);
  }
}

SchemeSize task_size(ProbeScheme scheme, const MatrixInput& input, const MatrixOptions& options) {
  SchemeSize size;
  for (const PlannedTask& task : input.tasks) {
    const TaskLists lists(*input.fabric, task);
    if (scheme == ProbeScheme::kFullMesh) {
      add_mesh(lists, options.mesh == MeshReading::kEverybody, size);
    } else if (scheme == ProbeScheme::kSameRail) {
      add_same_rail(lists, size);
    } else {
      add_skeleton(task, lists, size);
    }
  }
  size.probes_per_sweep = size.pairs;
  return size;
}

/// By RNIC: which container it belongs to.
std::vector<std::uint32_t> containers(const ProbeMatrix& matrix, const MatrixInput& input) {
  const Fabric& fabric = *input.fabric;
  std::vector<std::uint32_t> container(fabric.rnic_count(), kNone);
  if (!knows_tasks(matrix.scheme)) {
    for (std::uint32_t r = 0; r < container.size(); ++r) {
      container[r] = fabric.host_of(RnicId(r)).index();
    }
    return container;
  }
  std::uint32_t next = 0;
  for (const PlannedTask& task : input.tasks) {
    const std::uint32_t each = task.rnics_per_host(fabric);
    for (std::uint32_t rank = 0; rank < task.rank_count(); ++rank) {
      container[task.rnics[rank].index()] = next + rank / each;
    }
    next += task.rank_count() / each;
  }
  return container;
}

std::uint64_t container_pairs(const ProbeMatrix& matrix, const MatrixInput& input) {
  const std::vector<std::uint32_t> container = containers(matrix, input);
  std::vector<std::uint64_t> pairs;
  for (std::uint32_t source = 0; source + 1 < matrix.first.size(); ++source) {
    const std::uint64_t own = container[source];
    std::uint64_t before = own;
    for (const RnicId target : matrix.list(RnicId(source))) {
      const std::uint64_t other = container[target.index()];
      if (other != own && other != before) {
        pairs.push_back(own << 32 | other);
      }
      before = other;
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return static_cast<std::uint64_t>(std::unique(pairs.begin(), pairs.end()) - pairs.begin());
}

}  // namespace

SchemeSize matrix_size(const ProbeMatrix& matrix,
                       const MatrixInput& input,
                       const MatrixOptions& options) {
  SchemeSize size;
  for (std::uint32_t source = 0; source + 1 < matrix.first.size(); ++source) {
    const auto list = matrix.list(RnicId(source));
    size.probing_rnics += list.empty() ? 0 : 1;
    size.longest_list = std::max<std::uint64_t>(size.longest_list, list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      size.pairs += i > 0 && list[i - 1] == list[i] ? 0 : 1;
    }
  }
  size.probes_per_sweep = matrix.size();
  size.probes_by_container_pair = container_pairs(matrix, input);
  finish(size, options);
  return size;
}

Expected<SchemeSize> scheme_size(ProbeScheme scheme,
                                 const MatrixInput& input,
                                 const MatrixOptions& options) {
  if (!knows_tasks(scheme) && input.fabric->is_graph()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} goes by ToRs of segments and rails", to_string(scheme)));
  }
  if (scheme == ProbeScheme::kDetector || scheme == ProbeScheme::kSkeletonRepaired) {
    const auto matrix = probe_matrix(scheme, input, options);
    if (!matrix) {
      return tl::unexpected(matrix.error());
    }
    return matrix_size(*matrix, input, options);
  }
  SchemeSize size;
  if (scheme == ProbeScheme::kPingmesh) {
    size = TorLists(*input.fabric, options).pingmesh_size();
  } else if (scheme == ProbeScheme::kRPingmesh) {
    size = TorLists(*input.fabric, options).r_pingmesh_size();
  } else {
    size = task_size(scheme, input, options);
  }
  finish(size, options);
  return size;
}

}  // namespace bonescan
