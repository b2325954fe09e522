#include "detectors/baselines/detector_pll.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>

namespace bonescan {

std::vector<Accusation> DeTectorPll::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kAll);
  explained_.assign(columns_.path_count(), 0);
  count();
  group_.resize(columns_.link_count());
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    group_[link] = full(link) ? 1 : 0;
  }
  std::vector<Accusation> accusations;
  solve(true, accusations);
  count();
  solve(false, accusations);
  return accusations;
}

/// Paths that were explained before this group started are gone.
void DeTectorPll::count() {
  hits_.assign(columns_.link_count(), {});
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    if (explained_[path] != 0) {
      continue;
    }
    for (const std::uint32_t link : columns_.links_of(path)) {
      Hits& hits = hits_[link];
      hits.paths += columns_.pair_count(path);
      hits.lossy += columns_.bad_pairs_of(path).size();
      hits.lost += columns_.bad(path);
    }
  }
}

void DeTectorPll::solve(bool full_loss, std::vector<Accusation>& accusations) {
  for (std::uint32_t round = 0; round < columns_.link_count(); ++round) {
    std::uint32_t best = columns_.link_count();
    std::uint64_t most = std::max<std::uint64_t>(options_.lost_least, 1) - 1;
    for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
      const Hits& hits = hits_[link];
      const bool cut =
          static_cast<double>(hits.lossy) >= options_.hit_ratio * static_cast<double>(hits.paths);
      if ((group_[link] != 0) == full_loss && cut && hits.lost > most) {
        most = hits.lost;
        best = link;
      }
    }
    if (best == columns_.link_count()) {
      return;
    }
    accusations.push_back(accuse_link(columns_, best, static_cast<double>(most)));
    explain(best);
  }
}

void DeTectorPll::explain(std::uint32_t link) {
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (explained_[path] != 0) {
      continue;
    }
    explained_[path] = 1;
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      hits_[crossed].lost -= columns_.bad(path);
    }
  }
}

}  // namespace bonescan
