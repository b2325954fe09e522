// Pauses that spread, as a fluid and as packets: what a bystander waits for.
#include "model/packet_mode/open_loop.h"
#include "model/workload/link_loads.h"
#include "tests/support/packet_bench.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::PacketBench;

constexpr double kShare = 0.4;
constexpr std::uint32_t kProbeBytes = 60;

/// Three hosts of segment 1 offer 120 % of the link of host 0-0; the fourth probes host 0-1.
class Bystander : public testing::Test {
 protected:
  Bystander() : bench_({.ecn = {.priorities = 0}, .pfc = {.priorities = 1u << 3}}) {
    const LinkPath way = path(bench_.rnic(1, 3), bench_.rnic(0, 1), bench_.port);
    // The first two share the bystander's aggregation switch, the third takes the other.
    for (std::uint32_t h = 0; h < 3; ++h) {
      std::uint16_t port = 50'000;
      const auto shares = [&] {
        return path(bench_.rnic(1, h), bench_.rnic(0, 0), port).links[1] == way.links[1];
      };
      while (shares() != (h < 2)) {
        ++port;
      }
      ports_.push_back(port);
    }
  }

  LinkPath path(RnicId source, RnicId target, std::uint16_t port) const {
    return resolve_path(bench_.world, {.source = source, .target = target, .source_port = port})
        .request;
  }

  /// Mean one-way time of the bystander's packets beyond that of an idle network, as packets.
  double packets_wait_ns() {
    OpenLoop load(bench_.network);
    for (std::uint32_t h = 0; h < 3; ++h) {
      load.start({.source = bench_.rnic(1, h),
                  .target = bench_.rnic(0, 0),
                  .source_port = ports_[h],
                  .packets_per_s = kShare * 12.5e9 / (PacketBench::kUdOverhead + 4'096)});
    }
    bench_.run_for(milliseconds(2));  // Queues fill.
    bench_.forget();
    std::vector<Time> sent;
    for (int i = 0; i < 1'000; ++i) {
      sent.push_back(bench_.engine.now());
      bench_.send({bench_.rnic(1, 3), bench_.rnic(0, 1)}, kProbeBytes);
      bench_.run_for(microseconds(13));
    }
    bench_.run_for(milliseconds(1));
    EXPECT_EQ(bench_.arrivals().size(), sent.size());
    double sum = 0.0;
    for (const PacketBench::Arrival& arrival : bench_.arrivals()) {
      sum += static_cast<double>((arrival.at - sent[arrival.packet.psn]).count());
    }
    Duration idle{};
    const LinkPath way = path(bench_.rnic(1, 3), bench_.rnic(0, 1), bench_.port);
    for (const LinkId link : way.span()) {
      idle += bench_.network.link_time(link, PacketBench::kUdOverhead + kProbeBytes);
    }
    return sum / static_cast<double>(sent.size()) - static_cast<double>(idle.count());
  }

  double fluid_wait_ns() const {
    WorldOptions options = PacketBench::world_options(1);
    options.load.model = LoadModel::kLinks;
    options.load.congestion.control = CongestionControl::kOff;
    for (std::uint32_t h = 0; h < 3; ++h) {
      options.load.flows.push_back({.source = bench_.rnic(1, h),
                                    .target = bench_.rnic(0, 0),
                                    .rate_share = kShare,
                                    .wire_bytes = PacketBench::kUdOverhead + 4'096,
                                    .source_port = ports_[h]});
    }
    Engine engine;
    const World world(options, engine);
    LinkLoads loads;
    loads.cover(world, kStartOfRun, kStartOfRun + milliseconds(20));
    const LinkPath there = path(bench_.rnic(1, 3), bench_.rnic(0, 1), bench_.port);
    Time until = kNever;
    const LinkPath back;
    return loads.along({there, back, PacketBench::kUdOverhead + kProbeBytes}, kStartOfRun, until)
        .mean_ns();
  }

  PacketBench bench_;
  std::vector<std::uint16_t> ports_;
};

TEST_F(Bystander, WaitsAsLongInTheFluidAsAmongPackets) {
  const double packets_ns = packets_wait_ns();
  const double fluid_ns = fluid_wait_ns();
  RecordProperty("packets_us", std::to_string(packets_ns / 1e3));
  RecordProperty("fluid_us", std::to_string(fluid_ns / 1e3));
  EXPECT_GT(packets_ns, 10'000.0) << "a flow that goes elsewhere is late by tens of microseconds";
  EXPECT_NEAR(fluid_ns, packets_ns, 0.1 * packets_ns);
}

}  // namespace
}  // namespace bonescan
