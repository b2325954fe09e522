// Repairs the cover of 2,048 endpoints with 9 destinations each from 65,536 candidates, on two
// tiers of 8 rails, 16 segments and 60 aggregation switches.
#include "sim/base/rng_stream.h"
#include "skeleton/link_cover.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kEndpoints = 2'048;
constexpr std::uint32_t kRails = 8;
constexpr std::uint32_t kHostsOfSegment = 16;
constexpr std::uint32_t kSwitches = 60;
constexpr std::uint32_t kDestinations = 9;

class Paths final {
 public:
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(rng_.at(draws_++) % bound);
  }

  /// From `source` to its own rail on another host.
  TracedPath from(std::uint32_t source) {
    const std::uint32_t hosts = kEndpoints / kRails;
    const std::uint32_t host = (source / kRails + 1 + below(hosts - 1)) % hosts;
    const std::uint32_t target = host * kRails + source % kRails;
    return {way(source, target), way(target, source)};
  }

 private:
  std::vector<PathHop> way(std::uint32_t source, std::uint32_t target) {
    const auto tor = [](std::uint32_t endpoint) {
      return endpoint / kRails / kHostsOfSegment * kRails + endpoint % kRails;
    };
    std::vector<PathHop> hops = {{ComponentId(source), LinkDirection::kUp}};
    if (tor(source) != tor(target)) {
      const std::uint32_t over = kEndpoints + below(kSwitches);
      hops.push_back({ComponentId(over + tor(source) * kSwitches), LinkDirection::kUp});
      hops.push_back({ComponentId(over + tor(target) * kSwitches), LinkDirection::kDown});
    }
    hops.push_back({ComponentId(target), LinkDirection::kDown});
    return hops;
  }

  RngStream rng_{1, Purpose::kTest, 0};
  std::uint64_t draws_ = 0;
};

std::vector<CoveringPair> pairs_of(const std::vector<TracedPath>& paths, std::uint32_t first) {
  std::vector<CoveringPair> pairs;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    pairs.push_back({PairId(first + i), &paths[i]});
  }
  return pairs;
}

void repair(benchmark::State& state) {
  Paths draw;
  std::vector<TracedPath> chosen;
  std::vector<TracedPath> candidates;
  for (std::uint32_t i = 0; i < kEndpoints * kDestinations; ++i) {
    chosen.push_back(draw.from(i / kDestinations));
  }
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    candidates.push_back(draw.from(draw.below(kEndpoints)));
  }
  const std::vector<CoveringPair> chosen_pairs = pairs_of(chosen, 0);
  const std::vector<CoveringPair> more = pairs_of(candidates, kEndpoints * kDestinations);
  LinkCover cover;
  for (auto _ : state) {
    cover = repair_link_cover(chosen_pairs, more);
    benchmark::DoNotOptimize(cover.extra.data());
  }
  state.counters["extra"] = static_cast<double>(cover.extra.size());
  state.counters["repaired"] = static_cast<double>(cover.repaired);
  state.counters["shared_links"] = static_cast<double>(cover.shared_links);
  state.counters["not_repairable"] = static_cast<double>(cover.not_repairable);
}

BENCHMARK(repair)->Arg(4'096)->Arg(65'536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bonescan
