#include "detectors/baselines/mesh_vote_detector.h"

#include <algorithm>

namespace bonescan {

MeshVoteDetector::MeshVoteDetector(const MeshVoteOptions& options)
    : options_(options), tallies_(options.late_above), clock_(options.window) {}

void MeshVoteDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  for (const ObservedVisit& visit : visits) {
    if (tallies_.add(visit).lost != 0 && visit.path != nullptr) {
      crossings_.add(visit.pair, *visit.path);
    }
  }
}

void MeshVoteDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  if (!clock_.closes(now)) {
    return;
  }
  const std::vector<PairId>& voted = crossings_.sharing(options_.least_votes);
  for (const PairId pair : tallies_.touched()) {
    const PairTally& tally = tallies_[pair];
    const bool losing = tally.lost != 0 && std::binary_search(voted.begin(), voted.end(), pair);
    if (losing || tally.quantile_is_late(0.5)) {
      verdicts.push_back(verdict_of(now, pair, tally, losing));
    }
  }
  tallies_.clear();
  crossings_.clear();
}

void MeshVoteDetector::release(PairRange pairs) {
  tallies_.release(pairs);
  crossings_.release(pairs);
}

}  // namespace bonescan
