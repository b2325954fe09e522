#include "tools/evaluate/bootstrap.h"

namespace bonescan {

void draw_clusters(const BootstrapOptions& options,
                   std::uint32_t replicate,
                   std::size_t clusters,
                   std::vector<std::uint32_t>& drawn) {
  const RngStream stream(options.seed, Purpose::kGateBootstrap, replicate);
  drawn.resize(clusters);
  for (std::size_t i = 0; i < clusters; ++i) {
    drawn[i] = static_cast<std::uint32_t>(stream.open01_at(i) * static_cast<double>(clusters));
  }
}

void bound_by_replicates(std::span<const double> replicates,
                         const BootstrapOptions& options,
                         Estimate& estimate) {
  const std::size_t undefined = options.resamples - replicates.size();
  if (!estimate.value || replicates.empty() || undefined * 20 > options.resamples) {
    return;
  }
  estimate.lower = quantile(replicates, 1 - options.confidence);
  estimate.upper = quantile(replicates, options.confidence);
}

}  // namespace bonescan
