#include "tests/conformance/telemetry_battery.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace bonescan::conformance {
namespace {

Time done_at(const ObservedRound& round, const Visit& visit) {
  Time done = visit.start;
  for (std::size_t i = 0; i < visit.count; ++i) {
    const Time sent = visit.start + Duration(round.batch.sent_after(visit)[i]);
    const std::uint32_t rtt = round.batch.rtts(visit)[i];
    const Duration wait = answered(rtt) ? Duration(rtt) : rtt == kLostRtt ? kTimeout : Duration(0);
    done = std::max(done, sent + wait);
  }
  return done;
}

template <class Answer>
void expect_settled(const std::vector<Asked<Answer>>& questions) {
  EXPECT_FALSE(questions.empty());
  for (const Asked<Answer>& question : questions) {
    EXPECT_FALSE(question.open);
    if (!question.answer) {
      EXPECT_EQ(question.answer.error().code, ErrorCode::kUnavailable)
          << question.answer.error().detail;
    }
  }
}

}  // namespace

TEST_P(TelemetryBattery, VisitsComeOnceAndComeAll) {
  const Transcript transcript = play_script();
  std::map<std::pair<PairId, std::uint16_t>, int> seen;
  for (const ObservedRound& round : transcript.rounds) {
    for (const Visit& visit : round.batch.visits) {
      ++seen[{visit.pair, visit.source_port}];
    }
  }
  for (const ProbeRequest& request : transcript.requests) {
    EXPECT_EQ((seen[{request.pair, request.source_port}]), 1)
        << "pair " << request.pair.index() << " port " << request.source_port;
  }
  EXPECT_EQ(seen.size(), transcript.requests.size());
}

TEST_P(TelemetryBattery, VisitsAreThoseThatWereAskedFor) {
  const Transcript transcript = play_script();
  std::map<std::pair<PairId, std::uint16_t>, ProbeRequest> asked;
  for (const ProbeRequest& request : transcript.requests) {
    asked[{request.pair, request.source_port}] = request;
  }
  for (const ObservedRound& round : transcript.rounds) {
    for (const Visit& visit : round.batch.visits) {
      const auto request = asked.find({visit.pair, visit.source_port});
      ASSERT_NE(request, asked.end());
      EXPECT_GE(visit.start, request->second.start);
      EXPECT_EQ(visit.count, request->second.count);
      EXPECT_EQ(visit.dscp, request->second.dscp);
      EXPECT_EQ(visit.payload_bytes, request->second.payload_bytes);
    }
  }
}

TEST_P(TelemetryBattery, RoundsAreOrderedByStartAndPair) {
  for (const ObservedRound& round : play_script().rounds) {
    EXPECT_TRUE(std::is_sorted(
        round.batch.visits.begin(), round.batch.visits.end(), [](const Visit& a, const Visit& b) {
          return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
        }));
  }
}

TEST_P(TelemetryBattery, EveryRowBelongsToOneVisitAndRowsAreInSendOrder) {
  for (const ObservedRound& round : play_script().rounds) {
    ASSERT_EQ(round.batch.sent_after_ns.size(), round.batch.rtt_ns.size());
    std::vector<int> owners(round.batch.rtt_ns.size(), 0);
    for (const Visit& visit : round.batch.visits) {
      EXPECT_GT(visit.count, 0);
      ASSERT_LE(std::size_t{visit.first} + visit.count, owners.size());
      for (std::size_t i = 0; i < visit.count; ++i) {
        ++owners[visit.first + i];
      }
      const auto sent_after = round.batch.sent_after(visit);
      EXPECT_EQ(sent_after.front(), 0U);
      EXPECT_TRUE(std::is_sorted(sent_after.begin(), sent_after.end()));
    }
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
  }
}

TEST_P(TelemetryBattery, NoVisitComesBeforeItIsComplete) {
  for (const ObservedRound& round : play_script().rounds) {
    for (const Visit& visit : round.batch.visits) {
      EXPECT_LE(done_at(round, visit), round.now);
      for (const std::uint32_t rtt : round.batch.rtts(visit)) {
        EXPECT_TRUE(!answered(rtt) || Duration(rtt) <= kTimeout);
      }
    }
  }
}

TEST_P(TelemetryBattery, NoVisitComesLaterThanItsLastTimeout) {
  for (const ObservedRound& round : play_script().rounds) {
    for (const Visit& visit : round.batch.visits) {
      const Time certain = visit.start + (visit.count - 1) * kSpacing + kTimeout;
      EXPECT_LT(round.now, certain + kTurn);
    }
  }
}

