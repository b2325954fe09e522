#include "tools/study/detection/learned_nulls.h"

#include "detectors/shortterm/shift_detector.h"
#include "tools/study/detection/detection_trials.h"

#include <map>
#include <tuple>

namespace bonescan {
namespace {

/// Seed of the long run; trials begin further on.
constexpr std::uint64_t kSeed = 399'998;
constexpr std::uint64_t kVisits = 1'000'000;

LearnedNulls learn(const FleetPlan& plan) {
  NoiseFleet fleet(plan, kSeed);
  ShiftDetector detector(ShiftOptions{});
  detector.resize(fleet.pairs().size());
  for (std::uint32_t p = 0; p < fleet.pairs().size(); ++p) {
    detector.set_class(PairId(p), fleet.label(PairId(p)));
  }
  std::vector<Verdict> verdicts;
  std::uint64_t visits = 0;
  for (std::uint32_t turn = 0; visits < kVisits; ++turn) {
    const std::span<const ObservedVisit> heard = fleet.turn(turn);
    visits += heard.size();
    detector.observe(NoiseFleet::handed_on(turn), heard);
    verdicts.clear();
    detector.evaluate(NoiseFleet::handed_on(turn), verdicts);
  }
  return {detector.visit_null(), detector.run_null()};
}

}  // namespace

const LearnedNulls& learned_nulls(const FleetPlan& plan) {
  static std::map<std::tuple<NoiseWorld, std::uint32_t, std::uint32_t, bool>, LearnedNulls> known;
  const auto key = std::tuple(plan.world, plan.endpoints, plan.sweep_s, plan.counter_phase);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, learn(plan)).first->second;
}

}  // namespace bonescan
