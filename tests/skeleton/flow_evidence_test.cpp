#include "skeleton/flow_evidence.h"

#include "skeleton/flow_judgement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time at_s(int s) {
  return kStartOfRun + seconds(s);
}

/// Tables that count so many bytes a second for each peer, from the start.
class FakeTables final : public FlowTableSource {
 public:
  Expected<FlowTableDump> dump(EndpointId, std::span<const FlowKey>, Time) override {
    return fail(ErrorCode::kUnavailable, "not asked");
  }

  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override {
    asked.push_back(at);
    if (pending.erase(at) > 0) {
      return fail(ErrorCode::kPending, "reading");
    }
    if (unreadable.contains(at)) {
      return fail(ErrorCode::kUnavailable, "no bridge");
    }
    FlowCounterDump made;
    for (const auto& [ends, rate] : rates) {
      if (ends.source == at && (!listed || listed(ends, now))) {
        const Duration age = now - kStartOfRun;
        const double moved =
            frozen_at ? bonescan::seconds(*frozen_at - kStartOfRun) : bonescan::seconds(age);
        made.flows.push_back({ends.target, static_cast<std::uint64_t>(moved * rate), age});
      }
    }
    return made;
  }

  void talk(std::uint32_t a, std::uint32_t b, double rate) {
    rates[{EndpointId(a), EndpointId(b)}] = rate;
    rates[{EndpointId(b), EndpointId(a)}] = rate;
  }

  std::map<Pair, double> rates;  ///< bytes per second
  std::set<EndpointId> pending;  ///< the next time they are asked
  std::set<EndpointId> unreadable;
  std::optional<Time> frozen_at;
  std::function<bool(Pair, Time)> listed;
  std::vector<EndpointId> asked;
};

std::vector<EndpointId> members(std::uint32_t count) {
  std::vector<EndpointId> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    made.push_back(EndpointId(i));
  }
  return made;
}

std::vector<EndpointId> ids(std::initializer_list<std::uint32_t> numbers) {
  std::vector<EndpointId> made;
  for (const std::uint32_t number : numbers) {
    made.push_back(EndpointId(number));
  }
  return made;
}

constexpr double kProbes = 2'600.0;
constexpr double kTraffic = 2e6;

/// Polls once a second in [from, to].
void poll(FlowEvidence& evidence, FakeTables& tables, int from, int to, std::size_t budget = 99) {
  for (int s = from; s <= to; ++s) {
    EXPECT_LE(evidence.poll(tables, at_s(s), budget), budget);
  }
}

TEST(FlowEvidence, NamesThePeersThatCarryMoreThanProbes) {
  FakeTables tables;
  tables.talk(0, 1, kTraffic);
  tables.talk(2, 3, kTraffic);
  tables.talk(0, 2, kProbes);
  tables.talk(0, 9, kTraffic);  // Not of this task.
  FlowEvidence evidence(members(4), {});
  poll(evidence, tables, 20, 50);
  EXPECT_EQ(tables.asked.size(), 6U) << "spread over half a minute";
  EXPECT_FALSE(evidence.skeleton()) << "rates are differences of two readings";
  poll(evidence, tables, 51, 62);
  const auto found = evidence.skeleton();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scope, SkeletonScope::kPeers);
  EXPECT_EQ(found->basis, SkeletonBasis::kFlowTable);
  EXPECT_GE(found->confidence, 0.99);
  EXPECT_EQ(found->peers,
            (std::vector<std::vector<EndpointId>>{ids({1}), ids({0}), ids({3}), ids({2})}));
  EXPECT_EQ(found->why, "2 pairs have entries that carry more than probes do");
}

TEST(FlowEvidence, UnitesBothDirections) {
  FakeTables tables;
  tables.rates[{EndpointId(2), EndpointId(0)}] = kTraffic;
  tables.rates[{EndpointId(1), EndpointId(2)}] = kTraffic;
  FlowEvidence evidence(members(3), {});
  poll(evidence, tables, 20, 62);
  ASSERT_TRUE(evidence.skeleton());
  EXPECT_EQ(evidence.skeleton()->peers,
            (std::vector<std::vector<EndpointId>>{ids({2}), ids({2}), ids({0, 1})}));
}

TEST(FlowEvidence, AsksForNoMoreThanTheBudgetAndForAll) {
  FakeTables tables;
  for (std::uint32_t i = 0; i < 20; ++i) {
    tables.talk(i, (i + 1) % 20, kTraffic);
  }
  FlowEvidence evidence(members(20), {});
  poll(evidence, tables, 20, 70, 1);
  ASSERT_TRUE(evidence.skeleton());
  EXPECT_EQ(tables.asked.size(), 40U) << "twice each, and not again before dump_again";
  poll(evidence, tables, 71, 300, 3);
  EXPECT_EQ(tables.asked.size(), 40U);
  EXPECT_EQ(evidence.poll(tables, at_s(400), 0), 0U);
}

