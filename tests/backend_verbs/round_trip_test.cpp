#include "detectors/backend_verbs/round_trip.h"

#include "detectors/backend_verbs/source_port.h"

#include <gtest/gtest.h>

#include <set>

namespace bonescan::verbs {
namespace {

using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr DeviceClock kAdapter{.device = true, .mask = 0xFFFFFFFFFFFF, .khz = 156'250};
constexpr DeviceClock kHost{};

Time at(Duration after) {
  return kStartOfRun + after;
}

TEST(DeviceClock, ConvertsTicksToNearestNanosecond) {
  // 156.25 MHz: 6.4 ns a tick.
  EXPECT_EQ(elapsed(kAdapter, 100, 101), 6ns);
  EXPECT_EQ(elapsed(kAdapter, 100, 105), 32ns);
  EXPECT_EQ(elapsed(kAdapter, 0, 156'250'000), 1s);
  EXPECT_EQ(elapsed(kHost, 5, 12), 7ns);
}

TEST(DeviceClock, SurvivesItsWrap) {
  EXPECT_EQ(elapsed(kAdapter, 0xFFFFFFFFFFFF, 4), 32ns);
  constexpr DeviceClock kNarrow{.device = true, .mask = 0xFFFF, .khz = 1'000'000};
  EXPECT_EQ(elapsed(kNarrow, 0xFFF0, 0x10), 32ns);
}

TEST(DeviceClock, NeverGivesANegativeDifference) {
  EXPECT_EQ(elapsed(kAdapter, 101, 100), std::nullopt);
  EXPECT_EQ(elapsed(kHost, 1, 0), std::nullopt);
  EXPECT_EQ(elapsed({.device = true, .mask = 0xFF, .khz = 0}, 0, 1), std::nullopt);
}

TEST(RoundTrip, TakesBothDelaysOutOnOneClockEach) {
  // 30 us host to host; 20 us between the device stamps; 4 us at the responder.
  const auto trip = round_trip(kAdapter,
                               {.posted = at(1ms),
                                .handled = at(1ms + 30us),
                                .sent = 777,
                                .received = 777 + 3125,
                                .responder_delay_ns = 4'000});
  ASSERT_TRUE(trip.has_value());
  EXPECT_EQ(trip->network, 16us);
  EXPECT_EQ(trip->prober_delay, 10us);
  EXPECT_EQ(trip->responder_delay, 4us);
}

TEST(RoundTrip, SaysWhatItDoesNotKnow) {
  const auto no_second_answer = round_trip(
      kAdapter, {.posted = at(1ms), .handled = at(1ms + 30us), .sent = 0, .received = 3125});
  ASSERT_TRUE(no_second_answer.has_value());
  EXPECT_EQ(no_second_answer->network, 20us);
  EXPECT_EQ(no_second_answer->responder_delay, std::nullopt);

  const auto host = round_trip(
      kHost, {.posted = at(1ms), .handled = at(1ms + 30us), .responder_delay_ns = 4'000});
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(host->network, 26us);
  EXPECT_EQ(host->prober_delay, std::nullopt) << "a host clock cannot tell it from the network";
}

TEST(RoundTrip, RefusesStampsThatContradictEachOther) {
  struct Case {
    std::string name;
    DeviceClock clock;
    ProbeStamps stamps;
  };
  const std::vector<Case> cases = {
      {"received before sent",
       kAdapter,
       {.posted = at(0us), .handled = at(30us), .sent = 100, .received = 99}},
      {"responder longer than the whole",
       kAdapter,
       {.posted = at(0us),
        .handled = at(30us),
        .sent = 0,
        .received = 3125,
        .responder_delay_ns = 20'001}},
      {"responder delay no duration can hold",
       kAdapter,
       {.posted = at(0us),
        .handled = at(30us),
        .sent = 0,
        .received = 3125,
        .responder_delay_ns = ~0ull}},
      {"device says longer than the host",
       kAdapter,
       {.posted = at(0us), .handled = at(10us), .sent = 0, .received = 3125}},
      {"no send stamp", kAdapter, {.posted = at(0us), .handled = at(30us), .received = 3125}},
      {"host clock went back", kHost, {.posted = at(30us), .handled = at(0us)}},
      {"responder longer, host clock",
       kHost,
       {.posted = at(0us), .handled = at(3us), .responder_delay_ns = 3'001}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_FALSE(round_trip(c.clock, c.stamps).has_value());
  }
}

TEST(RoundTrip, AllowsTheDriftOfTwoOscillators) {
  // 100 ppm on 10 ms is 1 us: the device sees 10.001 ms where the host sees 10 ms.
  const auto trip = round_trip({.device = true, .khz = 1'000'000},
                               {.posted = at(0ms),
                                .handled = at(10ms),
                                .sent = 0,
                                .received = 10'001'000,
                                .responder_delay_ns = 0});
  ASSERT_TRUE(trip.has_value());
  EXPECT_EQ(trip->prober_delay, Duration::zero());
}

TEST(SourcePort, EveryRocePortHasAFlowLabelThatGivesIt) {
  for (std::uint32_t port = kFirstRocePort; port <= 0xFFFF; ++port) {
    const std::uint32_t label = flow_label_of_port(static_cast<std::uint16_t>(port));
    ASSERT_EQ(port_of_flow_label(label), port);
    ASSERT_NE(label, 0u);
    ASSERT_LT(label, 1u << 20);
  }
}

TEST(SourcePort, FoldsTheFlowLabelAsLinuxDoes) {
  // rdma_flow_label_to_udp_sport(): low 14 bits xor the high 6, from 0xC000 on.
  EXPECT_EQ(port_of_flow_label(0), 0xC000);
  EXPECT_EQ(port_of_flow_label(0x3FFF), 0xFFFF);
  EXPECT_EQ(port_of_flow_label(0xFC000), 0xC000 + 0x3F);
  EXPECT_EQ(port_of_flow_label(0xABCDE), 0xC000 + (0x3CDE ^ 0x2A));
}

TEST(SourcePort, FollowsTheQueuePairWhereFlowLabelsDoNotCount) {
  DeviceInfo rxe;
  rxe.port_rule = SourcePortRule::kQueuePairHash;
  DeviceInfo mlx5;
  mlx5.port_rule = SourcePortRule::kFlowLabel;
  EXPECT_EQ(wire_source_port(rxe, 50'000, 17), rxe_port_of_qpn(17));
  // hash_32(17, 14) = (17 * 0x61C88647 mod 2^32) >> 18.
  EXPECT_EQ(rxe_port_of_qpn(17), 0xC000 + (0x7E50EAB7u >> 18));
  std::set<std::uint16_t> ports;
  for (std::uint32_t qpn = 17; qpn < 25; ++qpn) {
    ports.insert(rxe_port_of_qpn(qpn));
  }
  EXPECT_EQ(ports.size(), 8u) << "eight queue pairs, eight paths";
  EXPECT_EQ(wire_source_port({}, 50'000, 17), std::nullopt);
  EXPECT_EQ(wire_source_port(mlx5, 50'000, 17), 50'000);
}

}  // namespace
}  // namespace bonescan::verbs
