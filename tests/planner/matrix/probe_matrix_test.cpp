#include "planner/matrix/probe_matrix.h"

#include "planner/matrix/path_coverage.h"
#include "planner/matrix/scheme_size.h"
#include "planner/matrix/skeleton_repair.h"
#include "skeleton/skeleton_targets.h"
#include "tests/planner/matrix/matrix_worlds.h"
#include "tests/support/fabrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

std::vector<PlannedTask> placed(const Fabric& fabric, const std::vector<TaskShape>& shapes) {
  auto tasks = place_tasks(fabric, shapes);
  EXPECT_TRUE(tasks) << (tasks ? "" : tasks.error().detail);
  return tasks.value_or(std::vector<PlannedTask>());
}

SchemeSize size_of(ProbeScheme scheme,
                   const MatrixInput& input,
                   const MatrixOptions& options = {}) {
  const auto size = scheme_size(scheme, input, options);
  EXPECT_TRUE(size);
  return size.value_or(SchemeSize{});
}

TEST(PlacedTasks, FillHostsInOrder) {
  FabricOptions options = test::two_tiers(2, 2, 4, 2);
  options.spare_hosts_per_segment = 1;
  const Fabric fabric(options);
  const auto tasks = placed(
      fabric,
      {{.rnics = 2, .dp = 2}, {.rnics = 8, .tp = 4, .dp = 2}, {.rnics = 1}, {.rnics = 3, .dp = 3}});
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks[0].rnics, (std::vector<RnicId>{RnicId(0), RnicId(1)}));
  EXPECT_EQ(tasks[1].rnics.front(), RnicId(4));
  EXPECT_EQ(tasks[1].rnics[4], RnicId(12)) << "host 2 is a spare";
  EXPECT_EQ(tasks[2].rnics, std::vector<RnicId>{RnicId(2)});
  EXPECT_EQ(tasks[3].rnics.front(), RnicId(16)) << "one rail of host 0 is left: too few";
}

TEST(PlacedTasks, RefuseWhatDoesNotFit) {
  const Fabric fabric(test::two_tiers(1, 2, 4, 2));
  for (const TaskShape& shape : {TaskShape{.rnics = 12, .dp = 12},
                                 TaskShape{.rnics = 6, .dp = 6},
                                 TaskShape{.rnics = 8, .dp = 2},
                                 TaskShape{.rnics = 0, .dp = 0}}) {
    EXPECT_FALSE(place_tasks(fabric, std::vector{shape})) << shape.rnics;
  }
}

TEST(PathCoverage, HasThePublishedNumbers) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> published = {
      {2, 8}, {4, 21}, {8, 51}, {16, 115}, {32, 255}, {60, 518}};
  for (const auto& [paths, flows] : published) {
    EXPECT_EQ(flows_to_cover(paths, 0.99), flows) << paths;
  }
  EXPECT_EQ(flows_to_cover(1, 0.99), 1U);
  EXPECT_EQ(flows_to_cover(5, 0.0), 5U) << "never fewer than paths";
}

TEST(PathCoverage, IsTheAlternatingSumWhereThatIsExact) {
  for (std::uint32_t paths = 1; paths <= 8; ++paths) {
    for (std::uint32_t flows = paths; flows < 60; ++flows) {
      double missed = 0.0;
      double choose = 1.0;
      for (std::uint32_t i = 1; i <= paths; ++i) {
        choose *= static_cast<double>(paths - i + 1) / i;
        missed += (i % 2 == 1 ? choose : -choose) *
                  std::pow(1.0 - static_cast<double>(i) / paths, static_cast<double>(flows));
      }
      EXPECT_NEAR(all_paths_covered(paths, flows), 1.0 - missed, 1e-12);
    }
  }
}

TEST(ProbeScheme, NamesAreUnlike) {
  std::set<std::string_view> names;
  for (const ProbeScheme scheme : all_probe_schemes()) {
    names.insert(to_string(scheme));
  }
  EXPECT_EQ(names.size(), 7U);
}

