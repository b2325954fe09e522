#include "detectors/baselines/link_accusation.h"

#include <algorithm>

namespace bonescan {

Accusation accuse_link(const PathColumns& columns, std::uint32_t link, double score) {
  const LinkTally& tally = columns.tally(link);
  const PathHop& hop = columns.hop(link);
  Accusation accusation;
  accusation.suspects.push_back(
      {.link = hop.link,
       .direction = hop.direction,
       .llr = score,
       .paths = tally.paths,
       .bad_paths = tally.bad_paths,
       .rate = static_cast<double>(tally.bad) / static_cast<double>(tally.trials)});
  std::vector<PairId>& pairs = accusation.pairs;
  for (const std::uint32_t path : columns.paths_of(link)) {
    const auto crossing = columns.bad_pairs_of(path);
    pairs.insert(pairs.end(), crossing.begin(), crossing.end());
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return accusation;
}

}  // namespace bonescan
