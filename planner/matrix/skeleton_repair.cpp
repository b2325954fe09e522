#include "planner/matrix/skeleton_repair.h"

#include "planner/matrix/draws.h"
#include "planner/matrix/matrix_builder.h"
#include "planner/matrix/row_paths.h"
#include "planner/matrix/task_lists.h"
#include "sim/base/check.h"
#include "skeleton/link_cover.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kRepairEntity = 0x504D4301;

/// Without the links of the two ends.
std::span<const LinkId> shared_part(const LinkPath& path) {
  return path.count > 2 ? path.span().subspan(1, path.count - 2) : std::span<const LinkId>();
}

/// Equal for ways over the same shared links, whatever their order.
std::uint64_t kind_of(const LinkPath& path) {
  std::uint64_t kind = 1;
  for (const LinkId link : shared_part(path)) {
    kind += mix64(link.index() + 0x9E3779B97F4A7C15ull);
  }
  return kind;
}

/// The first two different ways over every directed link.
class FirstWays final {
 public:
  explicit FirstWays(std::uint32_t links) : kinds_(links) {}

  bool helped_by(const RowPaths& paths) const {
    return helped_by(paths.request) || helped_by(paths.answer);
  }

  void add(const RowPaths& paths) {
    for (const LinkPath* path : {&paths.request, &paths.answer}) {
      const std::uint64_t kind = kind_of(*path);
      for (const LinkId link : shared_part(*path)) {
        auto& [first, second] = kinds_[link.index()];
        if (first == 0) {
          first = kind;
        } else if (second == 0 && first != kind) {
          second = kind;
        }
      }
    }
  }

 private:
  bool helped_by(const LinkPath& path) const {
    const std::uint64_t kind = kind_of(path);
    const auto shared = shared_part(path);
    return std::any_of(shared.begin(), shared.end(), [&](LinkId link) {
      const auto& [first, second] = kinds_[link.index()];
      return first == 0 || (second == 0 && first != kind);
    });
  }

  std::vector<std::array<std::uint64_t, 2>> kinds_;
};

std::vector<PathHop> hops_of(const LinkPath& path) {
  std::vector<PathHop> hops;
  hops.reserve(path.count);
  for (const LinkId link : path.span()) {
    hops.push_back({ComponentId(Fabric::cable_of(link).index()),
                    Fabric::is_up(link) ? LinkDirection::kUp : LinkDirection::kDown});
  }
  return hops;
}

/// Rows with their traced paths, as link_cover.h wants them.
struct TracedRows {
  std::vector<ProbeRow> rows;
  std::vector<TracedPath> paths;

  void add(const ProbeRow& row, const RowPaths& traced) {
    rows.push_back(row);
    paths.push_back({hops_of(traced.request), hops_of(traced.answer)});
  }

  std::vector<CoveringPair> pairs() const {
    std::vector<CoveringPair> pairs;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      pairs.push_back({PairId(i), &paths[i]});
    }
    return pairs;
  }
};

class Repair final {
 public:
  Repair(const MatrixInput& input, const MatrixOptions& options)
      : input_(&input), options_(&options), ways_(input.fabric->link_count()) {}

  TracedRows chosen(const std::vector<ProbeRow>& rows) {
    TracedRows chosen;
    for (const ProbeRow& row : rows) {
      const RowPaths paths = trace(row);
      if (ways_.helped_by(paths)) {
        ways_.add(paths);
        chosen.add(row, paths);
      }
    }
    return chosen;
  }

  TracedRows candidates(std::uint64_t& drawn) const {
    TracedRows candidates;
    Draws draws(RngStream(options_->seed, Purpose::kStudyDraw, kRepairEntity));
    for (const PlannedTask& task : input_->tasks) {
      const TaskLists lists(*input_->fabric, task);
      const std::uint32_t others = lists.hosts() - 1;
      for (std::uint32_t rank = 0; others > 0 && rank < task.rank_count(); ++rank) {
        for (std::uint32_t i = 0; i < std::min(options_->candidates_per_rnic, others); ++i) {
          const std::uint32_t step = 1 + draws.below(others);
          const std::uint32_t target = (rank + step * lists.per_host()) % task.rank_count();
          const ProbeRow row{task.rnics[rank], task.rnics[target], 0};
          ++drawn;
          if (const RowPaths paths = trace(row); ways_.helped_by(paths)) {
            candidates.add(row, paths);
          }
        }
      }
    }
    return candidates;
  }

 private:
  RowPaths trace(const ProbeRow& row) const {
    return flow_paths(*input_->router,
                      row.source,
                      row.target,
                      input_->source_port(row.source, row.target, row.variant));
  }

  const MatrixInput* input_;
  const MatrixOptions* options_;
  FirstWays ways_;
};

}  // namespace

RepairedSkeleton repair_skeleton(const ProbeMatrix& skeleton,
                                 const MatrixInput& input,
                                 const MatrixOptions& options) {
  BONESCAN_CHECK(input.router != nullptr);
  RepairedSkeleton result;
  std::vector<ProbeRow> rows = rows_of(skeleton);
  Repair repair(input, options);
  const TracedRows chosen = repair.chosen(rows);
  const TracedRows candidates = repair.candidates(result.candidates);
  const LinkCover cover = repair_link_cover(chosen.pairs(), candidates.pairs());
  for (const PairId extra : cover.extra) {
    rows.push_back(candidates.rows[extra.index()]);
  }
  result.matrix = compress_rows(ProbeScheme::kSkeletonRepaired, *input.fabric, rows);
  result.extra_rows = result.matrix.size() - skeleton.size();
  result.shared_links = cover.shared_links;
  result.repaired = cover.repaired;
  result.not_repairable = cover.not_repairable;
  return result;
}

}  // namespace bonescan
