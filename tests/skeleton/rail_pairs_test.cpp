#include "skeleton/rail_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

Endpoint endpoint(const std::string& host, std::uint16_t rail, const std::string& task) {
  Endpoint made;
  made.name = host + "/rnic-" + std::to_string(rail);
  made.host = host;
  made.task = task;
  made.rail = rail;
  return made;
}

/// `hosts` hosts of `rails` RNICs, all in one task, host-major.
EndpointDirectory one_task(std::uint32_t hosts, std::uint16_t rails) {
  EndpointDirectory directory;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (std::uint16_t rail = 0; rail < rails; ++rail) {
      directory.push_back(endpoint("host-" + std::to_string(host), rail, "job"));
    }
  }
  return directory;
}

std::vector<std::uint32_t> sorted_indices(const std::vector<EndpointId>& targets) {
  std::vector<std::uint32_t> indices;
  for (const EndpointId target : targets) {
    indices.push_back(target.index());
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

TEST(SameRailTargets, KeepsTaskAndRailAndLeavesOutTheOwnHost) {
  EndpointDirectory directory;
  directory.push_back(endpoint("a", 0, "job"));    // 0
  directory.push_back(endpoint("a", 1, "job"));    // 1: other rail
  directory.push_back(endpoint("b", 0, "job"));    // 2
  directory.push_back(endpoint("b", 0, "other"));  // 3: other task on the same RNIC
  directory.push_back(endpoint("c", 0, "job"));    // 4
  directory.push_back(endpoint("c", 1, "job"));    // 5
  directory.push_back(endpoint("a", 0, "job"));    // 6: a second function on host a
  const PingLists lists = same_rail_targets(directory, 1);
  using Indices = std::vector<std::uint32_t>;
  const Indices expected[] = {{2, 4}, {5}, {0, 4, 6}, {}, {0, 2, 6}, {1}, {2, 4}};
  ASSERT_EQ(lists.size(), std::size(expected));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(sorted_indices(lists[i]), expected[i]);
  }
  EXPECT_EQ(pair_count(lists), 12U);
}

TEST(FullMeshTargets, KeepsTheTaskAndLeavesOutTheOwnHost) {
  EndpointDirectory directory = one_task(3, 2);
  directory.push_back(endpoint("host-2", 0, "other"));
  const PingLists lists = full_mesh_targets(directory, 1);
  EXPECT_EQ(sorted_indices(lists[0]), (std::vector<std::uint32_t>{2, 3, 4, 5}));
  EXPECT_EQ(sorted_indices(lists[3]), (std::vector<std::uint32_t>{0, 1, 4, 5}));
  EXPECT_TRUE(lists[6].empty());
  EXPECT_EQ(pair_count(lists), 6U * 4U);
}

TEST(PingLists, HaveThePublishedSizes) {
  // 64 hosts of 8 RNICs: 63 destinations on the own rail, 504 on other hosts.
  const EndpointDirectory directory = one_task(64, 8);
  EXPECT_EQ(pair_count(same_rail_targets(directory, 1)), 512U * 63U);
  EXPECT_EQ(pair_count(full_mesh_targets(directory, 1)), 512U * 504U);
}

TEST(PingLists, AreSymmetricAndHoldNoDoubles) {
  const EndpointDirectory directory = one_task(9, 3);
  for (const PingLists& lists :
       {same_rail_targets(directory, 5), full_mesh_targets(directory, 5)}) {
    std::set<Pair> pairs;
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      for (const EndpointId target : lists[i]) {
        EXPECT_TRUE(pairs.insert({EndpointId(i), target}).second);
      }
    }
    for (const Pair pair : pairs) {
      EXPECT_TRUE(pairs.contains(pair.reversed()));
    }
  }
}

TEST(PingLists, AreEmptyForEndpointsThatOnlyAnswer) {
  EndpointDirectory directory = one_task(3, 2);
  for (Endpoint& endpoint : directory) {
    endpoint.local = endpoint.host == "host-1";
  }
  const PingLists lists = same_rail_targets(directory, 1);
  for (std::uint32_t i = 0; i < directory.size(); ++i) {
    const bool local = directory[EndpointId(i)].local;
    EXPECT_EQ(lists[i].size(), local ? 2U : 0U) << directory[EndpointId(i)].name;
  }
}

TEST(PingLists, FollowFromTheSeedAndDifferBetweenSeeds) {
  const EndpointDirectory directory = one_task(16, 2);
  EXPECT_EQ(same_rail_targets(directory, 7), same_rail_targets(directory, 7));
  EXPECT_NE(same_rail_targets(directory, 7), same_rail_targets(directory, 8));
}

TEST(PingLists, SourcesStartAtDifferentTargets) {
  // With a common order all 63 others would start at host 0.  At random about 1 - 1/e of the 64
  // hosts are somebody's first target.
  const EndpointDirectory directory = one_task(64, 1);
  const PingLists lists = same_rail_targets(directory, 1);
  std::vector<int> first_of(64, 0);
  for (const std::vector<EndpointId>& targets : lists) {
    ++first_of[targets.front().index()];
  }
  EXPECT_GE(std::count_if(first_of.begin(), first_of.end(), [](int n) { return n > 0; }), 32);
  EXPECT_LE(*std::max_element(first_of.begin(), first_of.end()), 8);
}

TEST(PingLists, EveryPositionIsEquallyLikely) {
  // Three targets have six orders; over 6,000 seeds each is met 1,000 times, sd 29.
  const EndpointDirectory directory = one_task(4, 1);
  std::vector<std::vector<EndpointId>> orders;
  std::vector<int> met;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const std::vector<EndpointId> order = same_rail_targets(directory, seed)[0];
    const auto known = std::find(orders.begin(), orders.end(), order);
    if (known == orders.end()) {
      orders.push_back(order);
      met.push_back(1);
    } else {
      ++met[static_cast<std::size_t>(known - orders.begin())];
    }
  }
  ASSERT_EQ(orders.size(), 6U);
  for (const int count : met) {
    EXPECT_NEAR(count, 1000, 120);
  }
}

TEST(PairCounts, EqualTheListsWithoutMakingThem) {
  EndpointDirectory directory = one_task(5, 3);
  directory.push_back(endpoint("host-0", 0, "other"));
  directory.push_back(endpoint("host-9", 0, "other"));
  directory.push_back(endpoint("host-9", 1, "other"));
  EXPECT_EQ(same_rail_pair_count(directory, whole_range(directory)),
            pair_count(same_rail_targets(directory, 1)));
  EXPECT_EQ(full_mesh_pair_count(directory, whole_range(directory)),
            pair_count(full_mesh_targets(directory, 1)));
}

}  // namespace
}  // namespace bonescan
