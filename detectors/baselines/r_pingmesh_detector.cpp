#include "detectors/baselines/r_pingmesh_detector.h"

#include <algorithm>

namespace bonescan {

RPingmeshDetector::RPingmeshDetector(const PairTable& pairs, const RPingmeshOptions& options)
    : pairs_(&pairs), options_(options), tallies_(options.p99), clock_(options.window) {}

void RPingmeshDetector::resize(std::size_t pairs) {
  tallies_.resize(pairs);
  std::size_t endpoints = rnics_.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const Pair& ends = (*pairs_)[PairId(static_cast<std::uint32_t>(i))];
    endpoints = std::max<std::size_t>(
        endpoints, std::max(ends.source.index(), ends.target.index()) + std::size_t{1});
  }
  rnics_.resize(endpoints);
}

void RPingmeshDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  for (const ObservedVisit& visit : visits) {
    if (tallies_.add(visit).lost != 0 && visit.path != nullptr) {
      crossings_.add(visit.pair, *visit.path);
    }
  }
}

bool RPingmeshDetector::rnic_is_bad(EndpointId rnic) const {
  const PairTally& tally = rnics_[rnic.index()];
  return tally.tried() >= options_.least_probes && tally.loss_ratio() > options_.rnic_loss_ratio;
}

void RPingmeshDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  if (!clock_.closes(now)) {
    return;
  }
  std::fill(rnics_.begin(), rnics_.end(), PairTally{});
  for (const PairId pair : tallies_.touched()) {
    const PairTally& tally = tallies_[pair];
    const Pair& ends = (*pairs_)[pair];
    for (const EndpointId end : {ends.source, ends.target}) {
      rnics_[end.index()].answered += tally.answered;
      rnics_[end.index()].lost += tally.lost;
    }
  }
  const std::vector<PairId>& voted = crossings_.sharing(options_.least_votes);
  for (const PairId pair : tallies_.touched()) {
    const PairTally& tally = tallies_[pair];
    const Pair& ends = (*pairs_)[pair];
    const bool losing = tally.lost != 0 && (rnic_is_bad(ends.source) || rnic_is_bad(ends.target) ||
                                            std::binary_search(voted.begin(), voted.end(), pair));
    const bool late = tally.tried() >= options_.least_probes && tally.quantile_is_late(0.99);
    if (losing || late) {
      verdicts.push_back(verdict_of(now, pair, tally, losing));
    }
  }
  tallies_.clear();
  crossings_.clear();
}

void RPingmeshDetector::release(PairRange pairs) {
  tallies_.release(pairs);
  crossings_.release(pairs);
}

}  // namespace bonescan
