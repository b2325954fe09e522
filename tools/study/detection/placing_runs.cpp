#include "tools/study/detection/placing_runs.h"

#include "detectors/telemetry/probe.h"
#include "skeleton/link_cover.h"
#include "tools/study/detection/detector_registry.h"
#include "tools/study/detection/parallel.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr std::uint32_t kOnsetS = 1;
constexpr std::uint32_t kSweeps = 3;

/// Which pairs are probed.
enum class Lists : std::uint8_t {
  kAll,
  kSparse,
  kRepaired
};

std::string_view to_string(Lists lists) {
  switch (lists) {
    case Lists::kAll:
      return "17 destinations";
    case Lists::kSparse:
      return "neighbours";
    case Lists::kRepaired:
      return "neighbours, repaired";
  }
  return "unknown";
}

struct PlacingCase {
  double loss = 1.0;
  Lists lists = Lists::kAll;
};

/// What one trial gave, by localizer.
struct Placed {
  std::vector<PlacingResult> by_localizer;
};

struct Probed {
  std::vector<std::uint8_t> pairs;  ///< by pair: 1 if it is on a list
  std::size_t ambiguous = 0;
};

/// The ring's nearest neighbours come first among the pairs, both directions of each.
Probed probed_pairs(const NoiseFleet& fleet, Lists lists) {
  const std::uint32_t all = static_cast<std::uint32_t>(fleet.pairs().size());
  const std::uint32_t sparse = lists == Lists::kAll ? all : 2 * fleet.plan().endpoints;
  Probed probed{.pairs = std::vector<std::uint8_t>(all, 0)};
  std::fill_n(probed.pairs.begin(), sparse, std::uint8_t{1});
  std::vector<CoveringPair> chosen;
  std::vector<CoveringPair> candidates;
  for (std::uint32_t p = 0; p < all; ++p) {
    (p < sparse ? chosen : candidates).push_back({PairId(p), &fleet.path(PairId(p))});
  }
  const LinkCover cover = repair_link_cover(chosen, candidates);
  probed.ambiguous = cover.repaired + cover.not_repairable;
  if (lists == Lists::kRepaired) {
    probed.ambiguous = cover.not_repairable;
    for (const PairId pair : cover.extra) {
      probed.pairs[pair.index()] = 1;
    }
  }
  return probed;
}

void judge(const std::vector<Accusation>& accusations, PathHop truth, PlacingResult& result) {
  bool found = false;
  for (const Accusation& accusation : accusations) {
    const auto is_true = [truth](const LinkScore& suspect) {
      return suspect.link == truth.link &&
             (suspect.both_directions || suspect.direction == truth.direction);
    };
    const bool holds = std::any_of(accusation.suspects.begin(), accusation.suspects.end(), is_true);
    if (!holds) {
      ++result.others;
    } else if (!found) {
      found = true;
      ++(accusation.suspects.size() == 1 && &accusation == &accusations.front() ? result.alone
                                                                                : result.held);
    }
  }
  result.silent += accusations.empty() ? 1 : 0;
}

Placed place(const PlacingCase& one, std::uint64_t seed) {
  NoiseFleet fleet({}, seed);
  fleet.set_fault({.kind = FaultKind::kLoss, .scope = FaultScope::kLink, .loss = one.loss},
                  kOnsetS);
  const Probed probed = probed_pairs(fleet, one.lists);
  std::vector<PathEvidence> evidence(fleet.pairs().size());
  for (std::uint32_t turn = 0; turn < kOnsetS + kSweeps * fleet.plan().sweep_s; ++turn) {
    for (const ObservedVisit& visit : fleet.turn(turn)) {
      PathEvidence& item = evidence[visit.pair.index()];
      item.path = visit.path;
      item.pair = visit.pair;
      if (turn >= kOnsetS && probed.pairs[visit.pair.index()] != 0) {
        item.trials += static_cast<std::uint32_t>(visit.rtts_ns.size());
        item.bad += static_cast<std::uint32_t>(
            std::count(visit.rtts_ns.begin(), visit.rtts_ns.end(), kLostRtt));
      }
    }
  }
  std::erase_if(evidence, [](const PathEvidence& item) { return item.trials == 0; });
  Placed placed;
  for (const LocalizerEntry& entry : localizer_registry()) {
    PlacingResult result{.fault = {}, .lists = {}, .localizer = entry.name, .trials = 1};
    judge(
        entry.make()->localize(evidence, one.loss == 1.0 ? Symptom::kUnreachable : Symptom::kLoss),
        fleet.fault_link(),
        result);
    result.pairs = static_cast<double>(evidence.size());
    result.ambiguous = static_cast<double>(probed.ambiguous);
    placed.by_localizer.push_back(std::move(result));
  }
  return placed;
}

}  // namespace

std::vector<PlacingResult> run_placing(DetectionSize size,
                                       SeedParity parity,
                                       std::uint32_t threads) {
  const std::uint32_t trials = sized(size, 4, 30, 100);
  std::vector<PlacingResult> results;
  for (const PlacingCase& one : {PlacingCase{1.0, Lists::kAll},
                                 PlacingCase{0.05, Lists::kAll},
                                 PlacingCase{0.01, Lists::kAll},
                                 PlacingCase{1.0, Lists::kSparse},
                                 PlacingCase{1.0, Lists::kRepaired},
                                 PlacingCase{0.05, Lists::kSparse},
                                 PlacingCase{0.05, Lists::kRepaired}}) {
    std::vector<Placed> placed(trials);
    run_parallel(
        trials, threads, [&](std::uint32_t i) { placed[i] = place(one, trial_seed(parity, i)); });
    for (std::size_t i = 0; i < localizer_registry().size(); ++i) {
      PlacingResult sum;
      for (const Placed& trial : placed) {
        const PlacingResult& result = trial.by_localizer[i];
        sum.localizer = result.localizer;
        sum.trials += result.trials;
        sum.alone += result.alone;
        sum.held += result.held;
        sum.silent += result.silent;
        sum.others += result.others;
        sum.pairs += result.pairs / trials;
        sum.ambiguous += result.ambiguous / trials;
      }
      sum.fault = one.loss == 1.0 ? "full loss" : one.loss == 0.05 ? "5 % loss" : "1 % loss";
      sum.lists = to_string(one.lists);
      results.push_back(std::move(sum));
    }
  }
  return results;
}

}  // namespace bonescan