// The paper's 512 GPUs, TP = PP = DP = 8.
TEST(SchemeSize, HasThePapersListLengths) {
  const Fabric fabric(test::two_tiers(4, 16, 8, 8));
  auto tasks = placed(fabric, {{.rnics = 512, .tp = 8, .pp = 8, .dp = 8}});
  const MatrixInput input{.fabric = &fabric, .tasks = tasks};
  EXPECT_EQ(size_of(ProbeScheme::kFullMesh, input).longest_list, 504U);
  EXPECT_EQ(size_of(ProbeScheme::kFullMesh, input, {.mesh = MeshReading::kEverybody}).longest_list,
            511U);
  const SchemeSize rail = size_of(ProbeScheme::kSameRail, input);
  EXPECT_EQ(rail.longest_list, 63U);
  EXPECT_EQ(rail.pairs, 512U * 63);
  EXPECT_EQ(rail.sweep, std::chrono::seconds(63));
  const SchemeSize peers = size_of(ProbeScheme::kSkeleton, input);
  EXPECT_EQ(peers.longest_list, 9U);
  EXPECT_DOUBLE_EQ(peers.mean_list, 9.0);
  EXPECT_EQ(peers.probes_per_sweep, 4'608U);
  EXPECT_DOUBLE_EQ(peers.probes_by_time, 512.0 * 30);
  EXPECT_EQ(peers.probes_by_rnic_pair, 4'608U);
  EXPECT_EQ(peers.probes_by_container_pair, 576U);
  tasks[0].ranks_known = false;
  EXPECT_EQ(size_of(ProbeScheme::kSkeleton, input).longest_list, 23U) << "3 dp - 1";
}

TEST(SchemeSize, OfHiddenRanksByStages) {
  const Fabric fabric(test::two_tiers(4, 16, 8, 8));
  struct Case {
    std::uint32_t pp;
    std::uint32_t known;
    std::uint32_t hidden;
  };
  for (const Case& c : {Case{1, 7, 7}, Case{2, 8, 15}, Case{3, 9, 23}, Case{4, 9, 23}}) {
    SCOPED_TRACE(c.pp);
    auto tasks = placed(fabric, {{.rnics = 64 * c.pp, .tp = 8, .pp = c.pp, .dp = 8}});
    const MatrixInput input{.fabric = &fabric, .tasks = tasks};
    EXPECT_EQ(size_of(ProbeScheme::kSkeleton, input).longest_list, c.known);
    tasks[0].ranks_known = false;
    EXPECT_EQ(size_of(ProbeScheme::kSkeleton, input).longest_list, c.hidden);
  }
}

// Two segments, two hosts, two rails: few enough to count.
TEST(ProbeMatrix, ByHand) {
  const Fabric fabric(test::two_tiers(2, 2, 2, 2));
  const auto tasks = placed(fabric, {{.rnics = 8, .tp = 2, .pp = 2, .dp = 2}});
  const MatrixInput input{.fabric = &fabric, .tasks = tasks};
  const auto list = [&](ProbeScheme scheme) {
    const auto matrix = probe_matrix(scheme, input);
    std::vector<std::uint32_t> targets;
    for (const RnicId target : matrix->list(RnicId(0))) {
      targets.push_back(target.index());
    }
    return targets;
  };
  EXPECT_EQ(list(ProbeScheme::kFullMesh), (std::vector<std::uint32_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(list(ProbeScheme::kSameRail), (std::vector<std::uint32_t>{2, 4, 6}));
  EXPECT_EQ(list(ProbeScheme::kSkeleton), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(list(ProbeScheme::kPingmesh), (std::vector<std::uint32_t>{2, 4, 5}));
  // Two paths: 8 five-tuples to each of 3 ToRs, half of them by each of 2 servers.
  EXPECT_EQ(list(ProbeScheme::kRPingmesh),
            (std::vector<std::uint32_t>{2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5}));
}

/// Lists by the library that runs in production.
PingLists production_lists(const Fabric& fabric, const PlannedTask& task) {
  EndpointDirectory directory;
  std::vector<EndpointId> members;
  TaskSkeleton skeleton{
      .scope = task.ranks_known ? SkeletonScope::kPeers : SkeletonScope::kAdjacentGroups,
      .basis = SkeletonBasis::kThroughput,
      .stage_count = task.pp};
  for (std::uint32_t rank = 0; rank < task.rank_count(); ++rank) {
    const RnicId rnic = task.rnics[rank];
    members.push_back(
        directory.push_back({.name = fabric.rnic_name(rnic),
                             .host = fabric.host_name(fabric.host_of(rnic)),
                             .task = "task",
                             .overlay_ip = "",
                             .underlay_ip = "",
                             .tor = "",
                             .rail = static_cast<std::uint16_t>(fabric.rail_of(rnic))}));
    skeleton.stages.push_back(rank / (task.tp * task.dp));
    skeleton.replicas.push_back(rank / task.tp % task.dp);
  }
  return skeleton_targets(directory, members, skeleton);
}

TEST(ProbeMatrix, SkeletonIsThatOfTheProductionLibrary) {
  const Fabric fabric(test::two_tiers(4, 4, 4, 2));
  for (const TaskShape& shape : {TaskShape{.rnics = 64, .tp = 4, .pp = 4, .dp = 4},
                                 TaskShape{.rnics = 32, .tp = 4, .pp = 2, .dp = 4},
                                 TaskShape{.rnics = 24, .tp = 4, .pp = 1, .dp = 6},
                                 TaskShape{.rnics = 48, .tp = 2, .pp = 4, .dp = 6},
                                 TaskShape{.rnics = 64, .tp = 8, .pp = 4, .dp = 2},
                                 TaskShape{.rnics = 60, .tp = 4, .pp = 5, .dp = 3},
                                 TaskShape{.rnics = 16, .tp = 1, .pp = 16, .dp = 1},
                                 TaskShape{.rnics = 2, .tp = 1, .pp = 1, .dp = 2}}) {
    for (const bool known : {true, false}) {
      SCOPED_TRACE(testing::Message() << shape.tp << "x" << shape.pp << "x" << shape.dp << known);
      auto tasks = placed(fabric, {shape});
      ASSERT_EQ(tasks.size(), 1U);
      tasks[0].ranks_known = known;
      const auto matrix = probe_matrix(ProbeScheme::kSkeleton, {.fabric = &fabric, .tasks = tasks});
      ASSERT_TRUE(matrix);
      const PingLists expected = production_lists(fabric, tasks[0]);
      for (std::uint32_t rank = 0; rank < tasks[0].rank_count(); ++rank) {
        std::vector<RnicId> targets;
        for (const EndpointId target : expected[rank]) {
          targets.push_back(tasks[0].rnics[target.index()]);
        }
        const auto list = matrix->list(tasks[0].rnics[rank]);
        EXPECT_EQ(std::vector<RnicId>(list.begin(), list.end()), targets) << rank;
      }
    }
  }
}

void expect_equal(const SchemeSize& a, const SchemeSize& b) {
  EXPECT_EQ(a.probing_rnics, b.probing_rnics);
  EXPECT_EQ(a.pairs, b.pairs);
  EXPECT_EQ(a.probes_per_sweep, b.probes_per_sweep);
  EXPECT_DOUBLE_EQ(a.mean_list, b.mean_list);
  EXPECT_EQ(a.longest_list, b.longest_list);
  EXPECT_EQ(a.sweep, b.sweep);
  EXPECT_DOUBLE_EQ(a.probes_by_time, b.probes_by_time);
  EXPECT_EQ(a.probes_by_rnic_pair, b.probes_by_rnic_pair);
  EXPECT_EQ(a.probes_by_container_pair, b.probes_by_container_pair);
}

TEST(SchemeSize, IsWhatTheMatrixCounts) {
  std::vector<FabricOptions> fabrics = {test::two_tiers(4, 3, 4, 2), test::two_tiers(3, 20, 2, 2)};
  for (const test::NamedFabric& named : test::small_fabrics()) {
    fabrics.push_back(named.options);
    fabrics.back().segments = 4;
    fabrics.back().hosts_per_segment = 3;
  }
  for (const FabricOptions& options : fabrics) {
    const test::Routed world(options);
    const std::uint32_t rails = options.rails;
    const auto tasks = placed(world.fabric,
                              {{.rnics = 4 * rails, .tp = rails, .pp = 2, .dp = 2},
                               {.rnics = 1, .ranks_known = false},
                               {.rnics = 6 * rails, .tp = 1, .pp = 3, .dp = 2 * rails},
                               {.rnics = 1}});
    const MatrixInput input{.fabric = &world.fabric, .tasks = tasks, .router = &world.router};
    for (const ProbeScheme scheme : all_probe_schemes()) {
      for (const MeshReading mesh : {MeshReading::kOtherHosts, MeshReading::kEverybody}) {
        SCOPED_TRACE(std::string(to_string(options.preset)) + " " + std::string(to_string(scheme)));
        const MatrixOptions how{.mesh = mesh, .most_five_tuples = 5};
        const auto matrix = probe_matrix(scheme, input, how);
        ASSERT_TRUE(matrix);
        EXPECT_EQ(matrix->scheme, scheme);
        expect_equal(size_of(scheme, input, how), matrix_size(*matrix, input, how));
      }
    }
  }
}

TEST(ProbeMatrix, ListsAscendAndLeaveTheOwnHostOut) {
  for (const test::NamedFabric& named : test::small_fabrics()) {
    const test::Routed world(named.options);
    const std::uint32_t rails = named.options.rails;
    const auto tasks = placed(world.fabric, {{.rnics = 6 * rails, .tp = rails, .pp = 3, .dp = 2}});
    const MatrixInput input{.fabric = &world.fabric, .tasks = tasks, .router = &world.router};
    for (const ProbeScheme scheme : all_probe_schemes()) {
      SCOPED_TRACE(named.name + " " + std::string(to_string(scheme)));
      const auto matrix = probe_matrix(scheme, input);
      ASSERT_TRUE(matrix);
      ASSERT_EQ(matrix->first.size(), world.fabric.rnic_count() + 1U);
      for (std::uint32_t s = 0; s < world.fabric.rnic_count(); ++s) {
        for (std::uint32_t row = matrix->first[s]; row < matrix->first[s + 1]; ++row) {
          EXPECT_NE(world.fabric.host_of(RnicId(s)), world.fabric.host_of(matrix->targets[row]));
          EXPECT_FALSE(world.fabric.is_spare(world.fabric.host_of(matrix->targets[row])));
          if (row > matrix->first[s]) {
            EXPECT_LT(std::pair(matrix->targets[row - 1], matrix->variant(row - 1)),
                      std::pair(matrix->targets[row], matrix->variant(row)));
          }
        }
      }
    }
  }
}

TEST(ProbeMatrix, RefusesWhatIsTooLongOrLacksARouter) {
  const Fabric fabric(test::two_tiers(4, 16, 8, 8));
  const auto tasks = placed(fabric, {{.rnics = 512, .tp = 8, .pp = 8, .dp = 8}});
  const MatrixInput input{.fabric = &fabric, .tasks = tasks};
  const auto refused = probe_matrix(ProbeScheme::kFullMesh, input, {.most_rows = 1'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  const auto blind = probe_matrix(ProbeScheme::kSkeletonRepaired, input);
  ASSERT_FALSE(blind);
  EXPECT_EQ(blind.error().code, ErrorCode::kInvalid);
}

TEST(ProbeMatrix, PinnedWaysGoThereAndBack) {
  for (const test::NamedFabric& named : test::small_fabrics()) {
    const Fabric fabric(named.options);
    const std::uint32_t ways = pinned_variant(
        fabric,
        {named.options.aggregation_switches - 1, 0, fabric.ports() - 1, fabric.ports() - 1});
    for (std::uint32_t way = 0; way <= ways; ++way) {
      EXPECT_EQ(pinned_variant(fabric, pinned_way(fabric, way)), way);
    }
  }
}

}  // namespace
}  // namespace bonescan
