#include "detectors/backend_verbs/endpoint_agent.h"

#include "tests/support/fake_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bonescan::verbs {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

GidBytes gid(std::string_view text) {
  return *gid_from_text(text);
}

std::vector<LocalEventKind> kinds(const std::vector<LocalEvent>& events) {
  std::vector<LocalEventKind> kinds;
  for (const LocalEvent& event : events) {
    kinds.push_back(event.kind);
  }
  return kinds;
}

class EndpointAgentTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(hosts_.start().has_value());
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(kinds(hosts_.events(i)), std::vector{LocalEventKind::kReady});
    }
  }

  EndpointAgent& agent() { return *hosts_.agents[0]; }
  FakeRnic& rnic() { return hosts_.fabric.rnic("h0"); }

  void raise(AsyncEventKind kind) { hosts_.fabric.raise(rnic(), {kind, "injected"}); }

  ProbeBatch visit(Time start) {
    hosts_.submit(0, ten_probes(0, 1, start));
    hosts_.run_until(start + 2s);
    return hosts_.collect(0);
  }

  FakeHosts hosts_{2};
};

TEST_F(EndpointAgentTest, SaysAtTheStartWhatIsMissing) {
  struct Case {
    std::string name;
    std::function<void(FakeHosts&)> cause;
    ErrorCode code;
    std::string sentence;
  };
  const std::vector<Case> cases = {
      {"no such device",
       [](FakeHosts& h) { h.options[0].device = "mlx5_9"; },
       ErrorCode::kNotFound,
       "no RDMA device mlx5_9"},
      {"no permission",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").open = {1, {ErrorCode::kIo, "h0: cannot open it: denied"}};
       },
       ErrorCode::kIo,
       "denied"},
      {"wrong GID index",
       [](FakeHosts& h) { h.options[0].gid.index = 1; },
       ErrorCode::kNotFound,
       "index 1); the table holds: 3 ::ffff:10.0.0.1 (RoCE v2)"},
      {"no memory for queues",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").create_queues = {1, {ErrorCode::kIo, "ulimit -l"}};
       },
       ErrorCode::kIo,
       "ulimit"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeHosts hosts(2);
    c.cause(hosts);
    const auto started = hosts.start();
    ASSERT_FALSE(started.has_value());
    EXPECT_EQ(started.error().code, c.code);
    EXPECT_THAT(started.error().detail, HasSubstr(c.sentence));
  }
}

