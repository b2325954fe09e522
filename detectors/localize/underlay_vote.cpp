#include "detectors/localize/underlay_vote.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

bool crosses(std::span<const PathHop> hops, const LinkScore& link) {
  return std::any_of(hops.begin(), hops.end(), [&link](const PathHop& hop) {
    return hop.link == link.link && (link.both_directions || hop.direction == link.direction);
  });
}

bool crosses(const TracedPath& path, const LinkScore& link) {
  return crosses(path.request, link) || crosses(path.answer, link);
}

}  // namespace

double bad_ratio_llr(std::uint64_t trials, std::uint64_t bad, double base) {
  if (trials == 0) {
    return 0.0;
  }
  const double rate = static_cast<double>(bad) / static_cast<double>(trials);
  if (rate <= base) {
    return 0.0;
  }
  const double good = static_cast<double>(trials - bad);
  const double good_term = bad == trials ? 0.0 : good * (std::log1p(-rate) - std::log1p(-base));
  return static_cast<double>(bad) * std::log(rate / base) + good_term;
}

std::span<const LinkScore> ties(std::span<const LinkScore> scores, double nats) {
  std::size_t count = 0;
  while (count < scores.size() && scores[count].llr >= scores.front().llr - nats) {
    ++count;
  }
  return scores.first(count);
}

UnderlayVote::UnderlayVote(const VoteOptions& options) : options_(options) {
  BONESCAN_CHECK(options.base_loss_ratio > 0 && options.base_loss_ratio < 0.5);
  BONESCAN_CHECK(options.base_late_ratio > 0 && options.base_late_ratio < 0.5);
  BONESCAN_CHECK(options.base_slack >= 1);
}

std::span<const LinkVotes> UnderlayVote::raw_vote(std::span<const PathEvidence> evidence) {
  explained_.assign(evidence.size(), 0);
  count(evidence);
  votes_.clear();
  std::uint32_t most = 0;
  for (const ComponentId link : touched_) {
    const std::uint32_t votes = cables_[link].tallies[kEither].bad_paths;
    if (votes > 0) {
      votes_.push_back({link, votes});
      most = std::max(most, votes);
    }
  }
  if (most < 2) {
    votes_.clear();
  }
  std::sort(votes_.begin(), votes_.end(), [](const LinkVotes& a, const LinkVotes& b) {
    return a.votes != b.votes ? a.votes > b.votes : a.link < b.link;
  });
  return votes_;
}

std::span<const LinkScore> UnderlayVote::score(std::span<const PathEvidence> evidence,
                                               Symptom symptom) {
  explained_.assign(evidence.size(), 0);
  count(evidence);
  rank(symptom);
  return scores_;
}

std::vector<Accusation> UnderlayVote::explain_all(std::span<const PathEvidence> evidence,
                                                  Symptom symptom) {
  std::vector<Accusation> accusations;
  explained_.assign(evidence.size(), 0);
  while (accusations.size() < options_.faults_max) {
    count(evidence);
    rank(symptom);
    if (scores_.empty() || scores_.front().llr < options_.open_llr) {
      break;
    }
    Accusation& accusation = accusations.emplace_back();
    const std::span<const LinkScore> suspects = ties(scores_, options_.tie_nats);
    accusation.suspects.assign(suspects.begin(), suspects.end());
    for (std::size_t i = 0; i < evidence.size(); ++i) {
      if (explained_[i] != 0 || !crosses(*evidence[i].path, suspects.front())) {
        continue;
      }
      explained_[i] = 1;
      if (evidence[i].bad > 0) {
        accusation.pairs.push_back(evidence[i].pair);
      }
    }
    std::sort(accusation.pairs.begin(), accusation.pairs.end());
    accusation.pairs.erase(std::unique(accusation.pairs.begin(), accusation.pairs.end()),
                           accusation.pairs.end());
  }
  return accusations;
}

void UnderlayVote::count(std::span<const PathEvidence> evidence) {
  ++epoch_;
  touched_.clear();
  all_ = {};
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (explained_[i] == 0) {
      add(evidence[i]);
    }
  }
}

