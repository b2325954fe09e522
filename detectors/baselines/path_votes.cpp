#include "detectors/baselines/path_votes.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>

namespace bonescan {
namespace {

bool crosses(const TracedPath& path, ComponentId link) {
  const auto here = [link](const PathHop& hop) { return hop.link == link; };
  return std::any_of(path.request.begin(), path.request.end(), here) ||
         std::any_of(path.answer.begin(), path.answer.end(), here);
}

}  // namespace

std::vector<Accusation> RawVote::localize(std::span<const PathEvidence> evidence, Symptom) {
  const std::span<const LinkVotes> votes = vote_.raw_vote(evidence);
  if (votes.empty()) {
    return {};
  }
  Accusation accusation;
  for (const LinkVotes& one : votes) {
    if (one.votes < votes.front().votes) {
      break;
    }
    accusation.suspects.push_back({.link = one.link,
                                   .both_directions = true,
                                   .llr = static_cast<double>(one.votes),
                                   .bad_paths = one.votes});
  }
  for (const PathEvidence& item : evidence) {
    if (item.bad > 0 && crosses(*item.path, votes.front().link)) {
      accusation.pairs.push_back(item.pair);
    }
  }
  std::vector<PairId>& pairs = accusation.pairs;
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return {std::move(accusation)};
}

std::vector<Accusation> RPingmeshVote::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kAll);
  dropped_.assign(columns_.path_count(), 0);
  std::vector<Accusation> accusations;
  name_rnics(accusations);
  vote(accusations);
  return accusations;
}

bool RPingmeshVote::below_one_tor(std::uint32_t path) const {
  const std::span<const std::uint32_t> links = columns_.links_of(path);
  std::size_t cables = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    cables += i == 0 || columns_.hop(links[i]).link != columns_.hop(links[i - 1]).link ? 1 : 0;
  }
  return cables == 2;
}

/// One bad RNIC spoils the probes of all others below its ToR: the worst goes first, and its probes
/// with it.
void RPingmeshVote::name_rnics(std::vector<Accusation>& accusations) {
  for (std::uint32_t round = 0; round < columns_.link_count(); ++round) {
    shares_.assign(columns_.link_count(), {});
    for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
      if (dropped_[path] != 0 || !below_one_tor(path)) {
        continue;
      }
      for (const std::uint32_t link : columns_.links_of(path)) {
        shares_[link].trials += columns_.trials(path);
        shares_[link].bad += columns_.bad(path);
      }
    }
    double worst = options_.rnic_bad_ratio;
    std::uint32_t named = columns_.link_count();
    for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
      const Share& share = shares_[link];
      const double ratio = share.trials == 0
                               ? 0.0
                               : static_cast<double>(share.bad) / static_cast<double>(share.trials);
      if (ratio > worst && share.bad >= options_.votes_least) {
        worst = ratio;
        named = link;
      }
    }
    if (named == columns_.link_count()) {
      return;
    }
    accusations.push_back(accuse_link(columns_, named, worst));
    drop_paths_of(named);
  }
}

void RPingmeshVote::drop_paths_of(std::uint32_t link) {
  const ComponentId cable = columns_.hop(link).link;
  for (std::uint32_t other = link == 0 ? 0 : link - 1;
       other < std::min(link + 2, columns_.link_count());
       ++other) {
    if (columns_.hop(other).link == cable) {
      for (const std::uint32_t path : columns_.paths_of(other)) {
        dropped_[path] = 1;
      }
    }
  }
}

void RPingmeshVote::vote(std::vector<Accusation>& accusations) {
  votes_.assign(columns_.link_count(), 0);
  std::uint64_t most = 0;
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    if (dropped_[path] != 0) {
      continue;
    }
    for (const std::uint32_t link : columns_.links_of(path)) {
      votes_[link] += columns_.bad(path);
      most = std::max(most, votes_[link]);
    }
  }
  if (most < options_.votes_least) {
    return;
  }
  Accusation winner;
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    if (votes_[link] != most) {
      continue;
    }
    Accusation one = accuse_link(columns_, link, static_cast<double>(most));
    if (winner.suspects.empty()) {
      winner = std::move(one);
    } else if (winner.suspects.back().link != one.suspects.front().link) {
      winner.suspects.push_back(one.suspects.front());
    } else {
      winner.suspects.back().both_directions = true;
    }
  }
  accusations.push_back(std::move(winner));
}

}  // namespace bonescan
