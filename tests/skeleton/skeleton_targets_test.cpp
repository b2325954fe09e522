#include "skeleton/skeleton_targets.h"

#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

struct Task {
  EndpointDirectory directory;
  std::vector<EndpointId> members;
  TaskSkeleton skeleton;

  std::set<Pair> pairs() const {
    const PingLists lists = skeleton_targets(directory, members, skeleton);
    EXPECT_EQ(lists.size(), members.size());
    std::set<Pair> listed;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      EXPECT_TRUE(std::is_sorted(lists[i].begin(), lists[i].end()));
      for (const EndpointId target : lists[i]) {
        EXPECT_TRUE(listed.insert({members[i], target}).second) << "no doubles";
      }
    }
    return listed;
  }

  std::size_t targets_of(std::size_t member) const {
    return skeleton_targets(directory, members, skeleton)[member].size();
  }
};

/// `pp` stages of `dp` replicas, a host each, in the order of hosts, with `rails` RNICs.
Task grid(std::uint32_t pp, std::uint32_t dp, std::uint16_t rails) {
  Task task;
  for (std::uint32_t host = 0; host < pp * dp; ++host) {
    for (std::uint16_t rail = 0; rail < rails; ++rail) {
      Endpoint endpoint;
      endpoint.host = "host-" + std::to_string(host);
      endpoint.name = endpoint.host + "/rnic-" + std::to_string(rail);
      endpoint.task = "job";
      endpoint.rail = rail;
      task.members.push_back(task.directory.push_back(endpoint));
      task.skeleton.stages.push_back(host / dp);
      task.skeleton.replicas.push_back(host % dp);
    }
  }
  task.skeleton.basis = SkeletonBasis::kThroughput;
  task.skeleton.stage_count = pp;
  return task;
}

TEST(SkeletonTargets, HaveThePublishedLengths) {
  struct Case {
    const char* name;
    std::uint32_t pp;
    std::uint32_t dp;
    SkeletonScope scope;
    std::size_t targets;
  };

  const Case cases[] = {
      {"512, everybody", 8, 8, SkeletonScope::kMesh, 504},
      {"512, same rail", 8, 8, SkeletonScope::kSameRail, 63},
      {"512, whole groups", 8, 8, SkeletonScope::kAdjacentGroups, 7 + 16},
      {"512, peers", 8, 8, SkeletonScope::kPeers, 9},
      {"1,024, peers", 8, 16, SkeletonScope::kPeers, 17},
      {"2,048, DP 32, peers", 8, 32, SkeletonScope::kPeers, 33},
      {"one stage", 1, 8, SkeletonScope::kAdjacentGroups, 7},
      {"two stages are before and after each other", 2, 4, SkeletonScope::kPeers, 4},
      {"two stages, whole groups", 2, 4, SkeletonScope::kAdjacentGroups, 7},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Task task = grid(c.pp, c.dp, 8);
    task.skeleton.scope = c.scope;
    for (const std::size_t member : {std::size_t{0}, task.members.size() - 1}) {
      EXPECT_EQ(task.targets_of(member), c.targets);
    }
  }
}

TEST(SkeletonTargets, AScopeWithoutItsDataGivesTheWiderLists) {
  Task task = grid(4, 2, 1);
  task.skeleton.scope = SkeletonScope::kPeers;
  EXPECT_EQ(task.targets_of(0), 3U);
  task.skeleton.replicas.pop_back();
  EXPECT_EQ(task.targets_of(0), 5U) << "whole neighbouring stages";
  task.skeleton.stages.clear();
  EXPECT_EQ(task.targets_of(0), 7U) << "the whole rail";
  task.skeleton.stage_count = 0;
  EXPECT_EQ(task.targets_of(0), 7U);
}

TEST(SkeletonTargets, WhatTablesNameIsListedFromBothEndsUnderEveryScope) {
  Task task = grid(2, 2, 2);  // Hosts 0 to 3, endpoints 2h and 2h + 1.
  task.skeleton.basis = SkeletonBasis::kFlowTable;
  task.skeleton.scope = SkeletonScope::kPeers;
  task.skeleton.peers.resize(task.members.size());
  task.skeleton.peers[0] = {EndpointId(3)};                 // across rails
  task.skeleton.peers[6] = {EndpointId(7), EndpointId(2)};  // 7 is on the same host
  task.skeleton.peers[5] = {EndpointId(99)};                // of another task
  const auto both = [](std::uint32_t a, std::uint32_t b) {
    const Pair pair{EndpointId(a), EndpointId(b)};
    return std::set<Pair>{pair, pair.reversed()};
  };
  std::set<Pair> expected = both(0, 3);
  expected.merge(both(6, 2));
  EXPECT_EQ(task.pairs(), expected);
  task.skeleton.scope = SkeletonScope::kSameRail;
  expected = task.pairs();
  EXPECT_TRUE(expected.contains({EndpointId(3), EndpointId(0)}));
  EXPECT_EQ(expected.size(), 8U * 3U + 2U);
}

TEST(SkeletonTargets, OnlyLocalMembersHaveLists) {
  Task task = grid(2, 2, 1);
  task.skeleton.scope = SkeletonScope::kSameRail;
  task.directory[EndpointId(1)].local = false;
  EXPECT_EQ(task.targets_of(1), 0U);
  EXPECT_EQ(task.targets_of(0), 3U);
}

TEST(SkeletonTargets, SameRailIsThePreloadedList) {
  Task task = grid(3, 3, 2);
  PingLists preloaded = same_rail_targets(task.directory, 1);
  for (std::vector<EndpointId>& list : preloaded) {
    std::sort(list.begin(), list.end());
  }
  EXPECT_EQ(skeleton_targets(task.directory, task.members, {}), preloaded);
}

// Random stages, replicas, hosts with two containers and members that are not neighbours in the
// directory: each rung holds the next one, and every list keeps the invariants.
TEST(SkeletonTargets, EachRungHoldsTheNextOne) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 2);
    Task task;
    task.skeleton.basis = SkeletonBasis::kThroughput;
    task.skeleton.stage_count = 1 + draws.block(0)[0] % 6;
    for (std::uint64_t i = 1; i <= 30; ++i) {
      const PhiloxCounter draw = draws.block(i);
      Endpoint endpoint;
      endpoint.host = "host-" + std::to_string(draw[0] % 9);
      endpoint.rail = static_cast<std::uint16_t>(draw[1] % 3);
      const EndpointId id = task.directory.push_back(endpoint);
      if (draw[2] % 4 == 0) {
        continue;  // of another task
      }
      task.members.push_back(id);
      task.skeleton.stages.push_back(draw[3] % task.skeleton.stage_count);
      task.skeleton.replicas.push_back((draw[3] >> 8) % 4);
    }
    std::set<Pair> wider;
    for (const SkeletonScope scope : {SkeletonScope::kMesh,
                                      SkeletonScope::kSameRail,
                                      SkeletonScope::kAdjacentGroups,
                                      SkeletonScope::kPeers}) {
      task.skeleton.scope = scope;
      const std::set<Pair> listed = task.pairs();
      for (const Pair& pair : listed) {
        ASSERT_TRUE(listed.contains(pair.reversed()));
        ASSERT_NE(task.directory[pair.source].host, task.directory[pair.target].host);
        ASSERT_TRUE(scope == SkeletonScope::kMesh || wider.contains(pair));
      }
      wider = listed;
    }
  }
}

}  // namespace
}  // namespace bonescan
