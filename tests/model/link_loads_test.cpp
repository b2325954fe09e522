#include "model/workload/link_loads.h"

#include "model/packet_mode/packet.h"
#include "model/workload/job_flows.h"
#include "tests/support/small_world.h"

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::SmallWorld;

constexpr double kWireBytes = 125.0;  ///< 10 ns at 100 Gb/s

/// Eight RNICs, tp 2, dp 2, pp 2; bursts of 1.6 s every 8 s.
WorldOptions loaded_options() {
  WorldOptions options = test::small_world_options();
  options.load.model = LoadModel::kLinks;
  options.latency.spike_ratio = 0.0;
  return options;
}

/// No job, 100 Gb/s.
WorldOptions idle_options() {
  WorldOptions options = loaded_options();
  options.fabric.link_rate = BitsPerSecond(100'000'000'000);
  options.load.ring_rate = BitsPerSecond(0);
  options.load.pipeline_rate = BitsPerSecond(0);
  return options;
}

RnicId rnic(const World& world, std::uint32_t segment, std::uint32_t host, std::uint32_t rail) {
  return world.fabric().rnic(world.fabric().host(segment, host), rail);
}

LinkId up_of(const World& world, RnicId id) {
  return Fabric::up(world.fabric().access_cable(id));
}

LinkId down_of(const World& world, RnicId id) {
  return Fabric::down(world.fabric().access_cable(id));
}

LinkLoads covered(const World& world, Time from, Duration length = seconds(1)) {
  LinkLoads loads;
  loads.cover(world, from, from + length);
  return loads;
}

PathLoad along(const LinkLoads& loads, const World& world, RnicId source, RnicId target, Time at) {
  Time until = kNever;
  const ProbePath path =
      resolve_path(world, {.source = source, .target = target, .source_port = 50'000});
  return loads.along({path.request, path.answer, kWireBytes}, at, until);
}

TEST(JobFlows, AreThePairsThatExchangeTraffic) {
  const SmallWorld small;
  const Job& job = small.world.jobs()[0];
  const std::vector<JobFlow> flows = job_flows(job, small.world.fabric());
  ASSERT_EQ(flows.size(), 16u) << "a ring and a pipeline neighbour for each of eight";
  for (const JobFlow& flow : flows) {
    EXPECT_EQ(flow.kind, job.traffic(flow.source, flow.target));
    EXPECT_EQ(flow.stage, job.coordinate(flow.source)->pipeline);
  }
}

TEST(LinkLoads, RingsLoadTheirLinksWhileTheirStageBursts) {
  SmallWorld small(loaded_options());
  small.run_until(kStartOfRun + seconds(20));
  const Job& job = small.world.jobs()[0];
  const RnicId source = rnic(small.world, 0, 0, 0);
  const std::uint32_t stage = job.coordinate(source)->pipeline;
  const TimeSpan burst = job.burst_ending_after(stage, small.now());
  const double ring = 15.0 / 400.0;
  const double pipeline = 0.015 / 400.0;
  const LinkLoads loads = covered(small.world, burst.from - milliseconds(1), seconds(3));
  for (const LinkId link : {up_of(small.world, source), down_of(small.world, source)}) {
    EXPECT_NEAR(loads.state(link, burst.from).utilisation, ring + pipeline, 1e-12);
    EXPECT_NEAR(loads.state(link, burst.from - Duration(1)).utilisation, pipeline, 1e-12);
    EXPECT_NEAR(loads.state(link, burst.to).utilisation, pipeline, 1e-12);
  }
  Time until = kNever;
  const ProbePath path = resolve_path(
      small.world, {.source = source, .target = rnic(small.world, 1, 0, 1), .source_port = 50'000});
  loads.along({path.request, path.answer, kWireBytes}, burst.from - Duration(1), until);
  EXPECT_EQ(until, burst.from) << "nothing changes before, and something does then";
}

TEST(LinkLoads, NothingIsSentBeforeTheJobRuns) {
  WorldOptions options = loaded_options();
  options.jobs[0].start = seconds(100);
  SmallWorld small(options);
  const LinkLoads loads = covered(small.world, kStartOfRun, seconds(99));
  EXPECT_EQ(loads.state(up_of(small.world, rnic(small.world, 0, 0, 0)), kStartOfRun).utilisation,
            0.0);
}

TEST(LinkLoads, AnOfferedFlowMakesOthersWaitWhereTheyMeet) {
  WorldOptions options = idle_options();
  SmallWorld bare(options);
  const RnicId source = rnic(bare.world, 0, 0, 0);
  const RnicId target = rnic(bare.world, 0, 1, 0);
  options.load.flows = {
      {.source = source, .target = target, .rate_share = 0.5, .wire_bytes = 1'250}};
  SmallWorld small(options);
  const LinkLoads loads = covered(small.world, kStartOfRun);
  EXPECT_DOUBLE_EQ(loads.state(down_of(small.world, target), kStartOfRun).utilisation, 0.5);
  // From the same host: as M/D/1 at the first link, half a packet of 100 ns; at the second it
  // catches up by 90 ns with the packet that it follows at once, or with one a little before.
  const PathLoad same = along(loads, small.world, source, target, kStartOfRun);
  EXPECT_NEAR(same.queues[0].mean_ns, 50.0 + 0.5 * 90.0 * (1.0 + 0.5 * 0.45), 1e-9);
  EXPECT_EQ(same.queues[1].mean_ns, 0.0) << "the way back is free";
  // From elsewhere: what is left of the packet that is being sent.
  const PathLoad other = along(loads, small.world, rnic(small.world, 1, 0, 0), target, kStartOfRun);
  EXPECT_NEAR(other.queues[0].mean_ns, 25.0, 1e-9);
  EXPECT_NEAR(other.queues[0].idle_ratio, 0.5, 1e-12);
}

TEST(LinkLoads, LoadFollowsItsFlowToAnotherWay) {
  WorldOptions options = idle_options();
  SmallWorld bare(options);
  const RnicId source = rnic(bare.world, 0, 0, 0);
  const RnicId target = rnic(bare.world, 1, 0, 0);
  options.load.flows = {{.source = source,
                         .target = target,
                         .rate_share = 0.4,
                         .wire_bytes = 1'250,
                         .source_port = std::uint16_t{50'000}}};
  SmallWorld small(options);
  const ProbeSpec spec{.source = source, .target = target, .source_port = 50'000};
  const LinkId first = resolve_path(small.world, spec).request.links[1];
  LinkLoads loads = covered(small.world, kStartOfRun);
  EXPECT_DOUBLE_EQ(loads.state(first, kStartOfRun).utilisation, 0.4);
  small.world.set_port_down(Fabric::cable_of(first));
  small.run_for(seconds(2));
  loads.cover(small.world, small.now(), small.now() + seconds(1));
  EXPECT_EQ(loads.state(first, small.now()).utilisation, 0.0);
  const LinkId second = resolve_path(small.world, spec).request.links[1];
  ASSERT_NE(first, second);
  EXPECT_DOUBLE_EQ(loads.state(second, small.now()).utilisation, 0.4);
}

/// Everything of rail 0 to one RNIC: three flows of 60 % from their hosts.
WorldOptions overloaded_options() {
  WorldOptions options = idle_options();
  SmallWorld bare(options);
  const RnicId target = rnic(bare.world, 0, 0, 0);
  for (const auto& [segment, host] : {std::pair{0u, 1u}, std::pair{1u, 0u}, std::pair{1u, 1u}}) {
    options.load.flows.push_back({.source = rnic(bare.world, segment, host, 0),
                                  .target = target,
                                  .rate_share = 0.6,
                                  .from = kStartOfRun + seconds(10),
                                  .to = kStartOfRun + seconds(20)});
  }
  return options;
}

TEST(LinkLoads, AnOverloadedQueueIsHeldByMarksUnlessItsSwitchDoesNotMark) {
  SmallWorld small(overloaded_options());
  const RnicId target = rnic(small.world, 0, 0, 0);
  const RnicId sender = rnic(small.world, 0, 1, 0);
  const LinkId hot = down_of(small.world, target);
  const Time during = kStartOfRun + seconds(15);
  LinkLoads loads;
  loads.cover(small.world, kStartOfRun, kStartOfRun + seconds(30));
  EXPECT_EQ(loads.state(hot, kStartOfRun).wait_ns, 0.0);
  EXPECT_EQ(loads.state(hot, kStartOfRun).mark_ratio, 0.0);
  EXPECT_GT(loads.state(hot, during).mark_ratio, 0.0);
  EXPECT_EQ(loads.state(up_of(small.world, sender), during).pause_ratio, 0.0);
  const double held_ns = loads.state(hot, during).wait_ns;

  small.world.queue_control().switch_off(small.world.fabric().tor_of(target));
  loads.cover(small.world, kStartOfRun, kStartOfRun + seconds(30));
  EXPECT_EQ(loads.state(hot, kStartOfRun).wait_ns, 0.0) << "only while there is load";
  EXPECT_EQ(loads.state(hot, during).mark_ratio, 0.0);
  EXPECT_GT(loads.state(up_of(small.world, sender), during).pause_ratio, 0.3);
  // A neighbour that has nothing to do with it waits as well: its host's port is paused.
  const PathLoad victim = along(loads, small.world, sender, rnic(small.world, 1, 1, 1), during);
  EXPECT_GT(victim.mean_ns(), 1'000.0);
  small.world.queue_control().switch_on(small.world.fabric().tor_of(target));
  loads.cover(small.world, kStartOfRun, kStartOfRun + seconds(30));
  EXPECT_DOUBLE_EQ(loads.state(hot, during).wait_ns, held_ns) << "as before";
}

TEST(LinkLoads, AFullBufferLosesProbes) {
  WorldOptions options = overloaded_options();
  options.load.congestion.control = CongestionControl::kOff;
  options.load.congestion.flow_control = FlowControl::kOff;
  SmallWorld small(options);
  const LinkLoads loads = covered(small.world, kStartOfRun + seconds(15));
  const PathLoad met = along(loads,
                             small.world,
                             rnic(small.world, 0, 1, 1),
                             rnic(small.world, 0, 0, 0),
                             kStartOfRun + seconds(15));
  EXPECT_NEAR(met.request_pass, 1.0 / 1.8, 1e-9);
  EXPECT_NEAR(met.round_pass, 1.0 / 1.8, 1e-9);
}

TEST(LinkLoads, ALinkThatLosesItsLanesIsMoreLoaded) {
  WorldOptions options = idle_options();
  SmallWorld bare(options);
  const RnicId target = rnic(bare.world, 0, 1, 0);
  options.load.flows = {{.source = rnic(bare.world, 0, 0, 0), .target = target, .rate_share = 0.4}};
  SmallWorld small(options);
  LinkImpairment half;
  half.capacity_ratio = 0.5;
  small.world.links().add(down_of(small.world, target), half);
  const LinkLoads loads = covered(small.world, kStartOfRun);
  EXPECT_DOUBLE_EQ(loads.state(down_of(small.world, target), kStartOfRun).utilisation, 0.8);
}

/// Without load the two models differ by the time that a probe's bytes take, and by nothing else.
TEST(LinkLoads, WithoutLoadOnlySerializationIsAdded) {
  WorldOptions with = idle_options();
  WorldOptions without = with;
  without.load.model = LoadModel::kQueueMean;
  without.latency.load_queue_mean = Duration(0);
  SmallWorld loaded(with);
  SmallWorld plain(without);
  const double hop_ns = wire_bytes(PacketKind::kUdRequest, 64) * 8 / 100.0;
  for (std::uint32_t s = 0; s < 8; ++s) {
    for (std::uint32_t t = 0; t < 8; ++t) {
      if (s / 2 == t / 2) {
        continue;
      }
      const ProbePath path = resolve_path(plain.world, plain.spec(RnicId(s), RnicId(t)));
      const Time at = std::max(plain.now(), kStartOfRun + seconds(20)) + milliseconds(7);
      const std::uint32_t a = loaded.probe(RnicId(s), RnicId(t), at);
      const std::uint32_t b = plain.probe(RnicId(s), RnicId(t), at);
      ASSERT_EQ(a == kNoAnswer, b == kNoAnswer);
      const double added = hop_ns * (path.request.count + path.answer.count);
      EXPECT_NEAR(static_cast<double>(a) - b, added, 1.0) << s << " to " << t;
    }
  }
}

/// @paper SkeletonHunter: a healthy pair takes 12 to 16 us; its target is below 20
TEST(LinkLoads, AHealthyPairOfOneRailTakesTwelveToSixteenMicroseconds) {
  WorldOptions options = loaded_options();
  SmallWorld small(options);
  std::vector<std::uint32_t> rtts;
  small.run_until(kStartOfRun + seconds(20));
  small.probe(rnic(small.world, 0, 0, 0), rnic(small.world, 0, 1, 0), small.now());
  small.run_for(seconds(3));  // Flows are offloaded.
  for (int i = 0; i < 4'000; ++i) {
    rtts.push_back(small.probe(
        rnic(small.world, 0, 0, 0), rnic(small.world, 0, 1, 0), small.now() + milliseconds(4)));
  }
  std::sort(rtts.begin(), rtts.end());
  EXPECT_GT(rtts[rtts.size() / 100], 10'000u);
  EXPECT_GT(rtts[rtts.size() / 2], 12'000u);
  EXPECT_LT(rtts[rtts.size() / 2], 16'000u);
  EXPECT_LT(rtts[rtts.size() * 99 / 100], 20'000u);
}

}  // namespace
}  // namespace bonescan
