#include "detectors/baselines/pingmesh_detector.h"

namespace bonescan {

PingmeshDetector::PingmeshDetector(const PingmeshOptions& options)
    : options_(options), tallies_(options.p99), clock_(options.window) {}

void PingmeshDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  for (const ObservedVisit& visit : visits) {
    tallies_.add(visit);
  }
}

void PingmeshDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  if (!clock_.closes(now)) {
    return;
  }
  for (const PairId pair : tallies_.touched()) {
    const PairTally& tally = tallies_[pair];
    if (tally.tried() < options_.least_probes) {
      continue;
    }
    const bool losing = tally.loss_ratio() > options_.loss_ratio;
    if (losing || tally.quantile_is_late(0.99)) {
      verdicts.push_back({.at = now,
                          .pair = pair,
                          .kind = losing ? loss_kind(tally) : VerdictKind::kAnomalous,
                          .rule = VerdictRule::kOther,
                          .score = static_cast<float>(losing ? tally.lost : tally.late)});
    }
  }
  tallies_.clear();
}

}  // namespace bonescan
