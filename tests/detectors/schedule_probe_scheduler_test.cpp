#include "detectors/schedule/probe_scheduler.h"
#include "sim/base/rng_stream.h"
#include "tests/support/scheduler_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using test::Bench;
using test::kSeed;
using test::one_rail;

TEST(ProbeScheduler, EveryActiveTargetIsVisitedOncePerSweep) {
  for (const std::uint32_t hosts : {2U, 16U, 17U}) {  // lists of odd and of even length
    SCOPED_TRACE(hosts);
    Bench bench(hosts);
    bench.all_ready();
    for (int sweep = 0; sweep < 3; ++sweep) {
      const std::map<Pair, int> visits = bench.visits_of(hosts - 1);
      ASSERT_EQ(visits.size(), hosts * (hosts - 1));
      for (const auto& [pair, count] : visits) {
        EXPECT_EQ(count, 1);
      }
    }
    EXPECT_DOUBLE_EQ(bench.scheduler.sweep_s(), hosts - 1);
    EXPECT_DOUBLE_EQ(bench.scheduler.list_length_mean(), hosts - 1);
  }
}

TEST(ProbeScheduler, RequestsAreOrderedAndStayInsideTheirPeriod) {
  for (const std::uint8_t k : std::vector<std::uint8_t>{1, 3, 10}) {
    SCOPED_TRACE(int{k});
    Bench bench(64, {.visit = milliseconds(1000), .probes_per_visit = k});
    bench.all_ready();
    for (int period = 0; period < 5; ++period) {
      const Time from = bench.now;
      const std::vector<ProbeRequest>& requests = bench.step();
      ASSERT_EQ(requests.size(), 64U);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const ProbeRequest& r = requests[i];
        EXPECT_EQ(r.count, k);
        EXPECT_EQ(r.spacing, Duration(milliseconds(1000)) / k);
        EXPECT_GE(r.start, from);
        EXPECT_LT(r.start, from + r.spacing);
        EXPECT_LT(r.start + (k - 1) * r.spacing, bench.now);
        if (i > 0) {
          const ProbeRequest& before = requests[i - 1];
          EXPECT_TRUE(before.start < r.start || (before.start == r.start && before.pair < r.pair));
        }
      }
    }
  }
}

TEST(ProbeScheduler, EqualPhasesAreOrderedByPair) {
  // With a spacing of 1 ns every phase is 0.
  Bench bench(8, {.visit = Duration(10), .probes_per_visit = 10});
  bench.all_ready();
  const std::vector<ProbeRequest>& requests = bench.step();
  ASSERT_EQ(requests.size(), 8U);
  for (std::size_t i = 1; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].start, requests[0].start);
    EXPECT_LT(requests[i - 1].pair, requests[i].pair);
  }
}

TEST(ProbeScheduler, SourcesAreSpreadOverTheSpacing) {
  Bench bench(256, {.visit = milliseconds(1000), .probes_per_visit = 10});
  bench.all_ready();
  std::vector<int> tenth(10, 0);
  for (const ProbeRequest& r : bench.step()) {
    ++tenth[static_cast<std::size_t>((r.start - kStartOfRun) / milliseconds(10))];
  }
  // 25.6 expected, sd 4.8.
  EXPECT_GE(*std::min_element(tenth.begin(), tenth.end()), 8);
  EXPECT_LE(*std::max_element(tenth.begin(), tenth.end()), 45);
}

TEST(ProbeScheduler, NothingIsProbedUntilBothEndsAreReady) {
  Bench bench(4);
  EXPECT_TRUE(bench.step().empty());
  EXPECT_EQ(bench.scheduler.sweep_s(), 0.0);
  EXPECT_EQ(bench.scheduler.list_length_mean(), 0.0);
  bench.set(2, MembershipKind::kReady);
  EXPECT_TRUE(bench.step().empty());
  EXPECT_EQ(bench.scheduler.list_length_mean(), 0.0);
  bench.set(0, MembershipKind::kReady);
  const std::map<Pair, int> visits = bench.visits_of(3);
  const std::map<Pair, int> expected{{{EndpointId(0), EndpointId(2)}, 3},
                                     {{EndpointId(2), EndpointId(0)}, 3}};
  EXPECT_EQ(visits, expected);
}

TEST(ProbeScheduler, ALateContainerIsVisitedByAllWithinOneSweep) {
  Bench bench(10);
  for (std::uint32_t i = 0; i < 9; ++i) {
    bench.set(i, MembershipKind::kReady);
  }
  for (const auto& [pair, count] : bench.visits_of(13)) {
    EXPECT_NE(pair.source, EndpointId(9));
    EXPECT_NE(pair.target, EndpointId(9));
  }
  bench.set(9, MembershipKind::kReady);
  const std::map<Pair, int> visits = bench.visits_of(9);
  EXPECT_EQ(visits.size(), 90U);
  for (const auto& [pair, count] : visits) {
    EXPECT_EQ(count, 1);
  }
}

