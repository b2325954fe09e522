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
      verdicts.push_back(verdict_of(now, pair, tally, losing));
    }
  }
  tallies_.clear();
}

}  // namespace bonescan
