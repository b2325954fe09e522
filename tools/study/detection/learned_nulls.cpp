#include "tools/study/detection/learned_nulls.h"

#include "detectors/shortterm/shift_detector.h"
#include "tools/study/detection/detection_trials.h"

#include <map>
#include <tuple>

namespace bonescan {
namespace {

/// Seed of the long run; trials begin further on.
constexpr std::uint64_t kSeed = 399'998;

LearnedNulls learn(const FleetPlan& plan) {
  NoiseFleet fleet(plan, kSeed);
  ShiftDetector detector(ShiftOptions{});
  detector.resize(fleet.pairs().size());
  for (std::uint32_t p = 0; p < fleet.pairs().size(); ++p) {
    detector.set_class(PairId(p), fleet.label(PairId(p)));
  }
  std::vector<Verdict> verdicts;
  std::uint64_t visits = 0;
  for (std::uint32_t turn = 0; visits < plan.learnt_visits; ++turn) {
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
  using Key = std::tuple<NoiseWorld, std::uint64_t, std::uint32_t, std::uint32_t, bool>;
  static std::map<Key, LearnedNulls> known;
  // Visits that remember nothing are the same whenever they happen.
  FleetPlan kind;
  kind.learnt_visits = plan.learnt_visits;
  if (plan.world != NoiseWorld::kWellSpecified) {
    kind = plan;
  }
  const Key key(kind.world, kind.learnt_visits, kind.endpoints, kind.sweep_s, kind.counter_phase);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, learn(kind)).first->second;
}

}  // namespace bonescan