TEST(ProbeScheduler, AStoppingContainerIsLeftAloneAtOnce) {
  Bench bench(6);
  bench.all_ready();
  bench.visits_of(7);
  bench.set(3, MembershipKind::kStopping);
  const std::map<Pair, int> visits = bench.visits_of(4);
  EXPECT_EQ(visits.size(), 20U);
  for (const auto& [pair, count] : visits) {
    EXPECT_NE(pair.source, EndpointId(3));
    EXPECT_NE(pair.target, EndpointId(3));
    EXPECT_EQ(count, 1);
  }
  EXPECT_DOUBLE_EQ(bench.scheduler.sweep_s(), 4.0);
  EXPECT_DOUBLE_EQ(bench.scheduler.list_length_mean(), 4.0);
}

TEST(ProbeScheduler, ListLengthsAreCountedOverReadySources) {
  // 0 lists 1, 2, 3; 1 lists nobody; 2 lists 0; 3 is not ready.
  const PingLists lists{
      {EndpointId(1), EndpointId(2), EndpointId(3)}, {}, {EndpointId(0)}, {EndpointId(0)}};
  Activation activation(lists);
  ProbeScheduler scheduler(lists, {.visit = milliseconds(500)}, kSeed);
  for (std::uint32_t i = 0; i < 3; ++i) {
    activation.apply({kStartOfRun, EndpointId(i), MembershipKind::kReady});
  }
  std::vector<ProbeRequest> requests;
  scheduler.plan(kStartOfRun, activation, requests);
  EXPECT_EQ(requests.size(), 2U);
  EXPECT_DOUBLE_EQ(scheduler.sweep_s(), 1.0);
  EXPECT_DOUBLE_EQ(scheduler.list_length_mean(), 1.0);
}

TEST(ProbeScheduler, PairIdsAreDenseStableAndIndependentOfTheSeed) {
  const PingLists lists = one_rail(5);
  const ProbeScheduler scheduler(lists, {}, kSeed);
  const PairTable& pairs = scheduler.pairs();
  ASSERT_EQ(pairs.size(), 20U);
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
  Bench bench(5);
  bench.all_ready();
  for (int period = 0; period < 8; ++period) {
    for (const ProbeRequest& r : bench.step()) {
      EXPECT_EQ(bench.scheduler.pairs()[r.pair], r.ends);
      EXPECT_EQ(pairs[r.pair], r.ends);
    }
  }
}

TEST(ProbeScheduler, CarriesTheProbingOptions) {
  Bench bench(2,
              {.visit = milliseconds(200),
               .probes_per_visit = 4,
               .timeout = milliseconds(70),
               .payload_bytes = 1500,
               .dscp = 46});
  bench.all_ready();
  const std::vector<ProbeRequest>& requests = bench.step();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].spacing, Duration(milliseconds(50)));
  EXPECT_EQ(requests[0].timeout, Duration(milliseconds(70)));
  EXPECT_EQ(requests[0].payload_bytes, 1500);
  EXPECT_EQ(requests[0].dscp, 46);
  EXPECT_EQ(requests[0].count, 4);
}

TEST(ProbeScheduler, APairKeepsItsSourcePortAndPairsDiffer) {
  Bench bench(20);
  bench.all_ready();
  std::map<Pair, std::uint16_t> ports;
  for (int period = 0; period < 40; ++period) {
    for (const ProbeRequest& r : bench.step()) {
      EXPECT_EQ(ports.try_emplace(r.ends, r.source_port).first->second, r.source_port);
      EXPECT_EQ(r.source_port, probe_source_port(kSeed, r.ends));
      EXPECT_GE(r.source_port, 49152);
    }
  }
  std::set<std::uint16_t> distinct;
  for (const auto& [pair, port] : ports) {
    distinct.insert(port);
  }
  EXPECT_EQ(ports.size(), 380U);
  EXPECT_GE(distinct.size(), 360U);  // 380 draws from 16,384: 4.4 repeats expected
  const Pair pair{EndpointId(0), EndpointId(1)};
  EXPECT_NE(probe_source_port(1, pair), probe_source_port(2, pair));
}

TEST(ProbeScheduler, AllocatesNothingAfterTheFirstPlan) {
  Bench bench(32);
  bench.all_ready();
  bench.step();
  const ProbeRequest* data = bench.requests.data();
  const std::size_t capacity = bench.requests.capacity();
  for (int period = 0; period < 70; ++period) {
    bench.step();
    EXPECT_EQ(bench.requests.data(), data);
    EXPECT_EQ(bench.requests.capacity(), capacity);
  }
}

