// What a packet costs in the packet mode, and what a probe costs beside the closed form.
//
// "packets": a leaf-spine of 16, 64 or 256 hosts with 30 % open-loop load; "probes": one probe a
// millisecond and host of the same fabric without load, request and answer, through megaflows and
// agent.  Both count simulated packets and probes per second of CPU.
#include "model/backend_sim/packet_probes.h"
#include "model/packet_mode/open_loop.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

WorldOptions leaf_spine(std::uint32_t hosts) {
  WorldOptions options;
  options.fabric = {.segments = hosts / 4,
                    .hosts_per_segment = 4,
                    .rails = 1,
                    .aggregation_switches = 4,
                    .link_rate = BitsPerSecond(100'000'000'000)};
  options.jobs = {{.gpus = hosts, .tp = 1, .pp = 1, .dp = hosts, .ready_spread = Duration(0)}};
  return options;
}

void packets(benchmark::State& state) {
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  Engine engine;
  World world(leaf_spine(hosts), engine);
  PacketNetwork network(world, {});
  OpenLoop load(network);
  for (std::uint32_t h = 0; h < hosts; ++h) {
    load.start({.source = RnicId(h),
                .target = RnicId((h + 7) % hosts),
                .source_port = 50'000,
                .payload_bytes = 1'110,
                .packets_per_s = 3e6});
  }
  const std::uint64_t before = engine.processed();
  for (auto _ : state) {
    engine.run_until(engine.now() + microseconds(10));
  }
  state.counters["packets_per_s"] = benchmark::Counter(
      static_cast<double>(network.totals().delivered), benchmark::Counter::kIsRate);
  state.counters["events_per_packet"] = static_cast<double>(engine.processed() - before) /
                                        static_cast<double>(network.totals().delivered);
}

void probes(benchmark::State& state) {
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  Engine engine;
  World world(leaf_spine(hosts), engine);
  const EndpointMap endpoints(world);
  PacketProbes probing(world, endpoints, {});
  probing.advance(kStartOfRun + std::chrono::seconds(1));
  std::uint64_t answered_count = 0;
  ProbeBatch batch;
  std::vector<ProbeRequest> requests;
  for (auto _ : state) {
    const Time now = engine.now();
    requests.clear();
    for (std::uint32_t h = 0; h < hosts; ++h) {
      requests.push_back({.pair = PairId(h),
                          .ends = {EndpointId(h), EndpointId((h + 5) % hosts)},
                          .start = now + Duration(997) * h,
                          .spacing = milliseconds(1),
                          .timeout = milliseconds(5),
                          .source_port = 51'000,
                          .dscp = 26,
                          .count = 10});
    }
    probing.submit(requests);
    batch.clear();
    probing.collect(now + milliseconds(16), batch);
    answered_count += batch.rtt_ns.size();
  }
  state.counters["probes_per_s"] =
      benchmark::Counter(static_cast<double>(answered_count), benchmark::Counter::kIsRate);
}

BENCHMARK(packets)->ArgName("hosts")->Arg(16)->Arg(64)->Arg(256)->Unit(benchmark::kMicrosecond);
BENCHMARK(probes)->ArgName("hosts")->Arg(16)->Arg(64)->Arg(256)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bonescan
