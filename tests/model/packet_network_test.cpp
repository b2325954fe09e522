#include "model/packet_mode/packet_network.h"

#include "model/fabric/ecmp_hash.h"
#include "model/latency/queueing.h"
#include "model/packet_mode/open_loop.h"
#include "model/probe_path.h"
#include "tests/support/packet_bench.h"

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::PacketBench;

constexpr std::uint8_t kDscp = 26;
constexpr std::uint8_t kPriority = priority_of(kDscp);

Duration nanos(std::int64_t count) {
  return Duration(count);
}

TEST(PacketNetwork, IdleNetworkTakesSerializationAndPropagationOfEveryLink) {
  PacketBench bench;
  bench.send(bench.far_pair(), 1'250 - bench.kUdOverhead);
  bench.run_for(milliseconds(1));
  // Four links of 100 ns each at 100 Gb/s, two of 600 ns and two of 750 ns.
  ASSERT_EQ(bench.arrivals().size(), 1u);
  EXPECT_EQ(bench.arrivals()[0].at - kStartOfRun, nanos(4 * 100 + 2 * 600 + 2 * 750));
  EXPECT_EQ(bench.network.totals().delivered, 1u);
}

TEST(PacketNetwork, EveryTierHasItsOwnRate) {
  WorldOptions options = PacketBench::world_options(1);
  options.fabric.access.rate = BitsPerSecond(200'000'000'000);
  PacketBench bench({}, options);
  bench.send(bench.far_pair(), 1'250 - bench.kUdOverhead);
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), 1u);
  EXPECT_EQ(bench.arrivals()[0].at - kStartOfRun, nanos(2 * 50 + 2 * 100 + 2 * 600 + 2 * 750));
}

TEST(PacketNetwork, LinkWithHalfOfItsLanesTakesTwiceAsLong) {
  PacketBench bench;
  LinkImpairment half_rate;
  half_rate.capacity_ratio = 0.5;
  bench.world.links().add(bench.first_link(bench.near_pair()), half_rate);
  bench.send(bench.near_pair(), 1'250 - bench.kUdOverhead);
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), 1u);
  EXPECT_EQ(bench.arrivals()[0].at - kStartOfRun, nanos(200 + 100 + 2 * 600));
}

TEST(PacketNetwork, PacketWithoutAWayIsDropped) {
  WorldOptions options = PacketBench::world_options(1);
  options.fabric.rails = 2;
  options.fabric.preset = FabricPreset::kRailOnly;
  PacketBench bench({}, options);
  const HostId host(0);
  bench.send({bench.world.fabric().rnic(host, 0), bench.world.fabric().rnic(HostId(1), 1)}, 64);
  bench.run_for(milliseconds(1));
  EXPECT_TRUE(bench.arrivals().empty());
  EXPECT_EQ(bench.network.totals().dropped_no_way, 1u);
}

TEST(PacketNetwork, PacketsOfOneLinkWaitForEachOther) {
  PacketBench bench;
  for (int i = 0; i < 5; ++i) {
    bench.send(bench.near_pair(), 1'250 - bench.kUdOverhead);
  }
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.arrivals()[i].at - kStartOfRun,
              nanos(2 * 100 + 2 * 600 + 100 * static_cast<std::int64_t>(i)));
    EXPECT_EQ(bench.arrivals()[i].packet.psn, i);
  }
  EXPECT_EQ(bench.network.counters(bench.first_link(bench.near_pair())).queue_peak, 4u * 1'250u);
}

