#include "tools/study/detection/null_check.h"

#include "detectors/shortterm/shift_detector.h"
#include "tools/study/detection/parallel.h"
#include "tools/study/detection/table_visits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace bonescan {
namespace {

constexpr double kProbability = 1e-7;
/// Scores above it are kept one by one; those below are only counted.
constexpr double kKeptFrom = 2.0;
constexpr double kCounted = -1e9;

/// The fleet of the study in a world that breaks an assumption.
class WorldVisits final {
 public:
  WorldVisits(NoiseWorld world, std::uint64_t seed) : fleet_(plan_of(world), seed) {}

  std::size_t pairs() const { return fleet_.pairs().size(); }

  std::uint8_t label(PairId pair) const { return fleet_.label(pair); }

  std::span<const ObservedVisit> turn(std::uint32_t turn) { return fleet_.turn(turn); }

 private:
  static FleetPlan plan_of(NoiseWorld world) {
    FleetPlan plan;
    plan.world = world;
    return plan;
  }

  NoiseFleet fleet_;
};

/// What one seed gave.
struct Chunk {
  std::vector<std::vector<double>> kept;  ///< by class, scores from kKeptFrom on
  std::vector<std::uint64_t> counts;      ///< by class, all scores
  std::uint64_t evaluations = 0;
  std::uint64_t visit_exceedances = 0;
  std::uint64_t verdict_exceedances = 0;
  std::unique_ptr<ShiftDetector> detector;
};

constexpr std::size_t kClasses = 2;

/// Null distributions that were fitted elsewhere, and their thresholds.
struct Held {
  NullThreshold visit;
  NullThreshold run;
};

template <class Visits>
Chunk run_chunk(Visits& visits, std::uint64_t wanted, const Held* held) {
  Chunk chunk;
  chunk.kept.resize(kClasses);
  chunk.counts.resize(kClasses);
  chunk.detector = std::make_unique<ShiftDetector>(ShiftOptions{});
  ShiftDetector& detector = *chunk.detector;
  detector.resize(visits.pairs());
  for (std::uint32_t p = 0; p < visits.pairs(); ++p) {
    detector.set_class(PairId(p), visits.label(PairId(p)));
  }
  std::array<double, kClasses> thresholds{};
  if (held != nullptr) {
    detector.hold_nulls(held->visit, held->run);
    for (std::uint8_t c = 0; c < kClasses; ++c) {
      thresholds[c] = held->visit.trusted(c) ? held->visit.threshold(c, kProbability)
                                             : std::numeric_limits<double>::infinity();
    }
  }
  const double log_probability = std::log(kProbability);
  std::vector<Verdict> verdicts;
  std::uint64_t visited = 0;  // A fit that nobody trusts judges nothing.
  for (std::uint32_t turn = 0; chunk.evaluations < wanted && visited < 2 * wanted; ++turn) {
    const Time now = NoiseFleet::handed_on(turn);
    const std::span<const ObservedVisit> heard = visits.turn(turn);
    visited += heard.size();
    detector.observe(now, heard);
    verdicts.clear();
    detector.evaluate(now, verdicts);
    for (const JudgedVisit& visit : detector.judged()) {
      if (visit.kind == VerdictKind::kInsufficientData) {
        continue;
      }
      ++chunk.evaluations;
      const std::uint8_t label = visits.label(visit.pair);
      ++chunk.counts[label];
      if (visit.score >= kKeptFrom) {
        chunk.kept[label].push_back(visit.score);
        chunk.visit_exceedances += visit.score > thresholds[label] ? 1 : 0;
      }
      chunk.verdict_exceedances += visit.log_p <= log_probability ? 1 : 0;
    }
  }
  return chunk;
}

/// Adds up what the fitting seeds gave.
Held fit(std::vector<Chunk>& chunks) {
  NullThresholdOptions options;
  options.memory = std::numeric_limits<std::uint64_t>::max() / 4;
  NullThreshold visit(options);
  for (std::uint8_t c = 0; c < kClasses; ++c) {
    for (const Chunk& chunk : chunks) {
      for (const double score : chunk.kept[c]) {
        visit.add(c, score);
      }
      for (std::uint64_t i = chunk.kept[c].size(); i < chunk.counts[c]; ++i) {
        visit.add(c, kCounted);
      }
      visit.close();
    }
  }
  return {visit, chunks.front().detector->run_null()};
}

struct CheckPlan {
  NoiseWorld world = NoiseWorld::kWellSpecified;
  std::uint64_t fitted = 0;   ///< evaluations
  std::uint64_t checked = 0;  ///< likewise
  std::uint32_t chunks = 1;   ///< of each
};

Chunk run_seed(const CheckPlan& plan, SeedParity parity, std::uint32_t i, const Held* held) {
  const std::uint64_t wanted =
      (parity == SeedParity::kEven ? plan.fitted : plan.checked) / plan.chunks;
  if (plan.world == NoiseWorld::kWellSpecified) {
    TableVisits visits(trial_seed(parity, i));
    return run_chunk(visits, wanted, held);
  }
  WorldVisits visits(plan.world, trial_seed(parity, i));
  return run_chunk(visits, wanted, held);
}

NullCheck run_check(const CheckPlan& plan, std::uint32_t threads) {
  std::vector<Chunk> fitting(plan.chunks);
  run_parallel(plan.chunks, threads, [&](std::uint32_t i) {
    fitting[i] = run_seed(plan, SeedParity::kEven, i, nullptr);
  });
  const Held held = fit(fitting);
  std::vector<Chunk> checking(plan.chunks);
  run_parallel(plan.chunks, threads, [&](std::uint32_t i) {
    checking[i] = run_seed(plan, SeedParity::kOdd, i, &held);
    checking[i].kept.clear();
  });
  NullCheck visit{.world = plan.world,
                  .statistic = "z of a visit",
                  .probability = kProbability,
                  .most_factor = plan.world == NoiseWorld::kWellSpecified ? 1.3 : 3.0};
  for (std::size_t i = 0; i < plan.chunks; ++i) {
    visit.fitted += fitting[i].evaluations;
    visit.evaluations += checking[i].evaluations;
    visit.exceedances += checking[i].visit_exceedances;
    // The log p of a verdict pays for two statistics, so it may be rarer than it says.
    visit.verdict_exceedances += checking[i].verdict_exceedances;
  }
  return visit;
}

}  // namespace

bool NullCheck::holds() const {
  if (evaluations == 0) {
    return false;
  }
  if (world != NoiseWorld::kWellSpecified) {
    return ratio() <= most_factor;
  }
  return ratio() <= most_factor && ratio() * most_factor >= 1.0;
}

NullCheck run_null_check(DetectionSize size, NoiseWorld world, std::uint32_t threads) {
  const bool plain = world == NoiseWorld::kWellSpecified;
  return run_check({.world = world,
                    .fitted = plain ? sized(size, 400'000, 80'000'000, 250'000'000)
                                    : sized(size, 400'000, 5'000'000, 20'000'000),
                    .checked = plain ? sized(size, 200'000, 300'000'000, 1'100'000'000)
                                     : sized(size, 200'000, 15'000'000, 80'000'000),
                    .chunks = plain ? sized(size, 2, 20, 28) : sized(size, 2, 4, 8)},
                   threads);
}

}  // namespace bonescan