TEST_P(TelemetryBattery, CollectingTwiceAtOneTimeGivesNothingNew) {
  const Transcript transcript = play_script();
  Telemetry telemetry = backend().telemetry();
  ProbeBatch batch;
  std::vector<MembershipEvent> events;
  std::vector<ThroughputSample> samples;
  backend().advance(transcript.end);
  telemetry.probes.collect(transcript.end, batch);
  telemetry.membership.collect(transcript.end, events);
  telemetry.throughput.collect(transcript.end, samples);
  batch.clear();
  events.clear();
  samples.clear();
  telemetry.probes.collect(transcript.end, batch);
  telemetry.membership.collect(transcript.end, events);
  telemetry.throughput.collect(transcript.end, samples);
  EXPECT_TRUE(batch.visits.empty());
  EXPECT_TRUE(batch.rtt_ns.empty());
  EXPECT_TRUE(events.empty());
  EXPECT_TRUE(samples.empty());
}

TEST_P(TelemetryBattery, CollectAppends) {
  backend().advance(kStartOfRun);
  const MembershipEvent kept{kStartOfRun, EndpointId(0), MembershipKind::kGone};
  std::vector<MembershipEvent> events{kept};
  std::vector<ThroughputSample> samples{{kStartOfRun, EndpointId(0), 77}};
  ProbeBatch batch;
  batch.visits.push_back({PairId(0), kStartOfRun, 0, 9, 64, 0, 1});
  batch.rtt_ns.push_back(16'000);
  batch.sent_after_ns.push_back(0);
  Telemetry telemetry = backend().telemetry();
  telemetry.membership.collect(kStartOfRun, events);
  telemetry.throughput.collect(kStartOfRun, samples);
  telemetry.probes.collect(kStartOfRun, batch);
  EXPECT_EQ(events.front().kind, kept.kind);
  EXPECT_EQ(samples.front().bytes, 77U);
  ASSERT_FALSE(batch.visits.empty());
  EXPECT_EQ(batch.visits.front().source_port, 9);
  EXPECT_EQ(batch.rtt_ns.front(), 16'000U);
}

TEST_P(TelemetryBattery, MembershipComesInOrderOnceAndNotEarly) {
  const Transcript transcript = play_script();
  const EndpointDirectory& endpoints = backend().telemetry().endpoints;
  std::set<std::tuple<Time, EndpointId, MembershipKind>> seen;
  std::set<EndpointId> ready;
  Time last = kStartOfRun;
  for (const auto& [now, events] : transcript.membership) {
    for (const MembershipEvent& event : events) {
      EXPECT_LE(event.at, now);
      EXPECT_GE(event.at, last);
      EXPECT_TRUE(endpoints.contains(event.endpoint));
      EXPECT_TRUE(seen.emplace(event.at, event.endpoint, event.kind).second);
      if (event.kind == MembershipKind::kReady) {
        ready.insert(event.endpoint);
      }
      last = event.at;
    }
  }
  for (const Pair& pair : backend().pairs()) {
    EXPECT_TRUE(ready.contains(pair.source) && ready.contains(pair.target));
  }
}

TEST_P(TelemetryBattery, TheDirectoryGrowsByWhatIsSubmittedAndOnlyThen) {
  const EndpointDirectory at_start = backend().telemetry().endpoints;
  const Transcript transcript = play_script();
  const EndpointDirectory& endpoints = backend().telemetry().endpoints;
  EXPECT_EQ(transcript.endpoints_at_start, at_start.size());
  std::size_t size = at_start.size();
  ASSERT_EQ(transcript.directory.size(), transcript.membership.size());
  for (std::size_t i = 0; i < transcript.membership.size(); ++i) {
    EXPECT_EQ(transcript.directory[i].before, size);
    for (const MembershipEvent& event : transcript.membership[i].items) {
      if (event.kind == MembershipKind::kSubmitted) {
        EXPECT_EQ(event.endpoint.index(), size) << "appended, in order";
        ++size;
      } else {
        EXPECT_LT(event.endpoint.index(), size) << "submitted before anything else";
      }
    }
    EXPECT_EQ(transcript.directory[i].after, size);
  }
  EXPECT_EQ(endpoints.size(), size);
  EXPECT_EQ(size > at_start.size(), !backend().later_pairs().empty());
  for (std::uint32_t i = 0; i < at_start.size(); ++i) {
    EXPECT_EQ(endpoints[EndpointId(i)].name, at_start[EndpointId(i)].name);
    EXPECT_EQ(endpoints[EndpointId(i)].task, at_start[EndpointId(i)].task);
  }
}

TEST_P(TelemetryBattery, ATaskIsSubmittedAtOnceAndEndsForGood) {
  const Transcript transcript = play_script();
  const EndpointDirectory& endpoints = backend().telemetry().endpoints;
  struct Task {
    Time submitted;
    std::uint32_t last = 0;  ///< the ids of a task are neighbours
    std::set<EndpointId> left;
    bool heard = false;
  };
  std::map<std::string, Task> tasks;
  for (std::uint32_t i = 0; i < transcript.endpoints_at_start; ++i) {
    Task& task = tasks[endpoints[EndpointId(i)].task];
    task.left.insert(EndpointId(i));
    task.heard = true;
  }
  for (const auto& [now, events] : transcript.membership) {
    for (const MembershipEvent& event : events) {
      Task& task = tasks[endpoints[event.endpoint].task];
      if (event.kind == MembershipKind::kSubmitted) {
        if (task.left.empty()) {
          task = {.submitted = event.at, .last = event.endpoint.index(), .left = {}};
        } else {
          EXPECT_FALSE(task.heard) << "all are submitted before anything else happens";
          EXPECT_EQ(event.at, task.submitted);
          EXPECT_EQ(event.endpoint.index(), ++task.last);
        }
        task.left.insert(event.endpoint);
        continue;
      }
      task.heard = true;
      EXPECT_FALSE(task.left.empty()) << "nothing is heard of an ended task";
      if (event.kind == MembershipKind::kGone) {
        task.left.erase(event.endpoint);
      } else if (event.kind == MembershipKind::kReady) {
        task.left.insert(event.endpoint);
      }
    }
  }
}

TEST_P(TelemetryBattery, ThroughputComesInOrderOnceAndNotEarly) {
  const Transcript transcript = play_script();
  std::set<std::pair<Time, EndpointId>> seen;
  std::pair<Time, EndpointId> last{kStartOfRun, EndpointId(0)};
  for (const auto& [now, samples] : transcript.throughput) {
    for (const ThroughputSample& sample : samples) {
      const std::pair<Time, EndpointId> key{sample.at, sample.endpoint};
      EXPECT_LE(sample.at, now);
      EXPECT_LE(last, key);
      EXPECT_TRUE(backend().telemetry().endpoints.contains(sample.endpoint));
      EXPECT_TRUE(seen.insert(key).second);
      last = key;
    }
  }
}

TEST_P(TelemetryBattery, PendingQuestionsAreAnsweredOrUnavailableInTheEnd) {
  const Transcript transcript = play_script();
  expect_settled(transcript.traces);
  expect_settled(transcript.walks);
  expect_settled(transcript.dumps);
  expect_settled(transcript.counters);
}

TEST_P(TelemetryBattery, TracedPathsAreLinks) {
  const Transcript transcript = play_script();
  const ComponentTable& components = backend().telemetry().components;
  for (const Asked<TracedPath>& question : transcript.traces) {
    if (!question.answer) {
      continue;
    }
    EXPECT_FALSE(question.answer->request.empty());
    EXPECT_FALSE(question.answer->answer.empty());
    for (const auto* way : {&question.answer->request, &question.answer->answer}) {
      for (const PathHop& hop : *way) {
        ASSERT_LT(hop.link.index(), components.size());
        EXPECT_EQ(components[hop.link].type, ComponentType::kLink);
      }
    }
  }
}

TEST_P(TelemetryBattery, WalksHaveACulpritExactlyIfTheyDoNotDeliver) {
  const Transcript transcript = play_script();
  const ComponentTable& components = backend().telemetry().components;
  for (const Asked<OverlayWalk>& question : transcript.walks) {
    if (!question.answer) {
      continue;
    }
    const OverlayWalk& walk = *question.answer;
    const bool delivered = walk.end == WalkEnd::kDelivered;
    EXPECT_EQ(delivered, !walk.culprit.valid());
    EXPECT_EQ(delivered, walk.reason.empty());
    EXPECT_TRUE(!walk.culprit.valid() || walk.culprit.index() < components.size());
    EXPECT_FALSE(walk.hops.empty());
    for (const OverlayHop& hop : walk.hops) {
      ASSERT_LT(hop.where.index(), components.size());
      EXPECT_EQ(components[hop.where].type, ComponentType::kBridge);
    }
  }
}

TEST_P(TelemetryBattery, DumpsSayWhatIsExpectedOfTheFlowsAskedFor) {
  const Transcript transcript = play_script();
  const ComponentTable& components = backend().telemetry().components;
  for (const Asked<FlowTableDump>& question : transcript.dumps) {
    if (!question.answer) {
      continue;
    }
    ASSERT_LT(question.answer->rnic.index(), components.size());
    EXPECT_EQ(components[question.answer->rnic].type, ComponentType::kRnic);
    EXPECT_FALSE(question.answer->rows.empty());
    for (const FlowTableRow& row : question.answer->rows) {
      EXPECT_TRUE(row.flow == question.flow || row.flow == question.flow.reversed());
      EXPECT_EQ(row.role == FlowRole::kEncap, row.flow.source == question.at);
      EXPECT_FALSE(row.expected_actions.empty());
      for (const FlowEntry* entry : {&row.datapath, &row.eswitch}) {
        EXPECT_GE(entry->used, Duration(0));
        EXPECT_EQ(entry->present, !entry->actions.empty());
      }
    }
  }
}

TEST_P(TelemetryBattery, CountersNameOtherEndpointsOnceAndInOrder) {
  const Transcript transcript = play_script();
  const Telemetry telemetry = backend().telemetry();
  for (const Asked<FlowCounterDump>& question : transcript.counters) {
    if (!question.answer) {
      continue;
    }
    ASSERT_LT(question.answer->rnic.index(), telemetry.components.size());
    EXPECT_EQ(telemetry.components[question.answer->rnic].type, ComponentType::kRnic);
    EXPECT_FALSE(question.answer->flows.empty()) << "it has just probed somebody";
    EndpointId last;
    for (const FlowCounter& flow : question.answer->flows) {
      EXPECT_TRUE(telemetry.endpoints.contains(flow.peer));
      EXPECT_NE(flow.peer, question.at);
      EXPECT_GE(flow.age, Duration(0));
      EXPECT_TRUE(!last.valid() || last < flow.peer);
      last = flow.peer;
    }
  }
}

TEST_P(TelemetryBattery, HostsNameThemselvesAndListInOrder) {
  const Transcript transcript = play_script();
  const Telemetry telemetry = backend().telemetry();
  for (const Asked<HostReport>& question : transcript.hosts) {
    if (!question.answer) {
      continue;
    }
    const HostReport& report = *question.answer;
    ASSERT_LT(report.host.index(), telemetry.components.size());
    ASSERT_LT(report.rnic.index(), telemetry.components.size());
    EXPECT_EQ(telemetry.components[report.host].type, ComponentType::kHost);
    EXPECT_EQ(telemetry.components[report.host].name, telemetry.endpoints[question.at].host);
    EXPECT_EQ(telemetry.components[report.rnic].type, ComponentType::kRnic);
    if (report.gids) {
      EXPECT_FALSE(report.gids->empty()) << "absent is not empty";
      EXPECT_TRUE(std::is_sorted(report.gids->begin(), report.gids->end()));
    }
    EXPECT_TRUE(std::is_sorted(report.hugepages.begin(), report.hugepages.end()));
    EXPECT_TRUE(std::is_sorted(report.counts.begin(), report.counts.end()));
    for (const RdmaCount& count : report.counts) {
      EXPECT_LE(count.at, transcript.end);
    }
  }
}

TEST_P(TelemetryBattery, UnknownFlowsGiveAnErrorNotACrash) {
  const Transcript transcript = play_script();
  Telemetry telemetry = backend().telemetry();
  backend().advance(transcript.end);
  const auto beyond = static_cast<std::uint32_t>(telemetry.endpoints.size());
  for (const EndpointId unknown : {EndpointId(beyond), EndpointId()}) {
    for (const FlowKey& flow :
         {FlowKey{unknown, EndpointId(0), 50000}, FlowKey{EndpointId(0), unknown, 50000}}) {
      EXPECT_FALSE(telemetry.paths.trace(flow, transcript.end));
      EXPECT_FALSE(telemetry.overlay.walk(flow, transcript.end));
      EXPECT_FALSE(telemetry.tables.dump(unknown, std::span(&flow, 1), transcript.end));
      EXPECT_FALSE(telemetry.tables.dump(EndpointId(0), std::span(&flow, 1), transcript.end));
    }
    EXPECT_FALSE(telemetry.tables.flow_counters(unknown, transcript.end));
    EXPECT_TRUE(telemetry.hosts == nullptr || !telemetry.hosts->inspect(unknown, transcript.end));
    EXPECT_EQ(telemetry.membership.alive(unknown, transcript.end), AgentState::kUnknown);
  }
}

TEST_P(TelemetryBattery, TheSameScriptGivesTheSameTranscript) {
  const Transcript once = play_script();
  const std::unique_ptr<BackendOnBench> fresh = GetParam().make();
  const Transcript again = play(*fresh);
  ASSERT_EQ(once.rounds.size(), again.rounds.size());
  for (std::size_t i = 0; i < once.rounds.size(); ++i) {
    EXPECT_EQ(once.rounds[i].batch.rtt_ns, again.rounds[i].batch.rtt_ns);
    EXPECT_EQ(once.rounds[i].batch.sent_after_ns, again.rounds[i].batch.sent_after_ns);
    EXPECT_EQ(once.rounds[i].batch.visits.size(), again.rounds[i].batch.visits.size());
  }
  EXPECT_EQ(once.alive, again.alive);
}

}  // namespace bonescan::conformance
