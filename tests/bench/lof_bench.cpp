// Cost of the short-term test: features per sample, factors per second, one detector step per pair.
#include "detectors/shortterm/lof.h"
#include "detectors/shortterm/lof_batch.h"
#include "detectors/shortterm/shift_detector.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/window/features.h"
#include "detectors/window/window_store.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kHistory = 10;

double normal_at(const RngStream& stream, std::uint64_t n) {
  return normal_quantile(stream.open01_at(n));
}

std::vector<std::uint32_t> rtts_ns(std::size_t count) {
  const RngStream stream(1, Purpose::kTest, 0);
  std::vector<std::uint32_t> rtts(count);
  for (std::size_t i = 0; i < count; ++i) {
    rtts[i] = static_cast<std::uint32_t>(
        lognormal_quantile(stream.open01_at(i), 9.68, 0.08));  // about 16 us
  }
  return rtts;
}

void window_store_bench(benchmark::State& state) {
  const auto pairs = static_cast<std::size_t>(state.range(0));
  const auto visits = static_cast<std::size_t>(state.range(1));
  constexpr std::size_t kProbes = 10;
  const std::vector<std::uint32_t> rtts = rtts_ns(pairs * visits * kProbes);
  WindowStore store;
  ClosedWindow window;
  for (auto _ : state) {
    std::size_t row = 0;
    for (std::size_t visit = 0; visit < visits; ++visit) {
      for (std::size_t i = 0; i < pairs; ++i, row += kProbes) {
        // A stride that is prime to the number of pairs: a visit order unlike the pair order.
        const PairId pair(static_cast<std::uint32_t>(i * 7919 % pairs));
        store.add(pair, std::span(rtts).subspan(row, kProbes));
      }
    }
    store.close(window);
    benchmark::DoNotOptimize(window.features_us.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rtts.size()));
}

BENCHMARK(window_store_bench)
    ->ArgNames({"pairs", "visits"})
    ->Args({15000, 1})
    ->Args({15000, 2})
    ->Args({500, 30});

void window_features_bench(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::size_t windows = 100'000 / count;
  const std::vector<std::uint32_t> original = rtts_ns(windows * count);
  std::vector<std::uint32_t> rtts;
  for (auto _ : state) {
    rtts = original;
    for (std::size_t w = 0; w < windows; ++w) {
      benchmark::DoNotOptimize(window_features(std::span(rtts).subspan(w * count, count)));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(original.size()));
}

BENCHMARK(window_features_bench)->Arg(9)->Arg(10)->Arg(20)->Arg(30)->Arg(60)->Arg(300);

FeatureVector scaled_window(const RngStream& stream, std::uint64_t window) {
  FeatureVector features;
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    features[f] = normal_at(stream, window * kFeatureCount + f);
  }
  return features;
}

void lof_scalar_bench(benchmark::State& state) {
  constexpr std::size_t kPairs = 1000;
  const RngStream stream(1, Purpose::kTest, 1);
  std::vector<FeatureVector> windows;
  for (std::size_t w = 0; w < kPairs * (kHistory + 1); ++w) {
    windows.push_back(scaled_window(stream, w));
  }
  for (auto _ : state) {
    for (std::size_t p = 0; p < kPairs; ++p) {
      const auto mine = std::span(windows).subspan(p * (kHistory + 1), kHistory + 1);
      benchmark::DoNotOptimize(
          local_outlier_factor(mine.first(kHistory), mine.back(), LofOptions{}));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPairs));
}

BENCHMARK(lof_scalar_bench);

void lof_batch_bench(benchmark::State& state) {
  const auto kernel = static_cast<LofKernel>(state.range(0));
  if (!lof_kernel_available(kernel)) {
    state.SkipWithError("this machine lacks the instruction set");
    return;
  }
  constexpr std::size_t kBlocks = 1000 / kLofLanes;
  const RngStream stream(1, Purpose::kTest, 1);
  std::vector<LofBlock> blocks(kBlocks);
  std::uint64_t draw = 0;
  for (LofBlock& block : blocks) {
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      for (std::size_t lane = 0; lane < kLofLanes; ++lane) {
        for (std::size_t w = 0; w < kHistory; ++w) {
          block.history[w][f][lane] = normal_at(stream, draw++);
        }
        block.query[f][lane] = normal_at(stream, draw++);
      }
    }
  }
  for (auto _ : state) {
    for (const LofBlock& block : blocks) {
      benchmark::DoNotOptimize(local_outlier_factors(block, kHistory, LofOptions{}, kernel));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBlocks * kLofLanes));
}

