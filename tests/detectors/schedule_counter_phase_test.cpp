// The two ends of a pair visit it half a list apart.
#include "detectors/schedule/counter_phase.h"
#include "tests/support/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace bonescan {
namespace {

std::vector<EndpointId> numbered(std::uint32_t count) {
  std::vector<EndpointId> members;
  for (std::uint32_t i = 0; i < count; ++i) {
    members.emplace_back(i);
  }
  return members;
}

/// Everybody lists everybody within `reach` places round a ring, in a shuffled order.
PingLists ring(std::uint32_t count, std::uint32_t reach, std::uint64_t seed) {
  test::Dice dice(seed, 31);
  PingLists lists(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < count; ++j) {
      const std::uint32_t apart = std::min((j + count - i) % count, (i + count - j) % count);
      if (apart > 0 && apart <= reach) {
        lists[i].emplace_back(j);
      }
    }
    for (std::size_t k = lists[i].size(); k-- > 1;) {
      std::swap(lists[i][k], lists[i][dice.below(static_cast<std::uint32_t>(k + 1))]);
    }
  }
  return lists;
}

std::uint32_t place(const PingLists& lists, std::uint32_t source, std::uint32_t target) {
  const auto& list = lists[source];
  return static_cast<std::uint32_t>(std::find(list.begin(), list.end(), EndpointId(target)) -
                                    list.begin());
}

/// The longest time between two visits of a pair, in visits, by pair.
std::vector<std::uint32_t> longest_gaps(const PingLists& lists) {
  std::vector<std::uint32_t> gaps;
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    const auto length = static_cast<std::uint32_t>(lists[i].size());
    for (const EndpointId target : lists[i]) {
      const std::uint32_t here = place(lists, i, target.index());
      const std::uint32_t there = place(lists, target.index(), i);
      const std::uint32_t apart = here > there ? here - there : there - here;
      gaps.push_back(std::max(apart, length - apart));
    }
  }
  return gaps;
}

void print(const char* name, const std::vector<std::uint32_t>& gaps, std::size_t length) {
  const double mean =
      std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
  double wait = 0.0;
  for (const double gap : gaps) {
    const double rest = static_cast<double>(length) - gap;
    wait += (gap * gap + rest * rest) / (2.0 * static_cast<double>(length)) /
            static_cast<double>(gaps.size());
  }
  std::printf("%s, list of %zu: longest gap mean %.1f, worst %u visits; mean wait %.2f visits\n",
              name,
              length,
              mean,
              *std::max_element(gaps.begin(), gaps.end()),
              wait);
}

TEST(CounterPhase, PutsTheVisitsOfAPairHalfAListApart) {
  struct Case {
    const char* name;
    std::uint32_t count;
    std::uint32_t reach;
  };

  for (const Case& c : {Case{"all of ten", 10, 5},
                        Case{"all of 18", 18, 9},
                        Case{"all of 26", 26, 13},
                        Case{"all of 64", 64, 32},
                        Case{"24 neighbours of 512", 512, 12}}) {
    SCOPED_TRACE(c.name);
    PingLists lists = ring(c.count, c.reach, 3);
    const auto length = lists[0].size();
    print("shuffled", longest_gaps(lists), length);
    counter_phase(numbered(c.count), lists);
    const std::vector<std::uint32_t> gaps = longest_gaps(lists);
    print("counter-phased", gaps, length);
    // Half a list, or one place more where it is odd.
    EXPECT_LE(*std::max_element(gaps.begin(), gaps.end()), length / 2 + 2 * (length % 2));
  }
}

TEST(CounterPhase, KeepsEveryTargetAndPutsOneWayOnesLast) {
  for (const std::uint64_t seed : {1u, 3u, 5u, 7u}) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    test::Dice dice(seed, 32);
    const std::uint32_t count = 2 + dice.below(30);
    PingLists lists(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t j = 0; j < count; ++j) {
        if (i != j && dice.below(3) == 0) {
          lists[i].emplace_back(j);
        }
      }
    }
    lists[0].emplace_back(1000);  // Not a member.
    PingLists ordered = lists;
    counter_phase(numbered(count), ordered);
    for (std::uint32_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::is_permutation(
          ordered[i].begin(), ordered[i].end(), lists[i].begin(), lists[i].end()));
      const auto one_way = [&](EndpointId target) {
        return target.index() >= count || std::find(lists[target.index()].begin(),
                                                    lists[target.index()].end(),
                                                    EndpointId(i)) == lists[target.index()].end();
      };
      EXPECT_TRUE(std::is_partitioned(ordered[i].begin(), ordered[i].end(), [&](EndpointId target) {
        return !one_way(target);
      }));
    }
  }
}

TEST(CounterPhase, TakesEmptyLists) {
  PingLists lists(3);
  counter_phase(numbered(3), lists);
  EXPECT_EQ(lists, PingLists(3));
}

}  // namespace
}  // namespace bonescan