TEST(FlowEvidence, AsksAgainWhatIsPending) {
  FakeTables tables;
  tables.talk(0, 1, kTraffic);
  tables.pending = {EndpointId(1)};
  FlowEvidence evidence(members(2), {});
  poll(evidence, tables, 20, 40);
  EXPECT_EQ(tables.asked, ids({0, 0, 1, 1})) << "it is due until it answers";
  poll(evidence, tables, 41, 62);
  ASSERT_TRUE(evidence.skeleton());
  EXPECT_EQ(evidence.skeleton()->scope, SkeletonScope::kPeers);
}

TEST(FlowEvidence, ReadsTheTablesAgainAndForgetsWhoNoLongerTalks) {
  FakeTables tables;
  tables.talk(0, 1, kTraffic);
  tables.talk(2, 3, kTraffic);
  FlowEvidence evidence(members(4), {});
  poll(evidence, tables, 20, 62);
  tables.rates.clear();
  tables.talk(0, 2, kTraffic);
  tables.talk(1, 3, kTraffic);
  poll(evidence, tables, 63, 331);
  EXPECT_EQ(evidence.skeleton()->peers[0], ids({1})) << "not read again yet";
  poll(evidence, tables, 332, 385);
  EXPECT_EQ(evidence.skeleton()->peers[0], ids({2}));
}

TEST(FlowEvidence, WidensTheScopeWhereATableCannotBeRead) {
  FakeTables tables;
  for (std::uint32_t i = 0; i < 8; ++i) {
    tables.talk(i, (i + 1) % 8, kTraffic);
  }
  tables.unreadable = {EndpointId(2), EndpointId(5)};
  FlowEvidence evidence(members(8), {});
  poll(evidence, tables, 20, 62);
  const auto found = evidence.skeleton();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scope, SkeletonScope::kPeers);
  EXPECT_EQ(found->peers[2], ids({1, 3, 5})) << "the other ends tell, and 5 may be one as well";
  EXPECT_EQ(found->peers[5], ids({2, 4, 6}));
  EXPECT_EQ(found->peers[0], ids({1, 7}));
  EXPECT_NE(found->why.find("of 2 RNICs nothing is known"), std::string::npos) << found->why;

  for (std::uint32_t i = 0; i < 5; ++i) {
    tables.unreadable.insert(EndpointId(i));
  }
  FlowEvidence blind(members(8), {});
  poll(blind, tables, 20, 62);
  ASSERT_TRUE(blind.skeleton());
  EXPECT_EQ(blind.skeleton()->scope, SkeletonScope::kSameRail);
  EXPECT_EQ(blind.skeleton()->confidence, 0.0);
}

TEST(FlowEvidence, DoesNotCallTheSilentUnknownHealthy) {
  FakeTables tables;
  tables.talk(0, 1, kTraffic);
  tables.talk(2, 3, kProbes);
  FlowEvidence evidence(members(6), {});
  poll(evidence, tables, 20, 62);
  ASSERT_TRUE(evidence.skeleton());
  EXPECT_EQ(evidence.skeleton()->scope, SkeletonScope::kSameRail) << "four of six are silent";
  tables.talk(4, 5, kTraffic);
  FlowEvidence most(members(6), {});
  poll(most, tables, 20, 62);
  EXPECT_EQ(most.skeleton()->scope, SkeletonScope::kSameRail) << "they may not have been seen yet";
  poll(most, tables, 63, 170);
  EXPECT_EQ(most.skeleton()->scope, SkeletonScope::kPeers);
  EXPECT_EQ(most.skeleton()->peers[2], ids({3})) << "both are silent: they may talk to each other";
  FlowEvidence nobody(members(2), {});
  FakeTables empty;
  poll(nobody, empty, 20, 62);
  EXPECT_EQ(nobody.skeleton()->scope, SkeletonScope::kSameRail);
}

/// Goal: counters that stand still never hide a peer.
TEST(FlowEvidence, TakesEntriesThatStandStillForPeers) {
  FakeTables tables;
  tables.talk(0, 1, kTraffic);
  tables.talk(0, 2, kProbes);
  tables.talk(2, 3, kTraffic);
  tables.frozen_at = at_s(15);
  FlowEvidence evidence(members(4), {});
  poll(evidence, tables, 20, 62);
  const auto found = evidence.skeleton();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->peers[0], ids({1, 2})) << "wider, not smaller";
  EXPECT_NE(found->why.find("counters of 4 RNICs stand still"), std::string::npos) << found->why;
}

