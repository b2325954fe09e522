#include "detectors/shortterm/tail_fit.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

/// Below it the tail is exponential to the last bit that matters.
constexpr double kNoShape = 1e-9;

/// The golden section shrinks its interval by 0.618 a step: 45 steps are nine digits.
constexpr int kSteps = 45;
/// From a mean to the scale of the heaviest tail in doubles.
constexpr int kDoublings = 64;

constexpr double kGoldenRatio = 0.6180339887498949;

struct Excesses {
  std::span<const double> values;
  double mean = 0.0;
  double most = 0.0;

  double count() const { return static_cast<double>(values.size()); }

  double mean_log1p(double factor) const {
    double sum = 0.0;
    for (const double value : values) {
      sum += std::log1p(factor * value);
    }
    return sum / count();
  }
};

/// Where `value` is largest on [low, high], if it has one hill there.
template <class F>
double maximize(double low, double high, const F& value) {
  double left = high - kGoldenRatio * (high - low);
  double right = low + kGoldenRatio * (high - low);
  double at_left = value(left);
  double at_right = value(right);
  for (int step = 0; step < kSteps; ++step) {
    if (at_left < at_right) {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGoldenRatio * (high - low);
      at_right = value(right);
    } else {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGoldenRatio * (high - low);
      at_left = value(left);
    }
  }
  return (low + high) / 2.0;
}

/// The best fit on the line xi = theta * beta.
TailFit on_line(const Excesses& all, double theta) {
  TailFit fit{.exceedances = all.values.size()};
  if (std::abs(theta * all.mean) < kNoShape) {
    fit.scale = all.mean;
  } else {
    fit.shape = all.mean_log1p(theta);
    fit.scale = fit.shape / theta;
  }
  fit.log_likelihood = -all.count() * (std::log(fit.scale) + fit.shape + 1.0);
  return fit;
}

/// The best fit with this shape.
TailFit with_shape(const Excesses& all, double shape) {
  const auto likelihood = [&](double log_scale) {
    const double scale = std::exp(log_scale);
    return -all.count() * (log_scale + (1.0 + 1.0 / shape) * all.mean_log1p(shape / scale));
  };
  const double end = shape < 0.0 ? -shape * all.most * (1.0 + kNoShape) : 0.0;
  const double low = std::log(std::max(end, all.mean * 1e-3));
  const double high = std::log(std::max(end, all.mean) * 10.0);
  const double log_scale = maximize(low, high, likelihood);
  return {.shape = shape,
          .scale = std::exp(log_scale),
          .log_likelihood = likelihood(log_scale),
          .exceedances = all.values.size()};
}

}  // namespace

std::optional<TailFit> fit_tail(std::span<const double> excesses, const TailFitOptions& options) {
  if (excesses.size() < std::max<std::size_t>(options.least_exceedances, 2)) {
    return std::nullopt;
  }
  Excesses all{.values = excesses};
  for (const double excess : excesses) {
    if (!std::isfinite(excess) || excess < 0.0) {
      return std::nullopt;
    }
    all.mean += excess;
    all.most = std::max(all.most, excess);
  }
  all.mean /= all.count();
  if (!(all.mean > 0.0) || !std::isfinite(all.mean)) {
    return std::nullopt;
  }
  // Left of -1 / most the likelihood does not exist; on the right the shape grows with theta.
  const double low = -(1.0 - kNoShape) / all.most;
  double high = 1.0 / all.mean;
  for (int i = 0; i < kDoublings && all.mean_log1p(high) < options.most_shape; ++i) {
    high *= 2.0;
  }
  const double theta =
      maximize(low, high, [&](double line) { return on_line(all, line).log_likelihood; });
  TailFit fit = on_line(all, theta);
  if (fit.shape < options.least_shape) {
    fit = with_shape(all, options.least_shape);
  } else if (fit.shape > options.most_shape) {
    fit = with_shape(all, options.most_shape);
  }
  return fit;
}

double log_tail_survival(const TailFit& fit, double excess) {
  if (!(excess > 0.0)) {
    return 0.0;
  }
  if (std::abs(fit.shape) < kNoShape) {
    return -excess / fit.scale;
  }
  const double along = fit.shape * excess / fit.scale;
  return along <= -1.0 ? -std::numeric_limits<double>::infinity() : -std::log1p(along) / fit.shape;
}

double tail_quantile(const TailFit& fit, double log_probability) {
  BONESCAN_DCHECK(log_probability <= 0.0);
  if (std::abs(fit.shape) < kNoShape) {
    return -fit.scale * log_probability;
  }
  return fit.scale / fit.shape * std::expm1(-fit.shape * log_probability);
}

}  // namespace bonescan
