#include "tools/gates/delays.h"

#include "tools/evaluate/bootstrap.h"

namespace bonescan {
namespace {

void append(const std::vector<double>& from, std::vector<double>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

bool is_abrupt(const CampaignFault& fault) {
  return !fault.gray && (fault.visible || !fault.host_visible);
}

void ClusteredDelays::add(const CampaignFault& fault) {
  Cluster& cluster = by_seed_[fault.seed];
  if (fault.time_to_detect_s) {
    cluster.found_s.push_back(*fault.time_to_detect_s);
  }
  cluster.with_misses_s.push_back(
      fault.time_to_detect_s.value_or(MatchingRules{}.missed_counts_as_s));
}

DelayFigures ClusteredDelays::figures(const StrataOptions& options) const {
  std::vector<const Cluster*> clusters;
  DelayFigures figures;
  for (const auto& [seed, cluster] : by_seed_) {
    clusters.push_back(&cluster);
    figures.found += cluster.found_s.size();
  }
  std::vector<double> found_s;
  std::vector<double> with_misses_s;
  const auto of_draw = [&](std::span<const std::uint32_t> drawn) {
    found_s.clear();
    with_misses_s.clear();
    for (const std::uint32_t index : drawn) {
      append(clusters[index]->found_s, found_s);
      append(clusters[index]->with_misses_s, with_misses_s);
    }
    return Figures<4>{
        mean(found_s), quantile(found_s, 0.5), quantile(found_s, 0.95), mean(with_misses_s)};
  };
  const BootstrapOptions bootstrap{.confidence = options.confidence,
                                   .seed = options.bootstrap_seed,
                                   .resamples = options.resamples};
  const auto estimates = cluster_bootstrap<4>(clusters.size(), bootstrap, of_draw);
  figures.mean_s = estimates[0];
  figures.median_s = estimates[1];
  figures.p95_s = estimates[2];
  figures.mean_with_misses_s = estimates[3];
  return figures;
}

}  // namespace bonescan
