// A scheduler that is stepped one period at a time, and the lists of one rail.
#pragma once

#include "detectors/schedule/probe_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bonescan::test {

constexpr std::uint64_t kSeed = 3;

inline PingLists one_rail(std::uint32_t hosts) {
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

/// A scheduler that is stepped one period at a time; its lists stay in their order unless told.
struct Bench {
  explicit Bench(std::uint32_t hosts, const ProbingOptions& with = {.counter_phase = false})
      : lists(one_rail(hosts)), options(with), activation(lists), scheduler(lists, with, kSeed) {}

  void set(std::uint32_t endpoint, MembershipKind kind) {
    activation.apply({now, EndpointId(endpoint), kind});
  }

  void all_ready() {
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      set(i, MembershipKind::kReady);
    }
  }

  PairRange relist(EndpointId source, const std::vector<EndpointId>& targets) {
    activation.relist(source, scheduler.targets(source), targets);
    return scheduler.relist(source, targets);
  }

  /// The counts, and one period's requests, are those of `listed`.
  void check_against(const std::vector<std::set<EndpointId>>& listed) {
    std::uint64_t active = 0;
    std::set<EndpointId> busy;
    for (std::uint32_t i = 0; i < listed.size(); ++i) {
      std::uint32_t ready = 0;
      for (const EndpointId target : listed[i]) {
        ready += activation.active({EndpointId(i), target}) ? 1 : 0;
      }
      ASSERT_EQ(activation.active_targets(EndpointId(i)), ready);
      active += ready;
      if (ready > 0) {
        busy.insert(EndpointId(i));
      }
      std::uint32_t pairs = 0;
      for (const PairRange& range : scheduler.pairs_from(EndpointId(i))) {
        pairs += range.count;
        for (std::uint32_t p = 0; p < range.count; ++p) {
          ASSERT_EQ(scheduler.pairs()[PairId(range.first.index() + p)].source, EndpointId(i));
        }
      }
      ASSERT_GE(pairs, listed[i].size());
    }
    ASSERT_EQ(activation.active_pairs(), active);
    step();
    ASSERT_EQ(requests.size(), busy.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ASSERT_EQ(busy.erase(requests[i].ends.source), 1U);
      ASSERT_TRUE(listed[requests[i].ends.source.index()].contains(requests[i].ends.target));
      ASSERT_EQ(scheduler.pairs()[requests[i].pair], requests[i].ends);
      ASSERT_TRUE(i == 0 || std::tie(requests[i - 1].start, requests[i - 1].pair) <
                                std::tie(requests[i].start, requests[i].pair));
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

}  // namespace bonescan::test
