// Sizes of scheduling spikes, from one uniform number each.
//
//   exponential  light: 99.9 % are below 7 means
//   pareto       power law: P(X > x) = (scale / x)^shape, scale = mean * (shape - 1) / shape
//   lognormal    in between: `shape` is the sigma of the logarithm
// The heavy ones are cut at a bound, by conditioning: draws beyond it do not pile up there, they
// are drawn below it.  `mean` is that of the uncut distribution; spike_mean_ns() that of what is
// drawn.
#pragma once

#include "model/latency/latency_model_options.h"

namespace bonescan {

/// REQUIRES: 0 < u < 1; pareto: shape > 1; bound above the scale (pareto) and positive.
double spike_quantile_ns(const LatencyModelOptions& options, double u);

double spike_mean_ns(const LatencyModelOptions& options);

}  // namespace bonescan
