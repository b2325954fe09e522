// The packet mode behind the seam: what it shares with the closed form, and what only it shows.
#include "model/backend_sim/packet_probes.h"

#include "model/backend_sim/sim_probes.h"
#include "model/latency/queueing.h"
#include "model/packet_mode/open_loop.h"
#include "tests/support/small_world.h"

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::at_ms;

WorldOptions without_job_load() {
  WorldOptions options = test::small_world_options();
  options.latency.load_queue_mean = Duration(0);
  return options;
}

/// Same-rail visits of every pair, ten probes each.
std::vector<ProbeRequest> visits(const EndpointMap& endpoints, Time start) {
  std::vector<ProbeRequest> requests;
  const auto count = static_cast<std::uint32_t>(endpoints.directory().size());
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = 0; b < count; ++b) {
      if (a != b && (a + b) % 2 == 0) {
        requests.push_back({.pair = PairId(a * count + b),
                            .ends = {EndpointId(a), EndpointId(b)},
                            .start = start + microseconds(137) * (a * count + b),
                            .spacing = milliseconds(20),
                            .timeout = milliseconds(500),
                            .source_port = static_cast<std::uint16_t>(50'000 + a * count + b),
                            .payload_bytes = 64,
                            .dscp = 26,
                            .count = 10});
      }
    }
  }
  return requests;
}

template <class Probing>
ProbeBatch run(Probing& probes, const EndpointMap& endpoints, int rounds) {
  ProbeBatch batch;
  for (int round = 0; round < rounds; ++round) {
    probes.submit(visits(endpoints, at_ms(1'000 + 1'000 * round)));
    probes.collect(at_ms(2'000 + 1'000 * round), batch);
  }
  return batch;
}

/// Both ways, every link: what the packet mode adds to the closed form in an idle network.
std::uint32_t serialization_ns(const World& world,
                               const Visit& visit,
                               const EndpointMap& map,
                               const ProbeRequest& request) {
  const ProbePath path = resolve_path(world,
                                      {.source = map.rnic(request.ends.source),
                                       .target = map.rnic(request.ends.target),
                                       .source_port = visit.source_port});
  const Duration one =
      serialization_time(Bytes(wire_bytes(PacketKind::kUdRequest, visit.payload_bytes)),
                         world.fabric().options().link_rate);
  return static_cast<std::uint32_t>(((path.request.count + path.answer.count) * one).count());
}

TEST(PacketProbes, IdleNetworkTakesTheClosedFormAndItsSerialization) {
  test::SmallWorld closed(without_job_load());
  const EndpointMap closed_map(closed.world);
  SimProbes closed_probes(closed.world, closed_map, ProbeEvaluation::kBatch, 1);
  const ProbeBatch expected = run(closed_probes, closed_map, 3);

  test::SmallWorld packets(without_job_load());
  const EndpointMap map(packets.world);
  PacketProbes probes(packets.world, map, {});
  const ProbeBatch found = run(probes, map, 3);

  const std::vector<ProbeRequest> requests = visits(map, at_ms(0));
  ASSERT_EQ(found.visits.size(), expected.visits.size());
  ASSERT_EQ(found.visits.size(), 3 * requests.size());
  for (std::size_t v = 0; v < found.visits.size(); ++v) {
    const Visit& visit = found.visits[v];
    ASSERT_EQ(visit.pair, expected.visits[v].pair);
    const auto request = std::find_if(
        requests.begin(), requests.end(), [&](const auto& one) { return one.pair == visit.pair; });
    const std::uint32_t added = serialization_ns(packets.world, visit, map, *request);
    for (std::size_t i = 0; i < visit.count; ++i) {
      const std::uint32_t rtt = found.rtts(visit)[i];
      const std::uint32_t fast = expected.rtts(expected.visits[v])[i];
      SCOPED_TRACE(testing::Message() << "visit " << v << " probe " << i);
      ASSERT_EQ(answered(rtt), answered(fast));
      // Two packets may meet on a link; half a nanosecond of rounding at either end.
      ASSERT_NEAR(static_cast<double>(rtt), static_cast<double>(fast + added), 20.0);
    }
  }
}

TEST(PacketProbes, ProbesWaitBehindTheLoadOfTheirPath) {
  test::SmallWorld small(without_job_load());
  const EndpointMap map(small.world);
  PacketProbes probes(small.world, map, {});
  // 80 % of the 400 Gb/s access link of the target.
  OpenLoop load(probes.network());
  constexpr std::uint32_t kPayload = 4'096;
  const std::uint32_t wire = wire_bytes(PacketKind::kUdLoad, kPayload);
  const RnicId target = map.rnic(EndpointId(2));
  for (const std::uint32_t source : {0u, 4u, 6u}) {
    load.start({.source = map.rnic(EndpointId(source)),
                .target = target,
                .source_port = 51'000,
                .payload_bytes = kPayload,
                .packets_per_s = 0.8 / 3 * 400e9 / 8 / wire,
                .from = at_ms(1),
                .to = at_ms(30)});
  }
  const auto visit = [&](std::uint32_t pair, Time start) {
    const ProbeRequest request{.pair = PairId(pair),
                               .ends = {EndpointId(0), EndpointId(2)},
                               .start = start,
                               .spacing = microseconds(97),
                               .timeout = milliseconds(10),
                               .source_port = 50'001,
                               .dscp = 26,
                               .count = 200};
    probes.submit(std::span(&request, 1));
  };
  visit(0, at_ms(2));
  visit(1, at_ms(40));
  ProbeBatch batch;
  probes.collect(at_ms(100), batch);
  ASSERT_EQ(batch.visits.size(), 2u);
  const auto median = [&](const Visit& v) {
    const auto column = batch.rtts(v);
    std::vector<std::uint32_t> sorted(column.begin(), column.end());
    std::sort(sorted.begin(), sorted.end());
    return static_cast<double>(sorted[sorted.size() / 2]);
  };
  const double quiet = median(batch.visits[1]);
  const double loaded = median(batch.visits[0]);
  // At least the median wait of one loaded link.
  const double wait =
      wait_quantile_ns(equal_packets(0.8, Bytes(wire), BitsPerSecond(400'000'000'000)), 0.5);
  EXPECT_GT(loaded, quiet + 0.5 * wait);
  EXPECT_LT(loaded, quiet + 4.0 * wait + 100.0);
}

TEST(PacketProbes, AnswerBehindTheTimeoutIsLost) {
  test::SmallWorld small(without_job_load());
  const EndpointMap map(small.world);
  PacketProbes probes(small.world, map, {});
  small.world.links().add(LinkId(0), {.delay = milliseconds(20), .packets = {}});
  const ProbeRequest request{.pair = PairId(0),
                             .ends = {EndpointId(0), EndpointId(2)},
                             .start = at_ms(10),
                             .spacing = milliseconds(1),
                             .timeout = milliseconds(5),
                             .source_port = 50'001,
                             .count = 3};
  probes.submit(std::span(&request, 1));
  ProbeBatch batch;
  probes.collect(at_ms(16), batch);
  EXPECT_TRUE(batch.visits.empty());
  probes.collect(at_ms(17), batch);
  ASSERT_EQ(batch.visits.size(), 1u);
  EXPECT_EQ(batch.rtt_ns, std::vector<std::uint32_t>(3, kLostRtt));
  probes.submit(std::span(&request, 0));
  probes.collect(at_ms(100), batch);
  EXPECT_EQ(batch.visits.size(), 1u) << "late packets belong to nobody";
}

}  // namespace
}  // namespace bonescan
