// What a search found, in the words of an accusation.
#include "detectors/localize/fault_search.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

std::vector<Accusation> FaultSearch::report() {
  std::vector<Accusation> accusations;
  set_odds();
  for (const Fault& fault : faults_) {
    find_alternatives(fault.unit);
    accuse(accusations);
    set_fault(units_[fault.unit], fault.rate);
  }
  std::sort(accusations.begin(), accusations.end(), [](const Accusation& a, const Accusation& b) {
    const LinkScore& x = a.suspects.front();
    const LinkScore& y = b.suspects.front();
    if (x.llr != y.llr) {
      return x.llr > y.llr;
    }
    return x.link != y.link ? x.link < y.link : x.direction < y.direction;
  });
  return accusations;
}

double FaultSearch::explained() const {
  if (columns_.path_count() == 0) {
    return 0.0;
  }
  double nats = -noise_ * static_cast<double>(columns_.trial_hops());
  for (const Fault& fault : faults_) {
    const Unit& unit = units_[fault.unit];
    nats -= unit.cost;
    for (const std::uint32_t link : {unit.first, unit.second}) {
      if (link != kNone) {
        const LinkTally& tally = columns_.tally(link);
        nats += static_cast<double>(tally.trials - tally.bad) * std::log1p(-fault.rate);
      }
    }
  }
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    double good = 1.0;
    for (const std::uint32_t link : columns_.links_of(path)) {
      good *= (1.0 - fault_rate_[link]) * (1.0 - noise_);
    }
    nats += static_cast<double>(columns_.bad(path)) * std::log1p(-good);
  }
  return nats;
}

/// Turns the alternatives into an accusation, unless none is likely enough.
void FaultSearch::accuse(std::vector<Accusation>& accusations) {
  const double best = alternatives_.front().worth;
  double named = 0.0;
  double all = std::exp(-best);  // nobody
  Accusation accusation;
  mark_ += 2;
  const std::uint64_t suspected = mark_;
  const std::uint64_t cleared = mark_ - 1;
  for (const Alternative& one : alternatives_) {
    // One suspect a cable, by its best reading, which comes first.
    std::uint64_t& cable = unit_mark_[first_unit_[units_[one.unit].first]];
    if (cable < cleared) {
      cable = one.worth >= best - options_.tie_nats ? suspected : cleared;
      if (cable == suspected) {
        accusation.suspects.push_back(score_of(one));
      }
    }
    const double weight = std::exp(one.worth - best);
    all += weight;
    named += cable == suspected ? weight : 0.0;
  }
  accusation.posterior = named / all;
  if (best <= 0.0 || accusation.posterior < options_.posterior_least) {
    return;
  }
  collect_pairs(units_[alternatives_.front().unit], accusation.pairs);
  const PathHop named_hop = columns_.hop(units_[alternatives_.front().unit].first);
  const auto other_way =
      std::find_if(accusations.begin(), accusations.end(), [&](const auto& known) {
        return known.suspects.front().link == named_hop.link;
      });
  if (other_way == accusations.end()) {
    accusations.push_back(std::move(accusation));
  } else {
    join(*other_way, accusation, first_unit_[units_[alternatives_.front().unit].first]);
  }
}

/// Both ways of one cable are at fault, each at a rate of its own.
void FaultSearch::join(Accusation& one, const Accusation& other, std::uint32_t unit) const {
  LinkScore& score = one.suspects.front();
  score.both_directions = true;
  score.direction = LinkDirection::kUp;
  score.llr += other.suspects.front().llr;
  one.posterior = std::max(one.posterior, other.posterior);
  one.pairs.insert(one.pairs.end(), other.pairs.begin(), other.pairs.end());
  std::sort(one.pairs.begin(), one.pairs.end());
  one.pairs.erase(std::unique(one.pairs.begin(), one.pairs.end()), one.pairs.end());
  const std::uint32_t up = units_[unit].first;
  const LinkTally tally = tally_of(up, up + 1);
  score.paths = tally.paths;
  score.bad_paths = tally.bad_paths;
  score.rate = static_cast<double>(tally.bad) / static_cast<double>(tally.trials);
}

/// What crosses the unit, counted once.
LinkTally FaultSearch::tally_of(std::uint32_t first, std::uint32_t second) const {
  LinkTally tally = columns_.tally(first);
  if (second != kNone) {
    const LinkTally& other = columns_.tally(second);
    const LinkTally& twice = columns_.crossing_twice(first);
    tally.trials += other.trials - twice.trials;
    tally.bad += other.bad - twice.bad;
    tally.paths += other.paths - twice.paths;
    tally.bad_paths += other.bad_paths - twice.bad_paths;
  }
  return tally;
}

LinkScore FaultSearch::score_of(const Alternative& alternative) const {
  const Unit& unit = units_[alternative.unit];
  const LinkTally tally = tally_of(unit.first, unit.second);
  const PathHop& hop = columns_.hop(unit.first);
  return {.link = hop.link,
          .direction = hop.direction,
          .both_directions = unit.second != kNone || same_both_ways(unit.first),
          .llr = alternative.worth + options_.prior_nats,
          .paths = tally.paths,
          .bad_paths = tally.bad_paths,
          .rate = static_cast<double>(tally.bad) / static_cast<double>(tally.trials)};
}

void FaultSearch::collect_pairs(const Unit& unit, std::vector<PairId>& pairs) const {
  for (const std::uint32_t link : {unit.first, unit.second}) {
    if (link == kNone) {
      continue;
    }
    for (const std::uint32_t path : columns_.paths_of(link)) {
      const std::span<const PairId> crossing = columns_.bad_pairs_of(path);
      pairs.insert(pairs.end(), crossing.begin(), crossing.end());
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace bonescan
