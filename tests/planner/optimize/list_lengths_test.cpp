// Histograms of list lengths: from lists, and from the shapes of tasks alone.
#include "planner/optimize/list_lengths.h"

#include "model/fabric/link_table.h"
#include "model/fabric/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace bonescan {

bool operator==(const ListLength& a, const ListLength& b) {
  return a.length == b.length && a.rnics == b.rnics;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TaskShape kPaper512{.rnics = 512, .tp = 8, .pp = 8, .dp = 8};
const TaskShape kOneHost{.rnics = 8, .tp = 8};

TEST(ListLengths, OfThePapersExampleAreNineOfSixtyThree) {
  const TaskGroup group{kPaper512, 1};
  EXPECT_THAT(*list_lengths(ProbeScheme::kSkeleton, std::span(&group, 1), {}),
              ElementsAre(ListLength{9, 512}));
  EXPECT_THAT(*list_lengths(ProbeScheme::kSameRail, std::span(&group, 1), {}),
              ElementsAre(ListLength{63, 512}));
  EXPECT_THAT(*list_lengths(ProbeScheme::kFullMesh, std::span(&group, 1), {}),
              ElementsAre(ListLength{504, 512}));
}

TEST(ListLengths, LeaveOutTasksOfOneHostAndCountTheOthersAsOftenAsTheyAre) {
  const std::vector<TaskGroup> groups{{kOneHost, 1'000}, {kPaper512, 3}};
  EXPECT_THAT(*list_lengths(ProbeScheme::kSameRail, groups, {}),
              ElementsAre(ListLength{63, 1'536}));
}

// From shapes and from the lists themselves.
TEST(ListLengths, OfShapesAreThoseOfLists) {
  const std::vector<TaskGroup> groups{
      {kOneHost, 2},
      {{.rnics = 4, .tp = 4}, 3},
      {{.rnics = 64, .tp = 8, .pp = 2, .dp = 4, .ranks_known = false}, 1},
      {{.rnics = 128, .tp = 8, .pp = 4, .dp = 4}, 2}};
  FabricOptions options;
  options.segments = 4;
  const Fabric fabric(options);
  const LinkTable links(fabric);
  const Router router(fabric, links, 1);
  std::vector<TaskShape> shapes;
  for (const TaskGroup& group : groups) {
    shapes.insert(shapes.end(), group.count, group.shape);
  }
  const auto tasks = place_tasks(fabric, shapes);
  ASSERT_TRUE(tasks);
  for (const ProbeScheme scheme :
       {ProbeScheme::kFullMesh, ProbeScheme::kSameRail, ProbeScheme::kSkeleton}) {
    SCOPED_TRACE(to_string(scheme));
    const auto matrix =
        probe_matrix(scheme, {.fabric = &fabric, .tasks = *tasks, .router = &router});
    ASSERT_TRUE(matrix);
    EXPECT_EQ(*list_lengths(scheme, groups, options), list_lengths(*matrix));
  }
}

TEST(ListLengths, OfSchemesThatKnowNoTasksDoNotFollowFromTasks) {
  const TaskGroup group{kPaper512, 1};
  EXPECT_FALSE(list_lengths(ProbeScheme::kPingmesh, std::span(&group, 1), {}));
  EXPECT_FALSE(list_lengths(ProbeScheme::kSkeletonRepaired, std::span(&group, 1), {}));
}

TEST(Coarsened, JoinsWhatIsNearestAndKeepsEverybody) {
  const std::vector<ListLength> lengths{{5, 100}, {9, 300}, {10, 100}, {63, 10}};
  EXPECT_EQ(coarsened(lengths, 4), lengths);
  EXPECT_THAT(coarsened(lengths, 3),
              ElementsAre(ListLength{5, 100}, ListLength{9, 400}, ListLength{63, 10}));
  const auto one = coarsened(lengths, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().rnics, 510U);
  EXPECT_THAT(coarsened({}, 3), IsEmpty());
}

}  // namespace
}  // namespace bonescan
