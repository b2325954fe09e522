#include "model/packet_mode/reliable_flow.h"

#include "model/packet_mode/open_loop.h"
#include "tests/support/packet_bench.h"

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::PacketBench;

ReliableFlowOptions flow(const PacketBench& bench, std::uint32_t packets) {
  ReliableFlowOptions options;
  options.source = bench.far_pair().first;
  options.target = bench.far_pair().second;
  options.source_port = 50'000;
  options.packets = packets;
  return options;
}

TEST(ReliableFlow, DeliversEverythingOnceAtItsRate) {
  PacketBench bench;
  ReliableFlows flows(bench.network);
  ReliableFlowOptions options = flow(bench, 1'000);
  options.rate = BitsPerSecond(50'000'000'000);
  const std::uint32_t id = flows.start(options);
  bench.run_for(milliseconds(5));
  ASSERT_TRUE(flows.done(id));
  EXPECT_EQ(flows.counters(id).sent, 1'000u);
  EXPECT_EQ(flows.counters(id).accepted, 1'000u);
  EXPECT_EQ(flows.counters(id).packet_seq_err, 0u);
  // 999 gaps at 50 Gb/s, and one round trip.
  const Duration gap = serialization_time(
      Bytes(wire_bytes(PacketKind::kRcWrite, options.payload_bytes)), options.rate);
  const Duration took = flows.finished_at(id) - kStartOfRun;
  EXPECT_GE(took, 999 * gap);
  EXPECT_LE(took, 999 * gap + microseconds(10));
}

TEST(ReliableFlow, WindowLimitsWhatIsUnderWay) {
  PacketBench bench;
  ReliableFlows flows(bench.network);
  ReliableFlowOptions options = flow(bench, 100);
  options.window_packets = 1;
  options.ack_every = 1;
  const std::uint32_t id = flows.start(options);
  bench.run_for(milliseconds(5));
  ASSERT_TRUE(flows.done(id));
  // One packet a round trip: four links each way, 2.7 us of propagation each.
  const Duration way =
      4 * serialization_time(Bytes(wire_bytes(PacketKind::kRcWrite, options.payload_bytes)),
                             options.rate);
  EXPECT_GE(flows.finished_at(id) - kStartOfRun, 100 * (way + microseconds(5)));
}

TEST(ReliableFlow, GoesBackToTheFirstMissingPacketAfterALoss) {
  PacketBench bench;
  ReliableFlows flows(bench.network);
  const LinkId link = bench.first_link(bench.far_pair());
  const std::uint32_t id = flows.start(flow(bench, 1'000));
  bench.run_for(microseconds(20));
  const ImpairmentId loss = bench.world.links().add(link, {.loss_ratio = 1.0, .packets = {}});
  bench.run_for(microseconds(1));
  bench.world.links().remove(loss);
  bench.run_for(milliseconds(10));
  ASSERT_TRUE(flows.done(id));
  const ReliableFlowCounters& counters = flows.counters(id);
  EXPECT_EQ(counters.accepted, 1'000u);
  EXPECT_EQ(counters.packet_seq_err, 1u) << "one NAK a gap";
  EXPECT_GT(counters.out_of_sequence, 0u);
  EXPECT_EQ(counters.local_ack_timeout_err, 0u);
  // What was under way when the NAK came back was sent again.
  EXPECT_EQ(counters.sent, 1'000u + counters.out_of_sequence + bench.network.totals().dropped_wire);
}

TEST(ReliableFlow, ManyLossesDelayButDeliver) {
  PacketBench bench;
  bench.world.links().add(bench.first_link(bench.far_pair()), {.loss_ratio = 0.01, .packets = {}});
  ReliableFlows flows(bench.network);
  const std::uint32_t id = flows.start(flow(bench, 5'000));
  bench.run_for(milliseconds(500));
  ASSERT_TRUE(flows.done(id));
  EXPECT_EQ(flows.counters(id).accepted, 5'000u);
  EXPECT_GT(flows.counters(id).packet_seq_err, 20u);
}

TEST(ReliableFlow, LostTailIsSentAgainAfterTheTimeout) {
  PacketBench bench;
  ReliableFlows flows(bench.network);
  const LinkId link = bench.first_link(bench.far_pair());
  ReliableFlowOptions options = flow(bench, 4);
  const ImpairmentId loss = bench.world.links().add(link, {.loss_ratio = 1.0, .packets = {}});
  const std::uint32_t id = flows.start(options);
  bench.run_for(milliseconds(1));
  bench.world.links().remove(loss);
  bench.run_for(milliseconds(10));
  ASSERT_TRUE(flows.done(id));
  EXPECT_EQ(flows.counters(id).local_ack_timeout_err, 1u);
  EXPECT_GE(flows.finished_at(id) - kStartOfRun, options.timeout);
}

TEST(ReliableFlow, GivesUpAfterItsRetries) {
  PacketBench bench;
  ReliableFlows flows(bench.network);
  bench.world.links().set_port_down(Fabric::cable_of(bench.first_link(bench.far_pair())));
  const ReliableFlowOptions options = flow(bench, 4);
  const std::uint32_t id = flows.start(options);
  bench.run_for(milliseconds(31));
  EXPECT_FALSE(flows.failed(id)) << "seven retries are under way";
  bench.run_for(milliseconds(2));
  EXPECT_TRUE(flows.failed(id));
  EXPECT_EQ(flows.counters(id).local_ack_timeout_err, options.retry_limit + 1u);
}

TEST(ReliableFlow, ReceiverTellsTheSenderOfCongestionAtMostOncePerGap) {
  PacketBench bench({.ecn = {.min_bytes = 20'000, .max_bytes = 40'000, .max_ratio = 0.5}});
  ReliableFlows flows(bench.network);
  ReliableFlowOptions options = flow(bench, 2'000);
  options.target = bench.rnic(0, 2);
  ReliableFlowOptions other = options;
  other.source = bench.rnic(0, 1);
  const std::uint32_t id = flows.start(options);
  flows.start(other);
  bench.run_for(milliseconds(20));
  ASSERT_TRUE(flows.done(id));
  EXPECT_GT(flows.counters(id).cnp_sent, 1u);
  EXPECT_EQ(flows.counters(id).cnp_sent, flows.counters(id).cnp_handled);
  const auto most = (flows.finished_at(id) - kStartOfRun) / options.cnp_gap + 1;
  EXPECT_LE(flows.counters(id).cnp_sent, static_cast<std::uint64_t>(most));
}

}  // namespace
}  // namespace bonescan
