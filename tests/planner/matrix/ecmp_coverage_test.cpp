#include "planner/matrix/ecmp_coverage.h"

#include "planner/matrix/coverage_check.h"
#include "planner/matrix/row_paths.h"
#include "planner/matrix/scheme_size.h"
#include "planner/matrix/skeleton_repair.h"
#include "tests/planner/matrix/matrix_worlds.h"
#include "tests/support/fabrics.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace bonescan {
namespace {

// One row below one ToR: two cables, four directed links, all alike.
TEST(EcmpCoverage, OfOneRow) {
  const test::Routed world(test::two_tiers(1, 2, 1, 2));
  ProbeMatrix matrix{.first = {0, 1, 1}, .targets = {RnicId(1)}};
  const EcmpCoverage coverage = coverage_of(world.fabric, world.router, matrix);
  EXPECT_EQ(coverage.rows, 1U);
  EXPECT_EQ(coverage.cables, 4U);
  EXPECT_EQ(coverage.links, 8U);
  EXPECT_EQ(coverage.cables_covered, 2U);
  EXPECT_EQ(coverage.cables_distinguishable, 0U);
  EXPECT_EQ(coverage.links_covered, 4U);
  EXPECT_EQ(coverage.links_distinguishable, 0U);
}

/// The same by sets of rows.
EcmpCoverage naive(const test::Routed& world, const ProbeMatrix& matrix) {
  std::map<std::uint32_t, std::set<std::uint32_t>> links;
  std::map<std::uint32_t, std::set<std::uint32_t>> cables;
  for (std::uint32_t s = 0; s + 1 < matrix.first.size(); ++s) {
    for (std::uint32_t row = matrix.first[s]; row < matrix.first[s + 1]; ++row) {
      const RnicId source(s);
      const RnicId target = matrix.targets[row];
      const std::uint32_t variant = matrix.variant(row);
      const RowPaths paths =
          matrix.pinned
              ? pinned_paths(world.fabric, source, target, variant)
              : flow_paths(
                    world.router, source, target, hashed_source_port(source, target, variant));
      for (const LinkPath* path : {&paths.request, &paths.answer}) {
        for (const LinkId link : path->span()) {
          links[link.index()].insert(row);
          cables[link.index() / 2].insert(row);
        }
      }
    }
  }
  const auto alone = [](const std::map<std::uint32_t, std::set<std::uint32_t>>& rows) {
    std::map<std::set<std::uint32_t>, std::uint64_t> classes;
    for (const auto& [link, set] : rows) {
      ++classes[set];
    }
    std::uint64_t count = 0;
    for (const auto& [set, members] : classes) {
      count += members == 1 ? 1 : 0;
    }
    return count;
  };
  EcmpCoverage coverage;
  coverage.links_covered = links.size();
  coverage.links_distinguishable = alone(links);
  coverage.cables_covered = cables.size();
  coverage.cables_distinguishable = alone(cables);
  return coverage;
}

TEST(EcmpCoverage, AgreesWithSetsOfRows) {
  for (const test::NamedFabric& named : test::small_fabrics()) {
    const test::Routed world(named.options);
    const std::uint32_t rails = named.options.rails;
    const std::vector<TaskShape> shapes = {{.rnics = 6 * rails, .tp = rails, .pp = 3, .dp = 2}};
    const auto tasks = place_tasks(world.fabric, shapes);
    ASSERT_TRUE(tasks);
    const MatrixInput input{.fabric = &world.fabric, .tasks = *tasks, .router = &world.router};
    for (const ProbeScheme scheme : all_probe_schemes()) {
      SCOPED_TRACE(named.name + " " + std::string(to_string(scheme)));
      const auto matrix = probe_matrix(scheme, input);
      ASSERT_TRUE(matrix);
      const EcmpCoverage fast = coverage_of(world.fabric, world.router, *matrix);
      const EcmpCoverage slow = naive(world, *matrix);
      EXPECT_EQ(fast.links_covered, slow.links_covered);
      EXPECT_EQ(fast.links_distinguishable, slow.links_distinguishable);
      EXPECT_EQ(fast.cables_covered, slow.cables_covered);
      EXPECT_EQ(fast.cables_distinguishable, slow.cables_distinguishable);
      EXPECT_EQ(fast.links, 2 * fast.cables);
      EXPECT_LE(fast.cables_covered, fast.cables);
    }
  }
}

// What the detector's matrix promises of cables holds when its probes are sent.
TEST(EcmpCoverage, DetectorTellsAllMeasuredCablesApart) {
  const test::Routed world(test::two_tiers(6, 4, 2, 4));
  const auto matrix = probe_matrix(ProbeScheme::kDetector,
                                   {.fabric = &world.fabric},
                                   {.detector = {.scope = LinkScope::kSwitchAndAccessLinks}});
  ASSERT_TRUE(matrix);
  const EcmpCoverage coverage = coverage_of(world.fabric, world.router, *matrix);
  EXPECT_EQ(coverage.cables_covered, coverage.cables);
  EXPECT_EQ(coverage.cables_distinguishable, coverage.cables);
}

TEST(SkeletonRepair, AddsPairsThatTellLinksApart) {
  const test::Routed world(test::two_tiers(8, 4, 4, 4));
  const std::vector<TaskShape> shapes = {{.rnics = 128, .tp = 4, .pp = 8, .dp = 4}};
  const auto tasks = place_tasks(world.fabric, shapes);
  ASSERT_TRUE(tasks);
  const MatrixInput input{.fabric = &world.fabric, .tasks = *tasks, .router = &world.router};
  const auto plain = probe_matrix(ProbeScheme::kSkeleton, input);
  ASSERT_TRUE(plain);
  const RepairedSkeleton repaired = repair_skeleton(*plain, input, {});
  EXPECT_GT(repaired.extra_rows, 0U);
  EXPECT_GT(repaired.repaired, 0U);
  const EcmpCoverage before = coverage_of(world.fabric, world.router, *plain);
  const EcmpCoverage after = coverage_of(world.fabric, world.router, repaired.matrix);
  EXPECT_GE(after.links_covered, before.links_covered);
  EXPECT_GT(after.links_distinguishable, before.links_distinguishable);
  for (std::uint32_t s = 0; s < world.fabric.rnic_count(); ++s) {
    const auto some = plain->list(RnicId(s));
    const auto more = repaired.matrix.list(RnicId(s));
    EXPECT_TRUE(std::includes(more.begin(), more.end(), some.begin(), some.end()));
    for (const RnicId target : more) {
      EXPECT_EQ(world.fabric.rail_of(target), world.fabric.rail_of(RnicId(s)));
    }
  }
  EXPECT_EQ(repair_skeleton(*plain, input, {}).matrix.targets, repaired.matrix.targets);
}

// 4,096 hosts, 2,000 tasks, and no more than seconds: what a plan asks for.
TEST(EcmpCoverage, HandlesTheLargestPlan) {
  const test::Routed world(test::two_tiers(256, 16, 8, 8));
  std::vector<TaskShape> shapes(1'960, {.rnics = 8, .tp = 8});
  shapes.resize(1'980, {.rnics = 512, .tp = 8, .pp = 8, .dp = 8});
  shapes.resize(1'981, {.rnics = 6'400, .tp = 8, .pp = 8, .dp = 100});
  shapes.resize(2'000, {.rnics = 2, .tp = 2});
  const auto tasks = place_tasks(world.fabric, shapes);
  ASSERT_TRUE(tasks) << tasks.error().detail;
  const MatrixInput input{.fabric = &world.fabric, .tasks = *tasks, .router = &world.router};
  for (const ProbeScheme scheme : all_probe_schemes()) {
    EXPECT_TRUE(scheme_size(scheme, input)) << to_string(scheme);
  }
  const auto matrix = probe_matrix(ProbeScheme::kSkeletonRepaired, input);
  ASSERT_TRUE(matrix);
  EXPECT_GT(matrix->size(), 600'000U);
  const EcmpCoverage coverage = coverage_of(world.fabric, world.router, *matrix);
  EXPECT_EQ(coverage.rows, matrix->size());
  EXPECT_GT(coverage.cables_distinguishable, coverage.cables / 2);
}

}  // namespace
}  // namespace bonescan