/// Lists of a full mesh of `count` endpoints from `first` on.
PingLists mesh(std::uint32_t first, std::uint32_t count) {
  PingLists lists(count);
  for (std::uint32_t source = 0; source < count; ++source) {
    for (std::uint32_t target = count; target-- > 0;) {
      if (target != source) {
        lists[source].emplace_back(first + target);
      }
    }
  }
  return lists;
}

TEST(ProbeScheduler, LaterListsAppendPairsAndKeepTheOrderOfRequests) {
  Bench bench(16);
  bench.all_ready();
  const std::vector<ProbeRequest> alone = bench.step();
  const PairTable before = bench.scheduler.pairs();
  const PingLists later = mesh(16, 9);
  bench.activation.submit(later);
  bench.scheduler.submit(later);
  ASSERT_EQ(bench.scheduler.pairs().size(), 16U * 15U + 9U * 8U);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), bench.scheduler.pairs().begin()));
  EXPECT_TRUE(std::is_sorted(bench.scheduler.pairs().begin(), bench.scheduler.pairs().end()));
  EXPECT_EQ(bench.step().size(), 16U) << "they are not ready yet";
  for (std::uint32_t i = 16; i < 25; ++i) {
    bench.set(i, MembershipKind::kReady);
  }
  const std::vector<ProbeRequest>& requests = bench.step();
  EXPECT_EQ(requests.size(), 25U);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(bench.scheduler.pairs()[requests[i].pair], requests[i].ends);
    EXPECT_EQ(requests[i].source_port, probe_source_port(kSeed, requests[i].ends));
    EXPECT_TRUE(i == 0 || std::tie(requests[i - 1].start, requests[i - 1].pair) <
                              std::tie(requests[i].start, requests[i].pair));
  }
  const std::span<const PairRange> of_last = bench.scheduler.pairs_from(EndpointId(24));
  ASSERT_EQ(of_last.size(), 1U);
  EXPECT_EQ(of_last.front(), (PairRange{PairId(16 * 15 + 64), 8}));
  EXPECT_TRUE(bench.scheduler.pairs_from(EndpointId(25)).empty());
}

TEST(ProbeScheduler, EndedSourcesCostNothing) {
  Bench bench(4);
  bench.all_ready();
  const std::size_t held = bench.scheduler.held_size();
  const std::vector<ProbeRequest> alone = bench.step();
  const PingLists later = mesh(4, 3);
  bench.activation.submit(later);
  bench.scheduler.submit(later);
  EXPECT_EQ(bench.scheduler.source_count(), 7U);
  const EndpointId ended[] = {EndpointId(4), EndpointId(5), EndpointId(6)};
  bench.activation.end(ended);
  bench.scheduler.drop_ended(bench.activation, ended);
  EXPECT_EQ(bench.scheduler.source_count(), 4U);
  EXPECT_EQ(bench.scheduler.held_size(), held);
  EXPECT_TRUE(bench.scheduler.pairs_from(EndpointId(5)).empty());
  EXPECT_EQ(bench.scheduler.pairs().size(), 12U + 6U) << "names of pairs stay";
  EXPECT_EQ(bench.step().size(), alone.size());
}

TEST(ProbeScheduler, ARelistKeepsIdsOfKnownPairsAndAppendsNewOnes) {
  Bench bench(4);
  bench.all_ready();
  const PairTable before = bench.scheduler.pairs();
  const EndpointId first(0);
  const EndpointId two[] = {EndpointId(2), EndpointId(1)};
  bench.relist(first, {EndpointId(3)});
  EXPECT_EQ(bench.scheduler.pairs().size(), before.size());
  EXPECT_EQ(bench.relist(first, {two[0], two[1]}).count, 0U) << "both are known";
  EXPECT_EQ(bench.scheduler.targets(first), std::vector<EndpointId>(two, two + 2));
  EXPECT_EQ(bench.scheduler.find({first, EndpointId(1)}), PairId(0));
  EXPECT_EQ(bench.scheduler.find({first, EndpointId(3)}), PairId(2)) << "it keeps its id";
  EXPECT_EQ(bench.scheduler.pairs_from(first).size(), 1U);
}