TEST(PacketNetwork, FullQueueDropsAtItsTail) {
  PacketBench bench({.queue_bytes = 3 * 1'250});
  for (int i = 0; i < 10; ++i) {
    bench.send(bench.near_pair(), 1'250 - bench.kUdOverhead);
  }
  bench.run_for(milliseconds(1));
  // One on the wire, three in the queue.
  EXPECT_EQ(bench.arrivals().size(), 4u);
  EXPECT_EQ(bench.network.totals().dropped_tail, 6u);
}

TEST(PacketNetwork, HigherPriorityGoesFirstAndDoesNotPreempt) {
  PacketBench bench;
  bench.send(bench.near_pair(), 4'000, 0);
  bench.send(bench.near_pair(), 4'000, 0);
  bench.send(bench.near_pair(), 100, 48);
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), 3u);
  EXPECT_EQ(bench.arrivals()[0].packet.psn, 0u);
  EXPECT_EQ(bench.arrivals()[1].packet.psn, 2u);
  EXPECT_EQ(bench.arrivals()[2].packet.psn, 1u);
}

TEST(PacketNetwork, PacketsTakeThePathOfTheClosedForm) {
  PacketBench bench;
  const auto [source, target] = bench.far_pair();
  for (std::uint16_t port = 50'000; port < 50'032; ++port) {
    bench.port = port;
    const ProbePath path =
        resolve_path(bench.world, {.source = source, .target = target, .source_port = port});
    const std::uint64_t before = bench.network.counters(path.request.links[1]).packets;
    bench.send(bench.far_pair(), 64);
    bench.run_for(milliseconds(1));
    EXPECT_EQ(bench.network.counters(path.request.links[1]).packets, before + 1) << port;
  }
}

TEST(PacketNetwork, LossyLinkLosesItsShareAndADownPortEverything) {
  PacketBench bench;
  const LinkId link = bench.first_link(bench.near_pair());
  const ImpairmentId loss = bench.world.links().add(link, {.loss_ratio = 0.1, .packets = {}});
  constexpr int kPackets = 20'000;
  for (int i = 0; i < kPackets; ++i) {
    bench.send(bench.near_pair(), 64);
    bench.run_for(nanos(200));
  }
  bench.run_for(milliseconds(1));
  // Four standard deviations.
  EXPECT_NEAR(static_cast<double>(bench.network.totals().dropped_wire), 2'000.0, 170.0);
  bench.world.links().remove(loss);
  bench.world.links().set_port_down(Fabric::cable_of(link));
  const std::uint64_t before = bench.network.totals().delivered;
  bench.send(bench.near_pair(), 64);
  bench.run_for(milliseconds(1));
  EXPECT_EQ(bench.network.totals().delivered, before);
}

TEST(PacketNetwork, SelectiveLossSparesOtherPackets) {
  PacketBench bench;
  bench.world.links().add(bench.first_link(bench.near_pair()),
                          {.loss_ratio = 1.0, .packets = {.min_bytes = 1'000, .dscp = {}}});
  bench.send(bench.near_pair(), 999);
  bench.send(bench.near_pair(), 1'000);
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), 1u);
  EXPECT_EQ(bench.arrivals()[0].packet.payload_bytes, 999u);
}

TEST(PacketNetwork, MarksNothingBelowTheFirstThresholdAndAllBeyondTheSecond) {
  PacketBench bench({.queue_bytes = 1'000'000,
                     .ecn = {.min_bytes = 5 * 1'250, .max_bytes = 20 * 1'250, .max_ratio = 0.5}});
  constexpr std::size_t kPackets = 60;
  for (std::size_t i = 0; i < kPackets; ++i) {
    bench.send(bench.near_pair(), 1'250 - bench.kUdOverhead);
  }
  bench.run_for(milliseconds(1));
  ASSERT_EQ(bench.arrivals().size(), kPackets);
  std::size_t between = 0;
  for (std::size_t i = 0; i < kPackets; ++i) {
    const bool marked = bench.arrivals()[i].packet.congestion_experienced;
    // Packet i finds i - 1 waiting: packet 0 is on the wire.
    if (i <= 6) {
      EXPECT_FALSE(marked) << i;
    } else if (i > 21) {
      EXPECT_TRUE(marked) << i;
    } else {
      between += marked ? 1 : 0;
    }
  }
  EXPECT_GT(between, 0u);
  EXPECT_LT(between, 15u);
}

TEST(PacketNetwork, TooLittleHeadroomDrops) {
  PacketBench bench({.ecn = {.priorities = 0},
                     .pfc = {.priorities = 1u << kPriority,
                             .xoff_bytes = 20 * 1'250,
                             .xon_bytes = 10 * 1'250,
                             .headroom_bytes = 1'250}});
  for (int i = 0; i < 400; ++i) {
    bench.send({bench.rnic(0, 0), bench.rnic(0, 2)}, 1'250 - bench.kUdOverhead);
    bench.send({bench.rnic(0, 1), bench.rnic(0, 2)}, 1'250 - bench.kUdOverhead);
  }
  bench.run_for(milliseconds(1));
  EXPECT_GT(bench.network.totals().dropped_headroom, 0u);
  EXPECT_EQ(bench.arrivals().size() + bench.network.totals().dropped_headroom, 800u);
}

/// A slow link pauses its sender's switch, which pauses its own senders: hop by hop.
TEST(PacketNetwork, PauseSpreadsHopByHopAndStopsAnInnocentFlow) {
  const PacketModeOptions options{.ecn = {.priorities = 0},
                                  .pfc = {.priorities = 1u << kPriority,
                                          .xoff_bytes = 20'000,
                                          .xon_bytes = 10'000,
                                          .headroom_bytes = 100'000}};
  PacketBench bench(options);
  // Segment 1 sends to one RNIC of segment 0, all over the fabric.
  for (std::uint32_t h = 0; h < 4; ++h) {
    for (int i = 0; i < 300; ++i) {
      bench.send({bench.rnic(1, h), bench.rnic(0, 0)}, 4'000);
    }
  }
  bench.run_for(microseconds(60));
  const Fabric& fabric = bench.world.fabric();
  std::uint64_t down_pauses = 0;
  std::uint64_t up_pauses = 0;
  std::uint64_t host_pauses = 0;
  for (std::uint32_t a = 0; a < fabric.options().aggregation_switches; ++a) {
    const SwitchId near = fabric.tor(0, 0);
    const SwitchId far = fabric.tor(1, 0);
    down_pauses += bench.network.counters(Fabric::down(fabric.fabric_cable(near, a))).pauses;
    up_pauses += bench.network.counters(Fabric::up(fabric.fabric_cable(far, a))).pauses;
  }
  for (std::uint32_t h = 0; h < 4; ++h) {
    host_pauses += bench.network.counters(Fabric::up(fabric.access_cable(bench.rnic(1, h)))).pauses;
  }
  EXPECT_GT(down_pauses, 0u) << "aggregation switch to the victim's ToR";
  EXPECT_GT(up_pauses, 0u) << "the senders' ToR to the aggregation switch";
  EXPECT_GT(host_pauses, 0u) << "the senders themselves";
  bench.run_for(milliseconds(2));
  EXPECT_EQ(bench.arrivals().size(), 1'200u);
  EXPECT_EQ(bench.network.totals().dropped_headroom, 0u);
}

TEST(PacketNetwork, EveryPacketIsDeliveredDroppedOrInside) {
  PacketBench bench({.queue_bytes = 20'000});
  OpenLoop load(bench.network);
  for (std::uint32_t h = 0; h < 4; ++h) {
    load.start({.source = bench.rnic(1, h),
                .target = bench.rnic(0, 0),
                .source_port = static_cast<std::uint16_t>(50'000 + h),
                .payload_bytes = 1'110,
                .packets_per_s = 6e6,
                .to = kStartOfRun + milliseconds(1)});
  }
  bench.run_for(milliseconds(2));
  const PacketTotals& totals = bench.network.totals();
  EXPECT_GT(totals.dropped_tail, 0u);
  EXPECT_EQ(totals.injected, load.sent());
  EXPECT_EQ(totals.delivered, load.delivered());
  EXPECT_EQ(totals.injected, totals.delivered + totals.dropped_tail);
}

TEST(PacketNetwork, SameSeedGivesTheSameArrivals) {
  const auto run = [](std::uint64_t seed) {
    PacketBench bench({}, seed);
    bench.world.links().add(bench.first_link(bench.far_pair()),
                            {.loss_ratio = 0.05, .packets = {}});
    OpenLoop load(bench.network);
    load.start({.source = bench.far_pair().first,
                .target = bench.far_pair().second,
                .source_port = 50'000,
                .packets_per_s = 1e6});
    bench.run_for(milliseconds(5));
    return std::pair(load.sent(), load.delivered());
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

/// Poisson packets of one size at a merging link wait as M/D/1.
TEST(PacketNetwork, PoissonLoadWaitsAsPollaczekAndKhinchineSay) {
  for (const double utilisation : {0.5, 0.8}) {
    SCOPED_TRACE(utilisation);
    PacketBench bench;
    OpenLoop load(bench.network);
    // Three senders, so that no flow is limited by its own access link.
    for (std::uint32_t h = 1; h < 4; ++h) {
      load.start({.source = bench.rnic(0, h),
                  .target = bench.rnic(0, 0),
                  .source_port = 50'000,
                  .payload_bytes = 1'250 - bench.kUdOverhead,
                  .packets_per_s = utilisation / 3 * 1e7});
    }
    // Probes from the other segment: four empty links and the loaded one.
    std::vector<double> waits;
    const Duration idle = nanos(4 * 4 + 2'700) + nanos(96);
    for (int i = 0; i < 20'000; ++i) {
      bench.forget();
      const Time sent = bench.engine.now();
      bench.send({bench.rnic(1, 0), bench.rnic(0, 0)}, 64);
      bench.run_for(nanos(9'973));
      ASSERT_EQ(bench.arrivals().size(), 1u);
      waits.push_back(static_cast<double>((bench.arrivals()[0].at - sent - idle).count()));
    }
    const double base = *std::min_element(waits.begin(), waits.end());
    double sum = 0.0;
    for (const double wait : waits) {
      sum += wait - base;
    }
    const double expected =
        mean_wait_ns(equal_packets(utilisation, Bytes(1'250), BitsPerSecond(100'000'000'000)));
    // Senders' links smooth the flows a little: the mean may be below, never above the formula.
    EXPECT_NEAR(sum / static_cast<double>(waits.size()), expected, 0.1 * expected);
  }
}

}  // namespace
}  // namespace bonescan
