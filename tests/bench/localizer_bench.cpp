// The localizer on a trace of 50,000 flows, and on 300,000 probed pairs with three faults at once.
#include "detectors/localize/fault_search.h"
#include "tests/support/flow_traces.h"
#include "tests/support/leaf_spine.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <malloc.h>
#include <vector>

namespace bonescan {
namespace {

double allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd);
}

void flow_trace(benchmark::State& state) {
  const auto trace = test::draw_flow_trace(
      static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)), 1);
  const std::vector<PathEvidence> evidence = trace.evidence();
  FaultSearch search;
  std::size_t accused = 0;
  for (auto _ : state) {
    const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
    accused = found.size();
    benchmark::DoNotOptimize(found.data());
  }
  state.counters["accused"] = static_cast<double>(accused);
}

BENCHMARK(flow_trace)->Args({50'000, 0})->Args({50'000, 8})->Unit(benchmark::kMillisecond);

/// Round trips on a leaf-spine of 64 leaves with 16 hosts: 1,024 hosts, some 300 targets each.
void probed_pairs(benchmark::State& state) {
  const auto pairs = static_cast<std::uint32_t>(state.range(0));
  const test::LeafSpine fabric(64, 16, 16);
  std::vector<TracedPath> paths;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const PhiloxCounter bits = RngStream(1, Purpose::kTest, i).block(0);
    const std::uint32_t source = i % fabric.host_count();
    const std::uint32_t target =
        (source + 1 + bits[0] % (fabric.host_count() - 1)) % fabric.host_count();
    paths.push_back({fabric.one_way(source, target, bits[1] % 16),
                     fabric.one_way(target, source, bits[2] % 16)});
  }
  const std::vector<test::BrokenLink> broken{{{fabric.fabric(3, 5), LinkDirection::kUp}, 0.05},
                                             {{fabric.fabric(40, 11), LinkDirection::kDown}, 1.0},
                                             {{fabric.access(700), LinkDirection::kUp}, 0.02}};
  const auto evidence = test::draw_evidence(paths, 60, 1e-5, broken, 1);
  const double before = allocated_bytes();
  FaultSearch search;
  std::size_t accused = search.localize(evidence, Symptom::kLoss).size();
  // What the search keeps from call to call; the evidence is the caller's.
  state.counters["buffer_bytes_per_pair"] = (allocated_bytes() - before) / pairs;
  for (auto _ : state) {
    const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
    accused = found.size();
    benchmark::DoNotOptimize(found.data());
  }
  state.counters["accused"] = static_cast<double>(accused);
  state.SetItemsProcessed(state.iterations() * pairs);
}

BENCHMARK(probed_pairs)->Arg(300'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bonescan
