#include "model/host/host_clock.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bonescan {
namespace {

/// Rows of a host's stream.
constexpr std::uint64_t kStanding = 0;
constexpr std::uint64_t kWander = 1;
constexpr std::uint64_t kOscillator = 2;
constexpr std::uint64_t kDiscipline = 3;

constexpr double kPerMillion = 1e-6;

Duration rounded(double ns) {
  return Duration(std::llround(ns));
}

}  // namespace

Duration HostClocks::offset(HostId host, Time t) const {
  if (options_.exact()) {
    return Duration::zero();
  }
  const RngStream stream(seed_, Purpose::kHostClock, host.index());
  double ns = static_cast<double>(options_.offset.count()) *
              normal_quantile(open01(stream.block(kStanding)[0]));
  if (options_.wander > Duration::zero()) {
    const PhiloxCounter bits = stream.block(kWander);
    // Periods between two thirds and four thirds of the mean: hosts do not wander together.
    const double period =
        static_cast<double>(options_.wander_period.count()) * (2.0 + 2.0 * open01(bits[0])) / 3.0;
    const double turns =
        static_cast<double>(t.time_since_epoch().count()) / period + open01(bits[1]);
    ns += static_cast<double>(options_.wander.count()) *
          std::sin(2.0 * std::numbers::pi * (turns - std::floor(turns)));
  }
  const Time from = kStartOfRun + options_.holdover_from;
  if (t > from && in_holdover(host)) {
    ns += rate_error(host) * static_cast<double>((t - from).count());
  }
  return rounded(ns) + step_at(host, t);
}

double HostClocks::rate_error(HostId host) const {
  const RngStream stream(seed_, Purpose::kHostClock, host.index());
  return options_.drift_ppm * kPerMillion * normal_quantile(open01(stream.block(kOscillator)[0]));
}

bool HostClocks::in_holdover(HostId host) const {
  const RngStream stream(seed_, Purpose::kHostClock, host.index());
  return open01(stream.block(kDiscipline)[0]) < options_.holdover_share;
}

Duration HostClocks::measured(HostId host, Duration true_duration) const {
  const double factor = std::max(0.0, 1.0 + rate_error(host));
  return rounded(static_cast<double>(true_duration.count()) * factor);
}

/// One step in each period, at a random moment of it; it may reach into the next period.
Duration HostClocks::step_at(HostId host, Time t) const {
  if (options_.step == Duration::zero() || t < kStartOfRun) {
    return Duration::zero();
  }
  const RngStream stream(seed_, Purpose::kClockStep, host.index());
  const Duration period = options_.step_period;
  const std::int64_t last = t.time_since_epoch() / period;
  const std::int64_t first = std::max<std::int64_t>(0, last - options_.step_lasts / period - 1);
  Duration sum{};
  for (std::int64_t n = first; n <= last; ++n) {
    const PhiloxCounter bits = stream.block(static_cast<std::uint64_t>(n));
    const Time begins =
        kStartOfRun + n * period + rounded(open01(bits[0]) * static_cast<double>(period.count()));
    if (t >= begins && t < begins + options_.step_lasts) {
      sum += rounded((2.0 * open01(bits[1]) - 1.0) * static_cast<double>(options_.step.count()));
    }
  }
  return sum;
}

}  // namespace bonescan