TEST(ProbeScheduler, PairsThatWereNeverListedGetIdsAtTheEnd) {
  const PingLists lists{{EndpointId(1)}, {EndpointId(0)}, {}, {}};
  Activation activation(lists);
  ProbeScheduler scheduler(lists, {}, kSeed);
  EXPECT_EQ(scheduler.source_count(), 2U);
  const EndpointId of_first[] = {EndpointId(3), EndpointId(1), EndpointId(2)};
  EXPECT_EQ(scheduler.relist(EndpointId(0), of_first), (PairRange{PairId(2), 2}));
  const EndpointId of_third[] = {EndpointId(0)};
  EXPECT_EQ(scheduler.relist(EndpointId(2), of_third), (PairRange{PairId(4), 1}));
  EXPECT_EQ(scheduler.source_count(), 3U) << "it had nobody to visit before";
  const auto ranges = scheduler.pairs_from(EndpointId(0));
  EXPECT_EQ(std::vector<PairRange>(ranges.begin(), ranges.end()),
            (std::vector<PairRange>{{PairId(0), 1}, {PairId(2), 2}}));
  EXPECT_EQ(scheduler.pairs()[PairId(2)], (Pair{EndpointId(0), EndpointId(2)}));
  EXPECT_EQ(scheduler.pairs()[PairId(3)], (Pair{EndpointId(0), EndpointId(3)}));
  EXPECT_FALSE(scheduler.find({EndpointId(2), EndpointId(3)}).valid());
}

TEST(ProbeScheduler, ASourceThatIsRelistedEverySecondStarvesNobody) {
  Bench bench(8);
  bench.all_ready();
  std::set<EndpointId> visited;
  std::vector<EndpointId> targets = bench.scheduler.targets(EndpointId(0));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (const ProbeRequest& request : bench.step()) {
      if (request.ends.source == EndpointId(0)) {
        visited.insert(request.ends.target);
      }
    }
    bench.relist(EndpointId(0), targets);
  }
  EXPECT_EQ(visited.size(), targets.size());
  // The one that would come next leaves: the one after it is next.
  const std::vector<EndpointId> without_next(targets.begin() + 1, targets.end());
  bench.relist(EndpointId(0), without_next);
  for (const ProbeRequest& request : bench.step()) {
    EXPECT_TRUE(request.ends.source != EndpointId(0) || request.ends.target == targets[1]);
  }
}

TEST(ProbeScheduler, WhoIsNewToAListIsVisitedFirst) {
  Bench bench(8);
  bench.all_ready();
  const EndpointId source(0);
  const auto all = bench.scheduler.targets(source);
  bench.relist(source, {all[1], all[3]});
  bench.relist(source, all);
  const std::vector<EndpointId> wanted = {all[0], all[2], all[4], all[5], all[6], all[1], all[3]};
  for (const EndpointId next : wanted) {
    for (const ProbeRequest& request : bench.step()) {
      EXPECT_TRUE(request.ends.source != source || request.ends.target == next);
    }
  }
}

TEST(ProbeScheduler, AnEmptyListIsNotVisited) {
  Bench bench(4);
  bench.all_ready();
  bench.relist(EndpointId(2), {});
  EXPECT_EQ(bench.step().size(), 3U);
  EXPECT_EQ(bench.activation.active_pairs(), 9U);
  bench.relist(EndpointId(2), {EndpointId(0)});
  EXPECT_EQ(bench.step().size(), 4U);
}

// Against a reference that keeps its lists as sets and counts everything from scratch.
TEST(ProbeScheduler, RandomRelistsAgreeWithANaiveReference) {
  constexpr std::uint32_t kCount = 14;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 1);
    Bench bench(kCount);
    std::vector<std::set<EndpointId>> lists(kCount);
    std::map<Pair, PairId> ids;
    for (std::uint32_t p = 0; p < bench.scheduler.pairs().size(); ++p) {
      const Pair ends = bench.scheduler.pairs()[PairId(p)];
      ids[ends] = PairId(p);
      lists[ends.source.index()].insert(ends.target);
    }
    for (std::uint64_t n = 0; n < 120; ++n) {
      const PhiloxCounter draw = draws.block(n);
      const EndpointId source(draw[0] % kCount);
      if (draw[1] % 2 == 0) {
        std::vector<EndpointId> targets;
        for (std::uint32_t t = 0; t < kCount; ++t) {
          if (t != source.index() && draws.block(1000 + n * kCount + t)[0] % 3 == 0) {
            targets.emplace_back(t);
          }
        }
        std::rotate(targets.begin(),
                    targets.begin() + (targets.empty() ? 0 : draw[2] % targets.size()),
                    targets.end());
        bench.relist(source, targets);
        lists[source.index()] = {targets.begin(), targets.end()};
        for (const EndpointId target : targets) {
          const Pair ends{source, target};
          const PairId id = bench.scheduler.find(ends);
          ASSERT_TRUE(id.valid());
          ASSERT_EQ(bench.scheduler.pairs()[id], ends);
          ASSERT_EQ(ids.try_emplace(ends, id).first->second, id) << "a pair keeps its id";
        }
      } else {
        bench.set(draw[0] % kCount, MembershipKind(draw[2] % 3));
      }
      ASSERT_EQ(bench.scheduler.pairs().size(), ids.size()) << "each pair has one id";
      bench.check_against(lists);
    }
  }
}

}  // namespace
}  // namespace bonescan
