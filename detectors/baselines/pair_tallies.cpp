#include "detectors/baselines/pair_tallies.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {

PairTally tally_of(const ObservedVisit& visit, Duration late_above) {
  PairTally tally;
  for (std::size_t i = 0; i < visit.rtts_ns.size(); ++i) {
    const std::uint32_t rtt_ns = visit.rtts_ns[i];
    if (rtt_ns == kLostRtt) {
      ++tally.lost;
    } else if (answered(rtt_ns)) {
      ++tally.answered;
      const bool times_the_upcall = visit.cold && i == 0;
      if (!times_the_upcall && Duration(rtt_ns) > late_above) {
        ++tally.late;
      }
    }
  }
  return tally;
}

void PairTallies::resize(std::size_t pairs) {
  if (pairs > tallies_.size()) {
    tallies_.resize(pairs);
    touched_.reserve(pairs);
  }
}

PairTally PairTallies::add(const ObservedVisit& visit) {
  BONESCAN_CHECK(visit.pair.index() < tallies_.size());
  const PairTally one = tally_of(visit, late_above_);
  PairTally& tally = tallies_[visit.pair.index()];
  if (tally.tried() == 0 && one.tried() != 0) {
    touched_.push_back(visit.pair);
  }
  tally.answered += one.answered;
  tally.lost += one.lost;
  tally.late += one.late;
  return one;
}

const std::vector<PairId>& PairTallies::touched() {
  std::sort(touched_.begin(), touched_.end());
  return touched_;
}

void PairTallies::clear() {
  for (const PairId pair : touched_) {
    tallies_[pair.index()] = PairTally{};
  }
  touched_.clear();
}

void PairTallies::release(PairRange pairs) {
  std::erase_if(touched_, [&](PairId pair) {
    if (pairs.holds(pair)) {
      tallies_[pair.index()] = PairTally{};
      return true;
    }
    return false;
  });
}

Verdict verdict_of(Time now, PairId pair, const PairTally& tally, bool losing) {
  const bool silent = losing && tally.answered == 0 && tally.lost >= 2;
  return {.at = now,
          .pair = pair,
          .kind = silent ? VerdictKind::kUnreachable : VerdictKind::kAnomalous,
          .rule = VerdictRule::kOther,
          .score = static_cast<float>(losing ? tally.lost : tally.late)};
}

}  // namespace bonescan
