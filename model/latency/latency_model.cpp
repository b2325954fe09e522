#include "model/latency/latency_model.h"

#include "model/latency/spike_tail.h"
#include "sim/base/distributions.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

double jitter_factor(double u, double sigma) {
  return lognormal_quantile(u, 0.0, sigma);
}

}  // namespace

LatencyModel::LatencyModel(const LatencyModelOptions& options)
    : options_(options),
      jitter_(&jitter_factor, options.jitter_sigma),
      unit_exponential_(&exponential_quantile, 1.0),
      spike_below_(static_cast<std::uint32_t>(options.spike_ratio * 0x1.0p32)) {}

Duration LatencyModel::base_rtt(const LinkPath& request, const LinkPath& answer) const {
  const auto one_way = [&](const LinkPath& path) {
    return 2 * options_.access_link +
           static_cast<std::int64_t>(std::max(path.count, 2u) - 2) * options_.fabric_link;
  };
  return options_.endpoints + one_way(request) + one_way(answer);
}

double LatencyModel::mean_ns(double fixed_ns, double queue_mean_ns, double extra_ns) const {
  const double jitter = std::exp(0.5 * options_.jitter_sigma * options_.jitter_sigma);
  const double spike = options_.spike_ratio * spike_mean_ns(options_);
  return fixed_ns * jitter + queue_mean_ns + extra_ns + spike;
}

double LatencyModel::spike_ns(std::uint32_t bits) const {
  // The bits are uniform below spike_below_: used again as the size of the spike.
  const double u = (static_cast<double>(bits) + 0.5) / static_cast<double>(spike_below_);
  return spike_quantile_ns(options_, u);
}

}  // namespace bonescan