TEST_F(EndpointAgentTest, RebuildsAndAnnouncesAfterAGidChange) {
  const PeerAddress before = *agent().address();
  hosts_.submit(0, ten_probes(0, 1));
  hosts_.run_until(kStartOfRun + 350ms);
  // The address moved to another index of the table, as drivers do it.
  rnic().gids = {{.index = 8, .type = GidType::kRoceV2, .gid = gid("10.0.0.77")}};
  raise(AsyncEventKind::kGidChange);
  hosts_.run_until(kStartOfRun + 360ms);

  const auto events = hosts_.events(0);
  ASSERT_EQ(kinds(events), std::vector{LocalEventKind::kAddressChanged});
  EXPECT_EQ(events[0].detail, "GID ::ffff:10.0.0.1 -> ::ffff:10.0.0.77");
  const PeerAddress after = *agent().address();
  EXPECT_EQ(after.gid, gid("10.0.0.77"));
  EXPECT_NE(after.qpns, before.qpns);
  EXPECT_GT(after.epoch, before.epoch);

  hosts_.publish();
  hosts_.run_until(kStartOfRun + 2s);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_THAT(batch.rtt_ns, Each(10'000u))
      << "none was under way, and the rest uses the new queues";
}

TEST_F(EndpointAgentTest, FailsProbesUnderWayWhenTheGidChanges) {
  hosts_.fabric.latency = 50ms;
  hosts_.submit(0, ten_probes(0, 1));
  hosts_.run_until(kStartOfRun + 320ms);
  rnic().gids[0].gid = gid("10.0.0.77");
  raise(AsyncEventKind::kGidChange);
  hosts_.run_until(kStartOfRun + 330ms);
  hosts_.publish();
  hosts_.run_until(kStartOfRun + 3s);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.rtt_ns[3], local_error_rtt(LocalError::kNoRoute)) << "under way at the change";
  EXPECT_EQ(batch.rtt_ns[2], 100'000'000u);
  EXPECT_EQ(batch.rtt_ns[4], 100'000'000u);
}

TEST_F(EndpointAgentTest, NoticesAGidChangeThatNoEventTellsOf) {
  rnic().gids[0].gid = gid("10.0.0.77");
  hosts_.run_until(kStartOfRun + 2s);
  EXPECT_EQ(agent().address()->gid, gid("10.0.0.77"));
}

TEST_F(EndpointAgentTest, StaysWithItsGidWhileBetterOnesComeAndGo) {
  const PeerAddress before = *agent().address();
  rnic().gids.insert(rnic().gids.begin(),
                     {.index = 1, .type = GidType::kRoceV2, .gid = gid("10.0.0.50")});
  raise(AsyncEventKind::kGidChange);
  hosts_.run_until(kStartOfRun + 3s);
  EXPECT_EQ(*agent().address(), before);
  EXPECT_THAT(hosts_.events(0), IsEmpty());
}

TEST_F(EndpointAgentTest, WaitsForAGidThatIsGoneForAWhile) {
  const auto kept = rnic().gids;
  rnic().gids.clear();
  raise(AsyncEventKind::kGidChange);
  const ProbeBatch lost = visit(kStartOfRun + 10ms);
  EXPECT_EQ(kinds(hosts_.events(0)), std::vector{LocalEventKind::kGidLost}) << "told once";
  EXPECT_FALSE(agent().address().has_value());
  EXPECT_THAT(lost.rtt_ns, Each(local_error_rtt(LocalError::kNoRoute)));

  rnic().gids = kept;
  raise(AsyncEventKind::kGidChange);
  hosts_.run_until(hosts_.clock.now() + 300ms);
  EXPECT_EQ(kinds(hosts_.events(0)), std::vector{LocalEventKind::kQueuesRebuilt});
  hosts_.publish();
  EXPECT_THAT(visit(hosts_.clock.now()).rtt_ns, Each(10'000u));
}

TEST_F(EndpointAgentTest, KeepsItsQueuesWhenThePortFlaps) {
  const PeerAddress before = *agent().address();
  rnic().port.active = false;
  raise(AsyncEventKind::kPortDown);
  const ProbeBatch down = visit(kStartOfRun + 10ms);
  EXPECT_THAT(down.rtt_ns, Each(local_error_rtt(LocalError::kPortDown)));

  rnic().port.active = true;
  raise(AsyncEventKind::kPortActive);
  const ProbeBatch up = visit(hosts_.clock.now() + 10ms);
  EXPECT_THAT(up.rtt_ns, Each(10'000u));
  EXPECT_EQ(kinds(hosts_.events(0)),
            (std::vector{LocalEventKind::kPortDown, LocalEventKind::kPortUp}));
  EXPECT_EQ(*agent().address(), before) << "nobody has to be told a new address";
}

TEST_F(EndpointAgentTest, StartsWhileThePortIsDownAndWaits) {
  FakeHosts hosts(2);
  hosts.fabric.rnic("h0").port.active = false;
  ASSERT_TRUE(hosts.start().has_value());
  EXPECT_EQ(kinds(hosts.events(0)), std::vector{LocalEventKind::kPortDown});
  EXPECT_FALSE(hosts.agents[0]->address().has_value());
  hosts.fabric.rnic("h0").port.active = true;
  hosts.run_until(kStartOfRun + 3s);
  EXPECT_EQ(kinds(hosts.events(0)), (std::vector{LocalEventKind::kPortUp, LocalEventKind::kReady}));
}

TEST_F(EndpointAgentTest, OpensADeviceThatCameBack) {
  rnic().present = false;
  raise(AsyncEventKind::kDeviceFatal);
  const ProbeBatch gone = visit(kStartOfRun + 10ms);
  EXPECT_THAT(gone.rtt_ns, Each(local_error_rtt(LocalError::kNoDevice)));
  EXPECT_EQ(agent().device(), nullptr);
  rnic().present = true;
  hosts_.run_until(hosts_.clock.now() + 300ms);
  hosts_.publish();
  EXPECT_THAT(visit(hosts_.clock.now()).rtt_ns, Each(10'000u));
  EXPECT_EQ(kinds(hosts_.events(0)),
            (std::vector{LocalEventKind::kDeviceLost, LocalEventKind::kQueuesRebuilt}));
}

TEST_F(EndpointAgentTest, RebuildsQueuesThatAreInErrorAndNotMoreOftenThanAllowed) {
  rnic().bad_send.times = 1'000;
  hosts_.submit(0, ten_probes(0, 1));
  hosts_.run_until(kStartOfRun + 2s);
  // Ten probes in one second, each of which breaks the queues; 250 ms between repairs.
  EXPECT_GE(rnic().queues_made, 3);
  EXPECT_LE(rnic().queues_made, 6);
  const ProbeBatch batch = hosts_.collect(0);
  EXPECT_THAT(batch.rtt_ns, Each(local_error_rtt(LocalError::kSendFailed)));
  rnic().bad_send.times = 0;
  hosts_.run_until(kStartOfRun + 3s);
  hosts_.publish();
  EXPECT_THAT(visit(hosts_.clock.now()).rtt_ns, Each(10'000u));
}

TEST_F(EndpointAgentTest, RebuildsQueuesWhoseSendsNeverComplete) {
  rnic().silent_send.times = 1;
  visit(kStartOfRun);
  hosts_.run_until(kStartOfRun + 6s);
  const auto events = hosts_.events(0);
  ASSERT_EQ(kinds(events), std::vector{LocalEventKind::kQueuesRebuilt});
  EXPECT_THAT(events[0].detail, HasSubstr("did not complete"));
}

TEST_F(EndpointAgentTest, DoesNotBlameTheNetworkForAPeerThatMoved) {
  hosts_.fabric.rule = [](const FakeDatagram& d) {
    return FakeFate{.drop = d.to == "h1", .delay = {}};
  };
  ProbeRequest request = ten_probes(0, 1);
  request.count = 2;
  hosts_.submit(0, request);
  hosts_.run_until(kStartOfRun + 300ms);
  PeerAddress moved = *hosts_.agents[1]->address();
  ++moved.epoch;
  hosts_.peers.set(EndpointId(1), moved);
  hosts_.run_until(kStartOfRun + 1s);
  EXPECT_THAT(hosts_.collect(0).rtt_ns, Each(local_error_rtt(LocalError::kNoPeerAddress)));
}

TEST_F(EndpointAgentTest, IgnoresStrangersAndProbesOfAnotherLife) {
  PeerAddress stale = *hosts_.agents[1]->address();
  ++stale.epoch;
  hosts_.peers.set(EndpointId(1), stale);
  const ProbeBatch batch = visit(kStartOfRun);
  EXPECT_THAT(batch.rtt_ns, Each(kLostRtt));
  EXPECT_EQ(hosts_.agents[1]->counters().responder.stale_epoch, 10u);
  EXPECT_EQ(hosts_.agents[1]->counters().responder.probes, 0u);

  // Garbage of right and wrong length from a device without an agent.
  hosts_.fabric.add("stranger", "10.0.0.99");
  auto device = hosts_.fabric.open("stranger", 1);
  auto queues = (*device)->create_queues(
      {.gid_index = 3, .q_key = hosts_.options[1].q_key, .queue_pairs = 1});
  const PeerAddress target = *hosts_.agents[1]->address();
  for (const std::uint16_t size : {std::uint16_t{0}, std::uint16_t{64}, std::uint16_t{1000}}) {
    ASSERT_TRUE((*queues)
                    ->post_send({.to = {.gid = target.gid},
                                 .qpn = target.qpns[0],
                                 .q_key = target.q_key,
                                 .payload_bytes = size})
                    .has_value());
  }
  std::array<Completion, 4> sent;
  EXPECT_EQ((*queues)->poll(sent), 3u);
  hosts_.run_until(hosts_.clock.now() + 1s);
  EXPECT_EQ(hosts_.agents[1]->counters().unparsed, 3u);
}

TEST_F(EndpointAgentTest, AnswersWithinItsBuffersAndCountsTheRest) {
  FakeHosts hosts(2);
  hosts.options[1].responder_buffers = 1;
  hosts.options[1].stuck = 100s;
  ASSERT_TRUE(hosts.start().has_value());
  hosts.fabric.rnic("h1").silent_send.times = 1;
  hosts.submit(0, ten_probes(0, 1));
  hosts.run_until(kStartOfRun + 2s);
  EXPECT_EQ(hosts.agents[1]->counters().responder.no_buffer, 9u);
  const ProbeBatch batch = hosts.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.rtt_ns[0], 10'000u);
  EXPECT_EQ(batch.visits[0].responder_delay_ns, kUnknownDelay);
}

TEST_F(EndpointAgentTest, ReachesPeersByIpv6) {
  FakeHosts hosts(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    hosts.fabric.rnic(hosts.options[i].name)
        .gids.push_back(
            {.index = 4, .type = GidType::kRoceV2, .gid = gid("fd00::" + std::to_string(i + 1))});
    hosts.options[i].gid.family = GidFamily::kIpv6;
  }
  ASSERT_TRUE(hosts.start().has_value());
  EXPECT_EQ(hosts.agents[0]->address()->gid, gid("fd00::1"));
  hosts.submit(0, ten_probes(0, 1));
  hosts.run_until(kStartOfRun + 2s);
  EXPECT_THAT(hosts.collect(0).rtt_ns, Each(10'000u));
}

TEST_F(EndpointAgentTest, SurvivesAQueueThatIsNeverEmpty) {
  hosts_.fabric.rule = [](const FakeDatagram&) { return FakeFate{.copies = 30}; };
  const ProbeBatch batch = visit(kStartOfRun);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_THAT(batch.rtt_ns, Each(10'000u));
}

TEST_F(EndpointAgentTest, SendsNothingOnceItIsShutDown) {
  agent().shut_down();
  const ProbeBatch batch = visit(kStartOfRun);
  EXPECT_THAT(batch.rtt_ns, Each(local_error_rtt(LocalError::kNoDevice)));
  EXPECT_EQ(agent().fds().completions, -1);
  EXPECT_EQ(agent().fds().events, -1);
}

}  // namespace
}  // namespace bonescan::verbs
