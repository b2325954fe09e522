#include "model/workload/collectives.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using Edges = std::vector<CollectiveEdge> (*)(std::uint32_t, std::uint32_t);

struct Case {
  const char* name;
  Edges edges;
};

const std::vector<Case> kCollectives = {
    {"ring", ring_edges}, {"tree", tree_edges}, {"mesh", mesh_edges}};

/// An all-reduce over n members sends 2 (n - 1) S in all, however it goes: n units of a ring.
TEST(Collectives, SendTheSameInAllAndReachEverybody) {
  for (const Case& c : kCollectives) {
    for (std::uint32_t count = 2; count <= 67; ++count) {
      SCOPED_TRACE(testing::Message() << c.name << " of " << count);
      double sum = 0.0;
      std::set<std::uint32_t> reached = {0};
      std::vector<std::uint32_t> open = {0};
      for (std::uint32_t member = 0; member < count; ++member) {
        for (const CollectiveEdge& edge : c.edges(count, member)) {
          ASSERT_LT(edge.member, count);
          ASSERT_NE(edge.member, member);
          sum += edge.share;
        }
      }
      EXPECT_NEAR(sum, count, 1e-9);
      while (!open.empty()) {
        const std::uint32_t member = open.back();
        open.pop_back();
        for (const CollectiveEdge& edge : c.edges(count, member)) {
          if (reached.insert(edge.member).second) {
            open.push_back(edge.member);
          }
        }
      }
      EXPECT_EQ(reached.size(), count);
    }
  }
}

TEST(Collectives, OfOneMemberSendNothing) {
  for (const Case& c : kCollectives) {
    EXPECT_TRUE(c.edges(1, 0).empty()) << c.name;
  }
}

/// Every edge carries as much up as down; a tree of n has n - 1 edges, and there are two.
TEST(Collectives, TreesAreSymmetricAndNarrow) {
  for (std::uint32_t count = 2; count <= 67; ++count) {
    SCOPED_TRACE(count);
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> shares;
    double units = 0.0;
    for (std::uint32_t member = 0; member < count; ++member) {
      const auto edges = tree_edges(count, member);
      EXPECT_LE(edges.size(), 6u);
      for (const CollectiveEdge& edge : edges) {
        shares[{member, edge.member}] = edge.share;
        units += edge.share / (count / (4.0 * (count - 1)));
      }
    }
    EXPECT_NEAR(units, 4.0 * (count - 1), 1e-9);
    for (const auto& [ends, share] : shares) {
      EXPECT_EQ(shares.at({ends.second, ends.first}), share);
    }
  }
}

/// Whoever passes data on in one tree is a leaf of the other, apart from the roots' way.
TEST(Collectives, TreesShareTheWork) {
  for (const std::uint32_t count : {4u, 8u, 16u, 32u}) {
    for (std::uint32_t member = 0; member < count; ++member) {
      double sent = 0.0;
      for (const CollectiveEdge& edge : tree_edges(count, member)) {
        sent += edge.share;
      }
      EXPECT_GE(sent, 0.5) << count << ": " << member;
      EXPECT_LE(sent, 1.5) << count << ": " << member;
    }
  }
}

}  // namespace
}  // namespace bonescan
