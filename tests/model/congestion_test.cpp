// Fluid queues against what can be worked out by hand, against the incast of queueing.h, and
// pauses against packets.
#include "model/packet_mode/open_loop.h"
#include "model/workload/congested_links.h"
#include "model/workload/incast_loads.h"
#include "tests/support/packet_bench.h"

#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using test::PacketBench;

constexpr CongestionOptions kNothing{
    .control = CongestionControl::kOff, .flow_control = FlowControl::kOff, .buffer_bytes = 1e12};
constexpr CongestionOptions kPauses{.control = CongestionControl::kOff};

/// 100 Gb/s.
constexpr double kRate = 12.5;

MeetingBursts eight_over_four() {
  return {.total_bytes = 8.0 * 80'000,
          .longest_input_bytes = 2.0 * 80'000,
          .rate = kRate,
          .input_rate = kRate,
          .inputs = 4,
          .period_ns = 200'000.0};
}

TEST(Congestion, MarksNothingBelowKminAllBeyondKmaxAndAShareBetween) {
  const CongestionOptions options;
  EXPECT_EQ(mark_ratio(options, 400'000), 0.0);
  EXPECT_DOUBLE_EQ(mark_ratio(options, 1'000'000), 0.1);
  EXPECT_EQ(mark_ratio(options, 1'600'000), 1.0);
}

TEST(Congestion, BurstsWithoutALimitAreTheUniformIncast) {
  const BurstQueue queue = burst_queue(kNothing, eight_over_four());
  const IncastLoad incast{
      .senders = 8, .fan_in = 4, .burst_ns = 80'000 / kRate, .period_ns = 200'000.0};
  EXPECT_NEAR(queue.peak_bytes, 6.0 * 80'000, 1e-6);
  EXPECT_NEAR(mean_wait_ns(queue.wait), incast_mean_wait_ns(incast), 1e-6);
  for (const double u : {0.1, 0.7439, 0.8, 0.999}) {
    EXPECT_NEAR(wait_quantile_ns(queue.wait, u), incast_wait_quantile_ns(incast, u), 1e-6) << u;
  }
  EXPECT_EQ(queue.loss_ratio, 0.0);
  EXPECT_EQ(queue.pause_ratio, 0.0);
}

/// What does not wait here waits upstream: the link is busy for as long as without pauses.
TEST(Congestion, FlowControlHoldsABurstAtXoffAndKeepsTheLinkBusy) {
  CongestionOptions options = kPauses;
  options.xoff_bytes = 50'000;
  const BurstQueue queue = burst_queue(options, eight_over_four());
  EXPECT_DOUBLE_EQ(queue.peak_bytes, 200'000);
  EXPECT_DOUBLE_EQ(queue.upstream_bytes, 280'000);
  EXPECT_NEAR(1.0 - queue.wait.idle_ratio, 8.0 * 80'000 / kRate / 200'000, 1e-12);
  // Rises with 3 times the rate, falls with once.
  const double straight_ns = 200'000 / (3 * kRate) + 200'000 / kRate;
  EXPECT_NEAR(queue.wait.ramp_ratio, straight_ns / 200'000, 1e-12);
  // While it is held, four ports bring together what one takes.
  EXPECT_NEAR(queue.pause_ratio, queue.held_ratio * 0.75, 1e-12);
}

TEST(Congestion, AFullBufferLosesWhatDoesNotFit) {
  CongestionOptions options = kNothing;
  options.buffer_bytes = 240'000;
  const BurstQueue queue = burst_queue(options, eight_over_four());
  EXPECT_DOUBLE_EQ(queue.peak_bytes, 240'000);
  // Half of the rise of 12.8 us is spent full, and then three packets of four are lost.
  EXPECT_NEAR(queue.loss_ratio, 6'400.0 / 200'000 * 0.75, 1e-9);
  // 240,000 of 640,000 bytes are lost and need no time.
  EXPECT_NEAR(1.0 - queue.wait.idle_ratio, 400'000 / kRate / 200'000, 1e-12);
}

TEST(Congestion, ControlStopsABurstWithinItsReactionTime) {
  CongestionOptions options{.flow_control = FlowControl::kOff,
                            .ecn_min_bytes = 50'000,
                            .ecn_max_bytes = 100'000,
                            .reaction = std::chrono::microseconds(5)};
  const BurstQueue queue = burst_queue(options, eight_over_four());
  // The queue grows by 37.5 bytes a ns.
  EXPECT_DOUBLE_EQ(queue.peak_bytes, 50'000 + 37.5 * 5'000);
  EXPECT_GT(queue.mark_ratio, 0.0);
  options.control = CongestionControl::kOff;
  EXPECT_DOUBLE_EQ(burst_queue(options, eight_over_four()).peak_bytes, 480'000);
  EXPECT_EQ(burst_queue(options, eight_over_four()).mark_ratio, 0.0);
}

TEST(Congestion, StandingQueueIsHeldByMarksByPausesOrByItsBuffer) {
  struct Case {
    const char* name;
    CongestionOptions options;
    double low;
    double high;
    double loss;
    bool pauses;
  };
  const CongestionOptions control;
  const CongestionOptions nothing{.control = CongestionControl::kOff,
                                  .flow_control = FlowControl::kOff};
  for (const Case& c : {Case{"control", control, 400'000, 1'200'000, 0.0, false},
                        Case{"pauses", kPauses, 800'000, 1'200'000, 0.0, true},
                        Case{"neither", nothing, 4e6, 4e6, 0.2, false}}) {
    SCOPED_TRACE(c.name);
    const StandingQueue queue = standing_queue(c.options, 1.25, 4);
    EXPECT_DOUBLE_EQ(queue.low_bytes, c.low);
    EXPECT_DOUBLE_EQ(queue.high_bytes, c.high);
    EXPECT_NEAR(queue.loss_ratio, c.loss, 1e-12);
    EXPECT_EQ(queue.pauses, c.pauses);
  }
  EXPECT_GT(standing_queue(control, 1.25, 4).mark_ratio, 0.0);
}

/// Links 0 and 1 (hosts) and 2 (a fabric port, fed by 3) feed 4.
std::vector<FedLink> two_hosts_and_a_port(double fabric_extra) {
  return {{.link = LinkId(0), .rate = kRate, .host_port = true, .inputs = {{LinkId(), 6.25}}},
          {.link = LinkId(1), .rate = kRate, .host_port = true, .inputs = {{LinkId(), 6.25}}},
          {.link = LinkId(3),
           .rate = kRate,
           .host_port = true,
           .inputs = {{LinkId(), 6.25 + fabric_extra}}},
          {.link = LinkId(2), .rate = kRate, .inputs = {{LinkId(3), 6.25 + fabric_extra}}},
          {.link = LinkId(4),
           .rate = kRate,
           .inputs = {{LinkId(0), 6.25}, {LinkId(1), 6.25}, {LinkId(2), 6.25}}}};
}

TEST(Congestion, PausesSpreadToTheSendersAndTakeTheirShare) {
  const auto links = two_hosts_and_a_port(3.75);
  const auto found = congested_links(kPauses, links);
  ASSERT_EQ(found.size(), 5u);
  // 1.5 times the rate: two thirds get through, of half a port's rate or of 0.8 of it.
  EXPECT_NEAR(found[0].pause_ratio, 1.0 - 0.5 * 2 / 3, 1e-12);
  EXPECT_NEAR(found[2].pause_ratio, 1.0 - 0.8 * 2 / 3, 1e-12);
  EXPECT_NEAR(found[3].pause_ratio, 1.0 - 0.8 * 2 / 3, 1e-12) << "the sender behind the port";
  EXPECT_EQ(found[4].pause_ratio, 0.0);
  // Three ports' XOFF at the rate.
  EXPECT_NEAR(found[4].wait.peak_ns, 900'000 / kRate, 1e-9);
  for (const CongestedLink& link : found) {
    EXPECT_EQ(link.loss_ratio, 0.0);
    EXPECT_EQ(link.mark_ratio, 0.0);
  }
}

/// A port that brings next to nothing was taken for one that is throttled like the others, and its
/// few bytes for a queue at XOFF that drains over milliseconds.
TEST(Congestion, APortBelowTheFairShareIsNotPaused) {
  auto links = two_hosts_and_a_port(0.0);
  links[1].inputs[0].bytes_per_ns = 0.01;
  links[4].inputs = {{LinkId(0), 6.25}, {LinkId(1), 0.01}, {LinkId(2), 10.0}};
  const auto found = congested_links(kPauses, links);
  for (const CongestedLink& link : found) {
    EXPECT_NE(link.link, LinkId(1));
    EXPECT_LT(link.wait.peak_ns, 200'000.0);
  }
  // 12.49 bytes a ns are left for two, who want 6.25 and 10.
  EXPECT_NEAR(found[0].pause_ratio, 1.0 - 6.245 / kRate, 1e-9);
}

TEST(Congestion, ControlKeepsTheQueueWhereItIs) {
  const auto found = congested_links({}, two_hosts_and_a_port(0.0));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].link, LinkId(4));
  EXPECT_GT(found[0].mark_ratio, 0.0);
  auto off = two_hosts_and_a_port(0.0);
  off.back().marks = false;
  EXPECT_EQ(congested_links({}, off).size(), 5u) << "switched off at that queue alone";
}

TEST(Congestion, WhatABottleneckHasCutIsNoSecondBottleneck) {
  auto links = two_hosts_and_a_port(0.0);
  links.push_back({.link = LinkId(5), .rate = kRate, .inputs = {{LinkId(4), 18.75}}});
  EXPECT_EQ(congested_links({}, links).size(), 1u);
}

/// Two senders at 80 % of their links towards one: five eighths get through.
TEST(Congestion, PauseShareIsThatOfPackets) {
  PacketBench bench({.ecn = {.priorities = 0}, .pfc = {.priorities = 1u << 3}});
  OpenLoop load(bench.network);
  const double packets_per_s = 0.8 * 12.5e9 / (PacketBench::kUdOverhead + 4'096);
  for (std::uint32_t h = 1; h < 3; ++h) {
    load.start({.source = bench.rnic(0, h),
                .target = bench.rnic(0, 0),
                .source_port = 50'000,
                .packets_per_s = packets_per_s});
  }
  bench.run_for(milliseconds(1));  // Queues fill.
  const LinkId link = bench.first_link({bench.rnic(0, 1), bench.rnic(0, 0)});
  const Duration before = bench.network.counters(link).paused;
  const std::uint64_t pauses_before = bench.network.counters(link).pauses;
  bench.run_for(milliseconds(9));
  const double paused_ns =
      static_cast<double>((bench.network.counters(link).paused - before).count());
  const double pauses = static_cast<double>(bench.network.counters(link).pauses - pauses_before);
  // Senders keep what they could not send, so their ports are offered all they can carry.
  const PortPause wanted = port_pause(kPauses, kRate, kRate, 0.5);
  EXPECT_NEAR(paused_ns / 9e6, wanted.ratio, 0.03);
  // Longer by what is on the way when the pause is sent: 1.2 us of the line.
  const double on_the_way_ns = 1'200.0 * kRate / (0.5 * kRate);
  EXPECT_NEAR(paused_ns / pauses, wanted.length_ns + on_the_way_ns, 0.1 * wanted.length_ns);
}

}  // namespace
}  // namespace bonescan
