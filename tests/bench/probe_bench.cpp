// What one simulated probe costs: closed form, overlay state, load, and the window it ends in.
//
// 512 RNICs of a training job visit their 63 peers of the same rail in turn, one a second each, as
// a pipeline would ask them to.  An iteration is one second of the network; "per_probe" is the
// figure: submit, evaluate, collect, add to the window and close it, all in one.
#include "detectors/window/window_store.h"
#include "model/backend_sim/sim_probes.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWindowSeconds = 30;
/// By then every container is ready, and a sweep of 63 s has made every flow.
constexpr int kWarmUpSeconds = 200;

WorldOptions paper_512() {
  WorldOptions options;
  options.fabric = {.segments = 4, .hosts_per_segment = 16, .rails = 8, .aggregation_switches = 8};
  options.jobs = {{.name = "pretrain", .gpus = 512, .tp = 8, .pp = 8, .dp = 8}};
  return options;
}

/// The network, its probes, and who visits whom.
class Bench {
 public:
  Bench(std::uint8_t probes_per_visit, unsigned threads)
      : world_(paper_512(), engine_),
        endpoints_(world_),
        probes_(world_, endpoints_, ProbeEvaluation::kBatch, threads),
        count_(probes_per_visit) {
    const std::uint32_t rnics = world_.fabric().rnic_count();
    const std::uint32_t hosts = world_.fabric().host_count();
    for (std::uint32_t source = 0; source < rnics; ++source) {
      for (std::uint32_t step = 1; step < hosts; ++step) {
        const std::uint32_t target = (source + step * world_.fabric().options().rails) % rnics;
        pairs_.push_back({EndpointId(source), EndpointId(target)});
      }
    }
    targets_ = hosts - 1;
    for (int i = 0; i < kWarmUpSeconds; ++i) {
      turn();
    }
  }

  /// One second of the network; returns the number of probes.
  std::int64_t turn() {
    requests_.clear();
    const auto sources = static_cast<std::uint32_t>(pairs_.size()) / targets_;
    const Duration spacing = seconds(1) / count_;
    for (std::uint32_t source = 0; source < sources; ++source) {
      const std::uint32_t pair = source * targets_ + turn_ % targets_;
      requests_.push_back({.pair = PairId(pair),
                           .ends = pairs_[PairId(pair)],
                           .start = now_ + spacing * source / sources,
                           .spacing = spacing,
                           .timeout = milliseconds(500),
                           .source_port = static_cast<std::uint16_t>(49'152 + pair % 16'384),
                           .dscp = 26,
                           .count = count_});
    }
    probes_.submit(requests_);
    batch_.clear();
    probes_.collect(now_ + milliseconds(500), batch_);
    for (const Visit& visit : batch_.visits) {
      store_.add(visit.pair, batch_.rtts(visit));
    }
    if (++turn_ % kWindowSeconds == 0) {
      store_.close(window_);
    }
    now_ += seconds(1);
    return static_cast<std::int64_t>(batch_.rtt_ns.size());
  }

 private:
  Engine engine_;
  World world_;
  EndpointMap endpoints_;
  SimProbes probes_;
  std::uint8_t count_;
  PairTable pairs_;  ///< by source, then target
  std::uint32_t targets_ = 0;
  std::uint32_t turn_ = 0;
  Time now_;
  std::vector<ProbeRequest> requests_;
  ProbeBatch batch_;
  WindowStore store_;
  ClosedWindow window_;
};

benchmark::Counter time_per(std::int64_t probes) {
  return {static_cast<double>(probes), benchmark::Counter::kIsRate | benchmark::Counter::kInvert};
}

void probe_and_window(benchmark::State& state) {
  Bench bench(static_cast<std::uint8_t>(state.range(0)), 1);
  std::int64_t probes = 0;
  for (auto _ : state) {
    probes += bench.turn();
  }
  state.counters["per_probe"] = time_per(probes);
}

/// The arithmetic alone: one pair without traffic, path resolved once.
void single_evaluate_probe(benchmark::State& state) {
  Engine engine;
  World world(paper_512(), engine);
  engine.run_until(kStartOfRun + seconds(kWarmUpSeconds));
  const RnicId source = world.fabric().rnic(world.fabric().host(0, 1), 0);
  const RnicId target = world.fabric().rnic(world.fabric().host(2, 5), 0);
  const QuadId quad = world.flows().find_or_add(source, target, world.jobs());
  const ProbeSpec spec{.source = source, .target = target, .source_port = 50'000};
  const ProbeContext context{.spec = spec,
                             .path = resolve_path(world, spec),
                             .source_load = load_key(world, source),
                             .target_load = load_key(world, target)};
  LoadTimeline load;
  load.cover(world, engine.now(), engine.now() + seconds(1));
  Time now = engine.now();
  std::int64_t probes = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate_probe(world, load, context, world.flows()[quad], now));
    now += Duration(100);
    ++probes;
  }
  state.counters["per_probe"] = time_per(probes);
}

BENCHMARK(probe_and_window)
    ->ArgName("probes_per_visit")
    ->Arg(10)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(single_evaluate_probe);

}  // namespace
}  // namespace bonescan
