#include "model/latency/spike_tail.h"

#include "sim/base/distributions.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

double ns(Duration d) {
  return static_cast<double>(d.count());
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

struct Pareto {
  double scale;
  double shape;
  double beyond;  ///< probability to exceed the bound, before the cut

  explicit Pareto(const LatencyModelOptions& options)
      : scale(ns(options.spike_mean) * (options.spike_shape - 1.0) / options.spike_shape),
        shape(options.spike_shape),
        beyond(std::min(1.0, std::pow(scale / ns(options.spike_bound), options.spike_shape))) {}
};

struct Lognormal {
  double mu;
  double sigma;
  double below;  ///< probability to keep below the bound, before the cut

  explicit Lognormal(const LatencyModelOptions& options)
      : mu(std::log(ns(options.spike_mean)) - 0.5 * options.spike_shape * options.spike_shape),
        sigma(options.spike_shape),
        below(normal_cdf((std::log(ns(options.spike_bound)) - mu) / sigma)) {}
};

}  // namespace

double spike_quantile_ns(const LatencyModelOptions& options, double u) {
  if (options.spike_mean <= Duration::zero()) {
    return 0.0;
  }
  switch (options.spike_tail) {
    case SpikeTail::kExponential:
      break;
    case SpikeTail::kPareto: {
      const Pareto pareto(options);
      return pareto.scale * std::pow(1.0 - u * (1.0 - pareto.beyond), -1.0 / pareto.shape);
    }
    case SpikeTail::kLognormal: {
      const Lognormal lognormal(options);
      const double quantile =
          lognormal_quantile(u * lognormal.below, lognormal.mu, lognormal.sigma);
      // The last bits of the quantile function may exceed the bound.
      return std::min(quantile, ns(options.spike_bound));
    }
  }
  return exponential_quantile(u, ns(options.spike_mean));
}

double spike_mean_ns(const LatencyModelOptions& options) {
  const double mean = ns(options.spike_mean);
  if (mean <= 0.0) {
    return 0.0;
  }
  switch (options.spike_tail) {
    case SpikeTail::kExponential:
      break;
    case SpikeTail::kPareto: {
      const Pareto pareto(options);
      const double bound = ns(options.spike_bound);
      return mean * (1.0 - pareto.beyond * bound / pareto.scale) / (1.0 - pareto.beyond);
    }
    case SpikeTail::kLognormal: {
      const Lognormal lognormal(options);
      const double z = (std::log(ns(options.spike_bound)) - lognormal.mu) / lognormal.sigma;
      return mean * normal_cdf(z - lognormal.sigma) / lognormal.below;
    }
  }
  return mean;
}

}  // namespace bonescan
