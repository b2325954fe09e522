#include "detectors/schedule/probe_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSeed = 3;

PingLists one_rail(std::uint32_t hosts) {
  EndpointDirectory directory;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    Endpoint endpoint;
    endpoint.host = "host-" + std::to_string(i);
    endpoint.name = endpoint.host + "/rnic-0";
    endpoint.task = "job";
    directory.push_back(endpoint);
  }
  return same_rail_targets(directory, kSeed);
}

/// A scheduler that is stepped one period at a time.
struct Bench {
  explicit Bench(std::uint32_t hosts, const ProbingOptions& with = {})
      : lists(one_rail(hosts)), options(with), activation(lists), scheduler(lists, with, kSeed) {}

  void set(std::uint32_t endpoint, MembershipKind kind) {
    activation.apply({now, EndpointId(endpoint), kind});
  }

  void all_ready() {
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      set(i, MembershipKind::kReady);
    }
  }

  const std::vector<ProbeRequest>& step() {
    requests.clear();
    scheduler.plan(now, activation, requests);
    now += options.visit;
    return requests;
  }

  std::map<Pair, int> visits_of(std::size_t periods) {
    std::map<Pair, int> visits;
    for (std::size_t i = 0; i < periods; ++i) {
      for (const ProbeRequest& request : step()) {
        ++visits[request.ends];
      }
    }
    return visits;
  }

  PingLists lists;
  ProbingOptions options;
  Activation activation;
  ProbeScheduler scheduler;
  Time now = kStartOfRun;
  std::vector<ProbeRequest> requests;
};

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
  const PairRange of_last = bench.scheduler.pairs_from(EndpointId(24));
  EXPECT_EQ(of_last, (PairRange{PairId(16 * 15 + 64), 8}));
  EXPECT_EQ(bench.scheduler.pairs_from(EndpointId(25)).count, 0U);
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
  bench.scheduler.drop_ended(bench.activation);
  EXPECT_EQ(bench.scheduler.source_count(), 4U);
  EXPECT_EQ(bench.scheduler.held_size(), held);
  EXPECT_EQ(bench.scheduler.pairs_from(EndpointId(5)), (PairRange{PairId(14), 2}));
  EXPECT_EQ(bench.step().size(), alone.size());
}

}  // namespace
}  // namespace bonescan