/// Goal: pairs whose entries idle out between bursts are looked for until all are likely seen.
TEST(FlowEvidence, ReadsOnWhereEntriesComeAndGo) {
  FakeTables tables;
  for (std::uint32_t i = 0; i < 32; ++i) {
    tables.talk(i, (i + 1) % 32, kTraffic);
  }
  // Steps of 40 s; an entry is there for 15 s of it, at an hour of its own.
  tables.listed = [](Pair ends, Time now) {
    const std::uint32_t low = std::min(ends.source.index(), ends.target.index());
    const std::uint32_t high = std::max(ends.source.index(), ends.target.index());
    return (now - kStartOfRun + seconds(low * 7 + high * 3)) % seconds(40) < seconds(15);
  };
  FlowEvidence evidence(members(32), {});
  poll(evidence, tables, 20, 64);
  ASSERT_TRUE(evidence.skeleton());
  EXPECT_EQ(evidence.skeleton()->scope, SkeletonScope::kSameRail);
  EXPECT_LT(evidence.skeleton()->confidence, 0.99);
  EXPECT_NE(evidence.skeleton()->why.find("not certain enough"), std::string::npos);
  poll(evidence, tables, 65, 180);
  const auto found = evidence.skeleton();
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(found->peers[i].size(), 2U) << i;
  }
}

TEST(FlowEvidence, BelievesTheOracleAtOnce) {
  FakeTables tables;
  tables.talk(0, 1, kProbes);
  SkeletonOptions options;
  options.evidence = SkeletonEvidence::kOracle;
  FlowEvidence evidence(members(3), options);
  EXPECT_EQ(evidence.poll(tables, at_s(1), 1), 3U) << "it costs nothing";
  const auto found = evidence.skeleton();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scope, SkeletonScope::kPeers);
  EXPECT_EQ(found->confidence, 1.0);
  EXPECT_EQ(found->peers, (std::vector<std::vector<EndpointId>>{ids({1}), ids({0}), {}}));
  tables.rates.clear();
  tables.talk(1, 2, kProbes);
  evidence.poll(tables, at_s(11), 1);
  EXPECT_EQ(evidence.skeleton()->peers[2], ids({1}));
}

TEST(FlowJudgement, JudgesEachKindOfEntry) {
  struct Case {
    const char* name;
    std::optional<FlowCounter> earlier;
    std::optional<FlowCounter> later;
    FlowVerdict verdict;
  };
  const EndpointId peer(1);
  const auto flow = [&](std::uint64_t bytes, int age_s) {
    return FlowCounter{peer, bytes, seconds(age_s)};
  };
  const Case cases[] = {
      {"grows", flow(0, 30), flow(1'000'000, 42), FlowVerdict::kCarries},
      {"old bytes, kept alive by probes",
       flow(5'000'000'000, 3000),
       flow(5'000'031'000, 3012),
       FlowVerdict::kWasBusy},
      {"of probes, for long", flow(260'000, 100), flow(291'000, 112), FlowVerdict::kQuiet},
      {"stands still",
       flow(5'000'000'000, 3000),
       flow(5'000'000'000, 3012),
       FlowVerdict::kStandsStill},
      {"installed anew, more bytes", flow(5'000, 3000), flow(900'000, 4), FlowVerdict::kCarries},
      {"installed anew, same bytes", flow(900'000, 30), flow(900'000, 4), FlowVerdict::kCarries},
      {"started anew, by its counter", flow(900'000, 0), flow(800'000, 12), FlowVerdict::kCarries},
      {"new, of probes", std::nullopt, flow(2'600, 1), FlowVerdict::kQuiet},
      {"new, of traffic", std::nullopt, flow(90'000, 1), FlowVerdict::kCarries},
      {"new, not refreshed yet", std::nullopt, flow(0, 1), FlowVerdict::kQuiet},
      {"new, never refreshed", std::nullopt, flow(0, 5), FlowVerdict::kStandsStill},
      {"gone, of traffic", flow(3'000'000, 9), std::nullopt, FlowVerdict::kCarries},
      {"gone, of probes", flow(2'600, 9), std::nullopt, FlowVerdict::kQuiet},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FlowReading earlier{at_s(100), {}};
    FlowReading later{at_s(112), {}};
    if (c.earlier) {
      earlier.flows.push_back(*c.earlier);
    }
    if (c.later) {
      later.flows.push_back(*c.later);
    }
    const std::vector<JudgedFlow> judged = judge(earlier, later);
    ASSERT_EQ(judged.size(), 1U);
    EXPECT_EQ(judged[0].peer, peer);
    EXPECT_EQ(judged[0].verdict, c.verdict);
  }
}

}  // namespace
}  // namespace bonescan
