#include "detectors/backend_verbs/prober.h"

#include "tests/support/fake_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bonescan::verbs {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::Each;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::uint32_t> rows(const ProbeBatch& batch) {
  return batch.rtt_ns;
}

/// Adapters with clocks of their own: 156.25 MHz from far on, and a narrow one about to wrap.
void give_device_clocks(FakeHosts& hosts) {
  FakeRnic& first = hosts.fabric.rnic("h0");
  first.clock = {.device = true, .mask = ~0ull, .khz = 156'250};
  first.clock_offset = 0x123456789ABC;
  FakeRnic& second = hosts.fabric.rnic("h1");
  second.clock = {.device = true, .mask = 0xFFFFFFFF, .khz = 1'000'000};
  second.clock_offset = 0xFFFFFFFF - 50'000'000;
}

class ProberTest : public testing::Test {
 protected:
  void start() {
    const auto started = hosts_.start();
    ASSERT_TRUE(started.has_value()) << started.error().detail;
  }

  ProbeBatch visit(Duration until = 2s) {
    hosts_.submit(0, ten_probes(0, 1));
    hosts_.run_until(kStartOfRun + until);
    return hosts_.collect(0);
  }

  FakeHosts hosts_{3};
};

TEST_F(ProberTest, MeasuresTheNetworkAloneOnDeviceClocks) {
  give_device_clocks(hosts_);
  hosts_.fabric.rnic("h0").send_latency = 3us;
  hosts_.fabric.rnic("h1").send_latency = 40us;
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  const Visit& visit = batch.visits.front();
  EXPECT_EQ(visit.pair, PairId(1));
  EXPECT_EQ(visit.count, 10);
  EXPECT_EQ(visit.clock, TimestampSource::kDevice);
  // 5 us each way; ticks of 6.4 ns.
  for (const std::uint32_t rtt : rows(batch)) {
    EXPECT_NEAR(rtt, 10'000, 7);
  }
  EXPECT_NEAR(visit.prober_delay_ns, 3'000, 7);
  EXPECT_NEAR(visit.responder_delay_ns, 40'000, 2);
  std::vector<std::uint32_t> sent_after;
  for (std::uint32_t i = 0; i < 10; ++i) {
    sent_after.push_back(i * 100'000'000);
  }
  EXPECT_THAT(batch.sent_after_ns, ElementsAreArray(sent_after));
}

TEST_F(ProberTest, SaysHostWhereNoDeviceStamps) {
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.visits.front().clock, TimestampSource::kHost);
  EXPECT_EQ(batch.visits.front().prober_delay_ns, kUnknownDelay);
  EXPECT_EQ(batch.visits.front().responder_delay_ns, 0u);
  EXPECT_THAT(rows(batch), Each(10'000u));
}

TEST_F(ProberTest, SaysMixedWhereOneEndStamps) {
  give_device_clocks(hosts_);
  hosts_.fabric.rnic("h1").clock = {};
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.visits.front().clock, TimestampSource::kMixed);
}

TEST_F(ProberTest, CountsUnansweredProbesAsLostAfterTheirTimeout) {
  int datagram = 0;
  hosts_.fabric.rule = [&](const FakeDatagram& d) {
    return FakeFate{.drop = d.from == "h0" && ++datagram % 2 == 0, .delay = {}};
  };
  start();
  hosts_.submit(0, ten_probes(0, 1));
  hosts_.run_until(kStartOfRun + 900ms + 499ms);
  EXPECT_THAT(hosts_.collect(0).visits, IsEmpty()) << "the last may still be answered";
  hosts_.run_until(kStartOfRun + 900ms + 500ms);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(batch.rtt_ns[i], i % 2 == 1 ? kLostRtt : 10'000u) << i;
  }
  EXPECT_THAT(hosts_.collect(0).visits, IsEmpty()) << "delivered once";
}

TEST_F(ProberTest, SaysThatTheResponderDelayIsInsideWhenTheSecondAnswerIsLost) {
  give_device_clocks(hosts_);
  hosts_.fabric.rnic("h1").send_latency = 40us;
  int answer = 0;
  hosts_.fabric.rule = [&](const FakeDatagram& d) {
    const auto packet = parse_packet(d.payload);
    const bool second = packet.has_value() && packet->kind == PacketKind::kSecondAnswer;
    return FakeFate{.drop = second && ++answer == 10, .delay = {}};
  };
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.visits.front().responder_delay_ns, kUnknownDelay);
  EXPECT_NEAR(batch.rtt_ns[0], 10'000, 7);
  EXPECT_NEAR(batch.rtt_ns[9], 50'000, 7) << "(T5 - T2) alone";
}

TEST_F(ProberTest, TakesAnswersAndSendCompletionsInAnyOrder) {
  give_device_clocks(hosts_);
  hosts_.fabric.rnic("h0").late_completion.times = 10;
  hosts_.fabric.rnic("h1").send_latency = 1us;
  // The second answer overtakes the first.
  hosts_.fabric.rule = [](const FakeDatagram& d) {
    const auto packet = parse_packet(d.payload);
    const bool first = packet.has_value() && packet->kind == PacketKind::kFirstAnswer;
    return FakeFate{.delay = first ? Duration(8us) : Duration::zero()};
  };
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  for (const std::uint32_t rtt : rows(batch)) {
    EXPECT_NEAR(rtt, 18'000, 7);
  }
}

TEST_F(ProberTest, NeverReportsANegativeRoundTrip) {
  give_device_clocks(hosts_);
  start();
  // The responder's clock runs fast: it claims more time than the whole took.
  hosts_.fabric.rnic("h1").send_latency = 100us;
  hosts_.fabric.rnic("h1").clock.khz = 3'000'000;
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_THAT(rows(batch), Each(local_error_rtt(LocalError::kBadTimestamps)));
}

TEST_F(ProberTest, CountsLateDuplicateForeignAndStaleAnswersWithoutBelievingThem) {
  hosts_.fabric.rule = [](const FakeDatagram& d) {
    const auto packet = parse_packet(d.payload);
    FakeFate fate;
    if (packet.has_value() && packet->kind == PacketKind::kFirstAnswer) {
      fate.delay = packet->probe == 0 ? Duration(600ms) : Duration::zero();
      fate.copies = packet->probe == 1 ? 2 : 1;
    }
    return fate;
  };
  start();
  const ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.rtt_ns[0], kLostRtt) << "answered after its timeout";
  EXPECT_EQ(batch.rtt_ns[1], 10'000u);
  EXPECT_EQ(hosts_.agents[0]->counters().prober.late, 1u);
  EXPECT_EQ(hosts_.agents[0]->counters().prober.duplicate, 1u);

  Prober prober({.self = 7});
  const Link link{.epoch = 2};
  prober.answered({.kind = PacketKind::kFirstAnswer, .prober = 8}, {.seen = {}}, link);
  prober.answered(
      {.kind = PacketKind::kFirstAnswer, .prober = 7, .prober_epoch = 1}, {.seen = {}}, link);
  prober.answered(
      {.kind = PacketKind::kFirstAnswer, .slot = 1 << 20, .prober = 7, .prober_epoch = 2},
      {.seen = {}},
      link);
  EXPECT_EQ(prober.counters().foreign, 1u);
  EXPECT_EQ(prober.counters().stale_epoch, 1u);
  EXPECT_EQ(prober.counters().late, 1u);
}

TEST_F(ProberTest, NamesEveryLocalErrorAndNeverCallsItLoss) {
  struct Case {
    std::string name;
    std::function<void(FakeHosts&)> cause;
    LocalError expected;
  };
  const std::vector<Case> cases = {
      {"no address of the peer",
       [](FakeHosts& h) { h.peers.erase(EndpointId(1)); },
       LocalError::kNoPeerAddress},
      {"address without queue pairs",
       [](FakeHosts& h) {
         h.peers.set(EndpointId(1), {.gid = {}, .qpns = {}, .q_key = 1, .epoch = 1});
       },
       LocalError::kNoPeerAddress},
      {"no route",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").post_send = {1000, {LocalError::kNoRoute, "no route"}};
       },
       LocalError::kNoRoute},
      {"driver's queue full",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").post_send = {1000, {LocalError::kQueueFull, "full"}};
       },
       LocalError::kQueueFull},
      {"port down",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").port.active = false;
         h.fabric.raise(h.fabric.rnic("h0"), {AsyncEventKind::kPortDown, "port error"});
       },
       LocalError::kPortDown},
      {"device gone",
       [](FakeHosts& h) {
         h.fabric.rnic("h0").present = false;
         h.fabric.raise(h.fabric.rnic("h0"), {AsyncEventKind::kDeviceFatal, "fatal"});
       },
       LocalError::kNoDevice},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeHosts hosts(2);
    ASSERT_TRUE(hosts.start().has_value());
    c.cause(hosts);
    hosts.turn();
    hosts.submit(0, ten_probes(0, 1));
    hosts.run_until(kStartOfRun + 3s);
    const ProbeBatch batch = hosts.collect(0);
    ASSERT_THAT(batch.visits, SizeIs(1));
    EXPECT_THAT(rows(batch), Each(local_error_rtt(c.expected)));
    EXPECT_EQ(hosts.agents[0]->counters().prober.local_errors, 10u);
  }
}

TEST_F(ProberTest, FailsProbesWhoseSendCompletesInErrorOrNever) {
  hosts_.options[0].stuck = 10s;
  start();
  hosts_.fabric.rnic("h0").silent_send.times = 1;
  hosts_.fabric.rule = [](const FakeDatagram& d) {
    const auto packet = parse_packet(d.payload);
    return FakeFate{.drop = packet.has_value() && packet->probe == 0, .delay = {}};
  };
  ProbeBatch batch = visit();
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.rtt_ns[0], local_error_rtt(LocalError::kSendFailed)) << "no proof that it left";
  EXPECT_EQ(batch.rtt_ns[1], 10'000u);

  hosts_.fabric.rnic("h0").bad_send.times = 1;
  hosts_.submit(0, ten_probes(0, 1, kStartOfRun + 3s));
  hosts_.run_until(kStartOfRun + 5s);
  batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.rtt_ns[0], local_error_rtt(LocalError::kSendFailed));
}

TEST_F(ProberTest, RefusesWhatItHasNoRoomForAndKeepsTheRest) {
  hosts_.options[0].prober.visits = 2;
  start();
  for (int i = 0; i < 3; ++i) {
    hosts_.submit(0, ten_probes(0, 1));
  }
  hosts_.run_until(kStartOfRun + 2s);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(3));
  EXPECT_THAT(batch.rtts(batch.visits[0]), Each(local_error_rtt(LocalError::kQueueFull)));
  EXPECT_THAT(batch.rtts(batch.visits[1]), Each(10'000u));
  EXPECT_THAT(batch.rtts(batch.visits[2]), Each(10'000u));
}

TEST_F(ProberTest, DeliversARefusedVisitNotBeforeItsStart) {
  Prober prober({.visits = 0});
  prober.submit(ten_probes(0, 1, kStartOfRun + 1s), 7, std::nullopt, {});
  ProbeBatch batch;
  prober.collect(kStartOfRun + 999ms, batch);
  EXPECT_THAT(batch.visits, IsEmpty());
  prober.collect(kStartOfRun + 1s, batch);
  EXPECT_THAT(batch.visits, SizeIs(1));
}

TEST_F(ProberTest, KeepsBoundedMemoryWhenNobodyCollects) {
  Prober prober({.visits = 0, .done_visits = 4});
  for (int i = 0; i < 11; ++i) {
    prober.submit(ten_probes(0, 1), 7, std::nullopt, {});
  }
  ProbeBatch batch;
  prober.collect(kStartOfRun, batch);
  EXPECT_LE(batch.visits.size(), 4u);
  EXPECT_EQ(prober.counters().overflowed + batch.visits.size(), 11u);
  for (const Visit& visit : batch.visits) {
    EXPECT_LE(visit.first + visit.count, batch.rtt_ns.size());
  }
}

TEST_F(ProberTest, SendsFromTheWantedPortWithTheWantedMarks) {
  std::vector<FakeDatagram> seen;
  hosts_.fabric.rule = [&](const FakeDatagram& d) {
    seen.push_back(d);
    return FakeFate();
  };
  hosts_.options[0].service_level = 3;
  start();
  ProbeRequest request = ten_probes(0, 1);
  request.count = 1;
  request.payload_bytes = 500;
  hosts_.submit(0, request);
  hosts_.run_until(kStartOfRun + 1s);
  ASSERT_THAT(seen, SizeIs(3));
  for (const FakeDatagram& datagram : seen) {
    EXPECT_EQ(datagram.source_port, 50'000);
    EXPECT_EQ(datagram.traffic_class, 26 << 2);
    EXPECT_EQ(datagram.service_level, 3);
  }
  EXPECT_EQ(seen[0].payload.size(), 500u);
  EXPECT_EQ(seen[1].payload.size(), 500u) << "the answer tests the way back with the same size";
  EXPECT_EQ(seen[2].payload.size(), kProbeHeaderSize);
  EXPECT_EQ(hosts_.collect(0).visits.at(0).payload_bytes, 500);
}

TEST_F(ProberTest, KeepsPayloadsBetweenHeaderAndMtu) {
  hosts_.fabric.rnic("h0").port.mtu_bytes = 256;
  start();
  ProbeRequest request = ten_probes(0, 1);
  request.payload_bytes = 9'000;
  hosts_.submit(0, request);
  request.payload_bytes = 10;
  hosts_.submit(0, request);
  hosts_.run_until(kStartOfRun + 2s);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(2));
  EXPECT_EQ(batch.visits[0].payload_bytes, 256);
  EXPECT_EQ(batch.visits[1].payload_bytes, 64);
  EXPECT_THAT(rows(batch), Each(10'000u));
}

TEST_F(ProberTest, CoversAllPathsByPortOfFlowLabelOrQueuePair) {
  for (const SourcePortRule rule : {SourcePortRule::kFlowLabel, SourcePortRule::kQueuePairHash}) {
    SCOPED_TRACE(static_cast<int>(rule));
    FakeHosts hosts(2);
    hosts.fabric.rnic("h0").port_rule = rule;
    std::set<std::uint16_t> ports;
    std::set<std::uint16_t> bad_ports;
    hosts.fabric.rule = [&](const FakeDatagram& d) {
      if (d.from == "h0") {
        ports.insert(d.source_port);
      }
      return FakeFate{.drop = bad_ports.contains(d.source_port), .delay = {}};
    };
    ASSERT_TRUE(hosts.start().has_value());
    bad_ports = {*hosts.agents[0]->wire_source_port(50'003)};
    for (std::uint16_t port = 50'000; port < 50'008; ++port) {
      ProbeRequest request = ten_probes(0, 1);
      request.pair = PairId(port);
      request.source_port = port;
      request.count = 2;
      hosts.submit(0, request);
    }
    hosts.run_until(kStartOfRun + 2s);
    EXPECT_THAT(ports, SizeIs(8));
    const ProbeBatch batch = hosts.collect(0);
    ASSERT_THAT(batch.visits, SizeIs(8));
    for (const Visit& visit : batch.visits) {
      EXPECT_THAT(batch.rtts(visit),
                  Each(visit.source_port == 50'003 ? kLostRtt : std::uint32_t{10'000}))
          << visit.source_port;
    }
  }
}

TEST_F(ProberTest, KeepsDistanceBetweenProbesAfterAStall) {
  start();
  hosts_.submit(0, ten_probes(0, 1));
  // The thread slept for a second.
  hosts_.clock.set(kStartOfRun + 1s);
  hosts_.run_until(kStartOfRun + 4s);
  const ProbeBatch batch = hosts_.collect(0);
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_EQ(batch.visits[0].start, kStartOfRun + 1s) << "the time it was really sent";
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_GE(batch.sent_after_ns[i] - batch.sent_after_ns[i - 1], 50'000'000u);
  }
}

}  // namespace
}  // namespace bonescan::verbs
