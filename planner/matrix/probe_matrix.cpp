#include "planner/matrix/probe_matrix.h"

#include "planner/matrix/matrix_builder.h"
#include "planner/matrix/skeleton_repair.h"
#include "planner/matrix/task_lists.h"
#include "planner/matrix/tor_lists.h"
#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr std::array kSchemes = {
    std::pair(ProbeScheme::kFullMesh, std::string_view("full-mesh")),
    std::pair(ProbeScheme::kPingmesh, std::string_view("pingmesh")),
    std::pair(ProbeScheme::kRPingmesh, std::string_view("r-pingmesh")),
    std::pair(ProbeScheme::kDetector, std::string_view("detector")),
    std::pair(ProbeScheme::kSameRail, std::string_view("same-rail")),
    std::pair(ProbeScheme::kSkeleton, std::string_view("skeleton")),
    std::pair(ProbeScheme::kSkeletonRepaired, std::string_view("skeleton-repaired"))};

constexpr std::array kAllSchemes = [] {
  std::array<ProbeScheme, kSchemes.size()> schemes{};
  for (std::size_t i = 0; i < kSchemes.size(); ++i) {
    schemes[i] = kSchemes[i].first;
  }
  return schemes;
}();

std::vector<ProbeRow> mesh_rows(const MatrixInput& input, MeshReading reading) {
  std::vector<ProbeRow> rows;
  for (const PlannedTask& task : input.tasks) {
    const std::uint32_t each =
        reading == MeshReading::kEverybody ? 1 : task.rnics_per_host(*input.fabric);
    for (std::uint32_t a = 0; a < task.rank_count(); ++a) {
      for (std::uint32_t b = 0; b < task.rank_count(); ++b) {
        if (a / each != b / each) {
          rows.push_back({task.rnics[a], task.rnics[b], 0});
        }
      }
    }
  }
  return rows;
}

std::vector<ProbeRow> rail_rows(const MatrixInput& input, bool skeleton) {
  std::vector<ProbeRow> rows;
  for (const PlannedTask& task : input.tasks) {
    const TaskLists lists(*input.fabric, task);
    for (std::uint32_t rank = 0; rank < task.rank_count(); ++rank) {
      lists.for_same_slot(
          rank, skeleton ? lists.skeleton(rank) : lists.whole_task(), [&](std::uint32_t target) {
            rows.push_back({task.rnics[rank], task.rnics[target], 0});
          });
    }
  }
  return rows;
}

Expected<ProbeMatrix> detector_matrix(const MatrixInput& input, const MatrixOptions& options) {
  const auto design = detector_paths(*input.fabric, options.detector);
  if (!design) {
    return tl::unexpected(design.error());
  }
  std::vector<ProbeRow> rows;
  for (const DetectorPath& path : design->paths) {
    rows.push_back({path.source, path.target, pinned_variant(*input.fabric, path.way)});
  }
  ProbeMatrix matrix = compress_rows(ProbeScheme::kDetector, *input.fabric, rows);
  matrix.pinned = true;
  return matrix;
}

std::vector<ProbeRow> rows_for(ProbeScheme scheme,
                               const MatrixInput& input,
                               const MatrixOptions& options) {
  switch (scheme) {
    case ProbeScheme::kFullMesh:
      return mesh_rows(input, options.mesh);
    case ProbeScheme::kPingmesh:
      return TorLists(*input.fabric, options).pingmesh_rows();
    case ProbeScheme::kRPingmesh:
      return TorLists(*input.fabric, options).r_pingmesh_rows();
    default:
      return rail_rows(input, scheme != ProbeScheme::kSameRail);
  }
}

}  // namespace

std::string_view to_string(ProbeScheme scheme) {
  return kSchemes[static_cast<std::size_t>(scheme)].second;
}

std::span<const ProbeScheme> all_probe_schemes() {
  return kAllSchemes;
}

bool knows_tasks(ProbeScheme scheme) {
  return scheme != ProbeScheme::kPingmesh && scheme != ProbeScheme::kRPingmesh &&
         scheme != ProbeScheme::kDetector;
}

std::uint16_t hashed_source_port(RnicId source, RnicId target, std::uint32_t variant) {
  const std::uint64_t ends = std::uint64_t{source.index()} << 32 | target.index();
  return static_cast<std::uint16_t>(0xC000 | (mix64(ends ^ mix64(variant + 1)) & 0x3FFF));
}

std::uint32_t pinned_variant(const Fabric& fabric, const WayChoice& way) {
  const std::uint32_t ports = way.source_port * fabric.ports() + way.target_port;
  const std::uint32_t cores = std::max(fabric.cores_per_aggregation(), 1U);
  return (ports * cores + way.core) * fabric.options().aggregation_switches + way.aggregation;
}

WayChoice pinned_way(const Fabric& fabric, std::uint32_t variant) {
  const std::uint32_t aggregations = fabric.options().aggregation_switches;
  const std::uint32_t cores = std::max(fabric.cores_per_aggregation(), 1U);
  const std::uint32_t ports = variant / aggregations / cores;
  return {.aggregation = variant % aggregations,
          .core = variant / aggregations % cores,
          .source_port = ports / fabric.ports(),
          .target_port = ports % fabric.ports()};
}

Expected<ProbeMatrix> probe_matrix(ProbeScheme scheme,
                                   const MatrixInput& input,
                                   const MatrixOptions& options) {
  BONESCAN_CHECK(input.fabric != nullptr);
  if (scheme == ProbeScheme::kDetector) {
    return detector_matrix(input, options);
  }
  if (scheme == ProbeScheme::kSkeletonRepaired && input.router == nullptr) {
    return fail(ErrorCode::kInvalid, "the repair needs a router");
  }
  const ProbeScheme listed =
      scheme == ProbeScheme::kSkeletonRepaired ? ProbeScheme::kSkeleton : scheme;
  const auto size = scheme_size(listed, input, options);
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (size->probes_per_sweep > options.most_rows) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} has {} rows, more than the {} that are listed",
                            to_string(scheme),
                            size->probes_per_sweep,
                            options.most_rows));
  }
  ProbeMatrix matrix = compress_rows(listed, *input.fabric, rows_for(listed, input, options));
  if (scheme == ProbeScheme::kSkeletonRepaired) {
    return repair_skeleton(matrix, input, options).matrix;
  }
  return matrix;
}

}  // namespace bonescan
