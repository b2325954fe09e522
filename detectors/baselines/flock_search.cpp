#include "detectors/baselines/flock_search.h"

#include "detectors/baselines/link_accusation.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

FlockSearch::FlockSearch(const FlockOptions& options) : options_(options) {
  BONESCAN_CHECK(options.healthy_loss > 0);
  BONESCAN_CHECK(options.healthy_loss < options.faulty_loss);
  BONESCAN_CHECK(options.faulty_loss < 1);
}

std::vector<Accusation> FlockSearch::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kAll);
  const double per_bad = std::log(options_.faulty_loss / options_.healthy_loss);
  const double per_good = std::log1p(-options_.faulty_loss) - std::log1p(-options_.healthy_loss);
  path_llr_.resize(columns_.path_count());
  gains_.assign(columns_.link_count(), 0.0);
  covered_.assign(columns_.path_count(), 0);
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    const std::uint64_t good = columns_.trials(path) - columns_.bad(path);
    path_llr_[path] =
        static_cast<double>(columns_.bad(path)) * per_bad + static_cast<double>(good) * per_good;
    for (const std::uint32_t link : columns_.links_of(path)) {
      gains_[link] += path_llr_[path];
    }
  }
  std::vector<Accusation> accusations;
  while (!gains_.empty() && accusations.size() < options_.faults_max) {
    const auto best = std::max_element(gains_.begin(), gains_.end());
    if (*best <= options_.prior_nats) {
      break;
    }
    const auto link = static_cast<std::uint32_t>(best - gains_.begin());
    accusations.push_back(accuse_link(columns_, link, *best));
    cover(link);
  }
  return accusations;
}

void FlockSearch::cover(std::uint32_t link) {
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (covered_[path] != 0) {
      continue;
    }
    covered_[path] = 1;
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      gains_[crossed] -= path_llr_[path];
    }
  }
  gains_[link] = 0.0;
}

}  // namespace bonescan