void UnderlayVote::add(const PathEvidence& item) {
  BONESCAN_DCHECK(item.path != nullptr);
  BONESCAN_DCHECK(item.bad <= item.trials);
  ++path_;
  all_.add(item);
  for (const PathHop& hop : item.path->request) {
    add_hop(hop, item);
  }
  for (const PathHop& hop : item.path->answer) {
    add_hop(hop, item);
  }
}

void UnderlayVote::add_hop(const PathHop& hop, const PathEvidence& item) {
  if (!cables_.contains(hop.link)) {
    cables_.resize(hop.link.index() + 1);
  }
  Cable& cable = cables_[hop.link];
  if (cable.epoch != epoch_) {
    cable.epoch = epoch_;
    cable.tallies = {};
    touched_.push_back(hop.link);
  }
  if (cable.path != path_) {
    cable.path = path_;
    cable.crossed = 0;
  }
  const auto direction = static_cast<std::size_t>(hop.direction);
  if (cable.crossed == 0) {
    cable.tallies[kEither].add(item);
  }
  const auto bit = static_cast<std::uint8_t>(1U << direction);
  if ((cable.crossed & bit) == 0) {
    cable.tallies[direction].add(item);
    cable.crossed = static_cast<std::uint8_t>(cable.crossed | bit);
  }
}

void UnderlayVote::Tally::add(const PathEvidence& item) {
  trials += item.trials;
  bad += item.bad;
  paths += 1;
  bad_paths += item.bad > 0 ? 1 : 0;
}

void UnderlayVote::rank(Symptom symptom) {
  scores_.clear();
  for (const ComponentId link : touched_) {
    const LinkScore score = best_reading(link, symptom);
    if (score.bad_paths > 0) {
      scores_.push_back(score);
    }
  }
  std::sort(scores_.begin(), scores_.end(), [](const LinkScore& a, const LinkScore& b) {
    return a.llr != b.llr ? a.llr > b.llr : a.link < b.link;
  });
}

bool UnderlayVote::suspect(const Tally& tally, Symptom symptom) const {
  if (symptom != Symptom::kLatency) {
    return tally.bad_paths > 0;
  }
  // A link delays every pair that crosses it.  A stale flow table delays only some pairs of one
  // RNIC, and then the vote must be clear, or the table is never looked at.
  return tally.bad_paths >= 2 &&
         tally.bad_paths >= options_.latency_hit_ratio * static_cast<double>(tally.paths);
}

double UnderlayVote::healthy_ratio(const Tally& crossing, Symptom symptom) const {
  const double base =
      symptom == Symptom::kLatency ? options_.base_late_ratio : options_.base_loss_ratio;
  const std::uint64_t trials = all_.trials - crossing.trials;
  if (trials == 0) {
    return base;
  }
  const double avoiding =
      static_cast<double>(all_.bad - crossing.bad) / static_cast<double>(trials);
  // Other faults raise this ratio too.  The bound keeps them from hiding this one.
  return std::clamp(avoiding, base, std::min(base * options_.base_slack, 0.5));
}

LinkScore UnderlayVote::best_reading(ComponentId link, Symptom symptom) const {
  const std::array<Tally, 3>& tallies = cables_[link].tallies;
  LinkScore best{.link = link};
  for (std::size_t reading = 0; reading < tallies.size(); ++reading) {
    const Tally& tally = tallies[reading];
    if (!suspect(tally, symptom)) {
      continue;
    }
    const double llr = bad_ratio_llr(tally.trials, tally.bad, healthy_ratio(tally, symptom));
    if (best.bad_paths > 0 && llr <= best.llr) {
      continue;
    }
    best.llr = llr;
    best.paths = tally.paths;
    best.bad_paths = tally.bad_paths;
    best.rate = static_cast<double>(tally.bad) / static_cast<double>(tally.trials);
    best.both_directions = reading == kEither;
    if (reading != kEither) {
      best.direction = static_cast<LinkDirection>(reading);
    }
  }
  // Every path over an access link crosses it both ways: nothing can tell its directions apart.
  best.both_directions = best.both_directions || (tallies[0].paths == tallies[kEither].paths &&
                                                  tallies[1].paths == tallies[kEither].paths);
  return best;
}

}  // namespace bonescan
