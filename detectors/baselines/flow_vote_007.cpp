#include "detectors/baselines/flow_vote_007.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Votes are sums of fractions: what is left of one after subtraction is no vote.
constexpr double kNoVote = 1e-9;

}  // namespace

std::vector<Accusation> FlowVote007::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kBad);
  votes_.assign(columns_.link_count(), 0.0);
  explained_.assign(columns_.path_count(), 0);
  left_ = 0.0;
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    for (const std::uint32_t link : columns_.links_of(path)) {
      votes_[link] += ballots(path);
      left_ += ballots(path);
    }
  }
  std::vector<Accusation> accusations;
  while (!votes_.empty()) {
    const auto top = std::max_element(votes_.begin(), votes_.end());
    if (*top < std::max(options_.vote_share_least * left_, kNoVote)) {
      break;
    }
    const auto link = static_cast<std::uint32_t>(top - votes_.begin());
    accusations.push_back(accuse_link(columns_, link, *top));
    explain(link);
  }
  return accusations;
}

/// Of all failing flows over the path, for each of its links.
double FlowVote007::ballots(std::uint32_t path) const {
  return static_cast<double>(columns_.bad_pairs_of(path).size()) /
         static_cast<double>(columns_.links_of(path).size());
}

void FlowVote007::explain(std::uint32_t link) {
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (explained_[path] != 0) {
      continue;
    }
    explained_[path] = 1;
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      votes_[crossed] -= ballots(path);
      left_ -= ballots(path);
    }
  }
  votes_[link] = 0.0;
}

}  // namespace bonescan
