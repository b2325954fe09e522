#include "planner/matrix/planned_task.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace bonescan {
namespace {

/// Hosts that jobs are placed on, in order.
class FreeHosts final {
 public:
  explicit FreeHosts(const Fabric& fabric) : fabric_(&fabric) {}

  std::optional<HostId> take() {
    while (next_ < fabric_->host_count() && fabric_->is_spare(HostId(next_))) {
      ++next_;
    }
    return next_ < fabric_->host_count() ? std::optional(HostId(next_++)) : std::nullopt;
  }

 private:
  const Fabric* fabric_;
  std::uint32_t next_ = 0;
};

/// The host that small tasks share.
struct SharedHost {
  HostId host{};
  std::uint32_t next_rail = 0;
};

bool fits_shape(const TaskShape& shape, std::uint32_t rails) {
  const std::uint64_t ranks = std::uint64_t{shape.tp} * shape.pp * shape.dp;
  return shape.rnics > 0 && ranks == shape.rnics &&
         (shape.rnics < rails || shape.rnics % rails == 0);
}

}  // namespace

std::uint64_t hosts_of(const TaskShape& shape, std::uint32_t rails) {
  return (shape.rnics + rails - 1) / rails;
}

FabricOptions with_hosts(FabricOptions fabric, std::uint64_t hosts) {
  const std::uint64_t each = fabric.hosts_per_segment;
  fabric.segments =
      static_cast<std::uint32_t>((std::max<std::uint64_t>(hosts, 1) + each - 1) / each);
  if (fabric.preset == FabricPreset::kThreeTier) {
    const std::uint32_t pod = fabric.segments_per_pod;
    fabric.segments = (fabric.segments + pod - 1) / pod * pod;
  }
  return fabric;
}

Expected<std::vector<PlannedTask>> place_tasks(const Fabric& fabric,
                                               std::span<const TaskShape> shapes) {
  const std::uint32_t rails = fabric.options().rails;
  FreeHosts free(fabric);
  SharedHost shared{{}, rails};
  std::vector<PlannedTask> tasks;
  for (const TaskShape& shape : shapes) {
    if (!fits_shape(shape, rails)) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("task {} has {} RNICs, tp {} x pp {} x dp {}, on hosts of {}",
                              tasks.size(),
                              shape.rnics,
                              shape.tp,
                              shape.pp,
                              shape.dp,
                              rails));
    }
    PlannedTask task{{}, shape.tp, shape.pp, shape.dp, shape.ranks_known};
    const bool whole = shape.rnics >= rails;
    while (task.rnics.size() < shape.rnics) {
      if (whole || shared.next_rail + shape.rnics > rails) {
        const auto host = free.take();
        if (!host) {
          return fail(ErrorCode::kInvalid,
                      fmt::format("the fabric is full: no host for task {}", tasks.size()));
        }
        shared = whole ? shared : SharedHost{*host, 0};
        for (std::uint32_t rail = 0; whole && rail < rails; ++rail) {
          task.rnics.push_back(fabric.rnic(*host, rail));
        }
      }
      for (std::uint32_t i = 0; !whole && i < shape.rnics; ++i) {
        task.rnics.push_back(fabric.rnic(shared.host, shared.next_rail++));
      }
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace bonescan