BENCHMARK(lof_batch_bench)
    ->ArgName("kernel")
    ->Arg(static_cast<int>(LofKernel::kPortable))
    ->Arg(static_cast<int>(LofKernel::kAvx2));

// One closed window for all pairs: logarithms, comparison, verdict, scale and history.
void short_term_detector_bench(benchmark::State& state) {
  const auto pairs = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kWindows = 16;
  constexpr std::size_t kProbes = 10;
  const WindowOptions options;
  ShortTermDetector detector(options, ShortTermOptions{}, DetectionConfiguration::kBonescan);
  detector.resize(pairs);
  std::vector<ClosedWindow> windows(kWindows);
  const std::vector<std::uint32_t> rtts = rtts_ns(kWindows * pairs * kProbes);
  WindowStore store;
  std::size_t row = 0;
  for (ClosedWindow& window : windows) {
    for (std::size_t pair = 0; pair < pairs; ++pair, row += kProbes) {
      store.add(PairId(static_cast<std::uint32_t>(pair)), std::span(rtts).subspan(row, kProbes));
    }
    store.close(window);
  }
  std::vector<ShortTermResult> results;
  Time now;
  const auto step = [&](std::size_t w) {
    now += options.length;
    detector.evaluate(now, windows[w % kWindows], results);
  };
  for (std::size_t w = 0; w < kWindows; ++w) {
    step(w);
  }
  std::size_t w = 0;
  for (auto _ : state) {
    step(w++);
    benchmark::DoNotOptimize(results.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs));
}

BENCHMARK(short_term_detector_bench)->ArgName("pairs")->Arg(500)->Arg(15000)->Arg(100000);

// Features and factor of every pair's newest window: what a sliding evaluation of all pairs costs.
void features_and_lof_bench(benchmark::State& state) {
  constexpr std::size_t kPairs = 20'000;
  constexpr std::size_t kProbes = 10;
  const std::vector<std::uint32_t> original = rtts_ns(kPairs * kProbes);
  const RngStream stream(1, Purpose::kTest, 1);
  std::vector<LofBlock> blocks(kPairs / kLofLanes);
  std::uint64_t draw = 0;
  for (LofBlock& block : blocks) {
    for (std::size_t w = 0; w < kHistory; ++w) {
      for (LofLanes& lanes : block.history[w]) {
        lanes.fill(normal_at(stream, draw++));
      }
    }
  }
  std::vector<std::uint32_t> rtts;
  const LofKernel kernel = best_lof_kernel();
  for (auto _ : state) {
    rtts = original;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t lane = 0; lane < kLofLanes; ++lane) {
        const std::size_t first = (b * kLofLanes + lane) * kProbes;
        const FeatureVector logs =
            log_features(window_features(std::span(rtts).subspan(first, kProbes)), 0.5);
        for (std::size_t f = 0; f < kFeatureCount; ++f) {
          blocks[b].query[f][lane] = logs[f] * 20.0;
        }
      }
      benchmark::DoNotOptimize(local_outlier_factors(blocks[b], kHistory, LofOptions{}, kernel));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPairs));
}

BENCHMARK(features_and_lof_bench);

// One complete visit: order statistics, comparison with its pair's last sixteen, verdict, null.
void shift_detector_bench(benchmark::State& state) {
  const auto pairs = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kProbes = 10;
  constexpr std::size_t kTurns = 32;
  ShiftDetector detector({.probability = 1e-9});
  detector.resize(pairs);
  const std::vector<std::uint32_t> rtts = rtts_ns(pairs * kProbes + kTurns * kProbes);
  std::vector<ObservedVisit> visits(pairs);
  std::vector<Verdict> verdicts;
  Time now;
  std::size_t turn = 0;
  const auto step = [&] {
    for (std::size_t p = 0; p < pairs; ++p) {
      visits[p] = {.pair = PairId(static_cast<std::uint32_t>(p)),
                   .start = now,
                   .rtts_ns = std::span(rtts).subspan((p + turn % kTurns) * kProbes, kProbes)};
    }
    now += std::chrono::seconds(1);
    ++turn;
    verdicts.clear();
    detector.observe(now, visits);
    detector.evaluate(now, verdicts);
  };
  for (std::size_t i = 0; i < kTurns + 5; ++i) {
    step();
  }
  for (auto _ : state) {
    step();
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs));
  state.counters["bytes_per_pair"] =
      static_cast<double>(detector.held_size()) / static_cast<double>(pairs);
}

BENCHMARK(shift_detector_bench)->ArgName("pairs")->Arg(512)->Arg(32768)->Arg(300'000);

}  // namespace
}  // namespace bonescan

BENCHMARK_MAIN();
