// A plan worked out: lists of every scheme, what they cover, and which schedule to run.
//
// Everything that needs a fabric is made here; what follows from lists alone is planner/optimize.
// Invariant: what cannot be had (a scheme on a fabric that it does not know, lists that are too
// long to make) is absent, with the reason.
#pragma once

#include "planner/matrix/coverage_check.h"
#include "planner/matrix/ecmp_coverage.h"
#include "planner/matrix/scheme_size.h"
#include "planner/optimize/choose.h"
#include "tools/plan/plan_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// A published sweep time beside list x visit period, which explains it: no reproduction.
struct IdentityCheck {
  double published_s = 0.0;
  double mean_list_s = 0.0;          ///< mean list, one destination a second
  double relative_difference = 0.0;  ///< of ours to the published one, less 1
};

struct SchemeRow {
  ProbeScheme scheme = ProbeScheme::kFullMesh;
  std::optional<SchemeSize> size{};        ///< absent: see `reason`
  std::optional<EcmpCoverage> coverage{};  ///< absent: no lists were made
  std::optional<IdentityCheck> identity{};
  std::string reason{};
};

/// Which share of a longer list's destinations the skeleton's list does without; absent if either
/// was not asked for.
struct SkeletonSavings {
  std::optional<double> of_same_rail;
  std::optional<double> of_same_rail_and_oneself;  ///< counted as the paper does: 64 of 512, not 63
  std::optional<double> of_full_mesh;
};

struct PointResult {
  std::string name;
  std::uint64_t rnics = 0;
  std::uint64_t tasks = 0;
  bool estimate = false;
  std::vector<SchemeRow> rows;
  /// Of schemes whose lists the pipeline can be given: those that know tasks.  Empty without
  /// objectives.
  std::vector<PlanCandidate> candidates;
  ScheduleChoice choice;
};

struct FatTreeResult {
  FatTreeCase asked;
  std::uint64_t links = 0;
  std::uint64_t paths = 0;
  std::uint64_t fewest = 0;  ///< no matrix has fewer
  CoverageCheck checked{};   ///< by the independent judge
  /// Did the judge find two sets of at most beta links that look alike?  Absent: not asked, as
  /// beta is 0 or the sets are too many.
  std::optional<bool> ambiguous{};
  std::uint64_t judged_links = 0;  ///< among which sets were tried: all, or those of one component
};

struct PlanResult {
  std::vector<PointResult> points;
  std::vector<FatTreeResult> fat_trees;
};

SkeletonSavings savings_of(const PointResult& point);

/// @throws ConfigError if tasks do not fit hosts
PlanResult work_out(const PlanFile& plan);

}  // namespace bonescan
