#include "model/latency/queueing.h"

#include "sim/base/check.h"
#include "sim/base/distributions.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

LinkLoad equal_packets(double utilisation, Bytes wire_size, BitsPerSecond rate) {
  const double service_ns =
      static_cast<double>(wire_size.count()) * 8e9 / static_cast<double>(rate.count());
  return {utilisation, service_ns, service_ns * service_ns};
}

LinkLoad operator+(const LinkLoad& a, const LinkLoad& b) {
  // Packets per ns of either.
  const double rate_a = a.service_ns > 0.0 ? a.utilisation / a.service_ns : 0.0;
  const double rate_b = b.service_ns > 0.0 ? b.utilisation / b.service_ns : 0.0;
  const double rate = rate_a + rate_b;
  if (rate <= 0.0) {
    return {};
  }
  return {.utilisation = a.utilisation + b.utilisation,
          .service_ns = (a.utilisation + b.utilisation) / rate,
          .service_squared = (rate_a * a.service_squared + rate_b * b.service_squared) / rate};
}

double mean_wait_ns(const LinkLoad& load) {
  BONESCAN_CHECK(load.utilisation >= 0.0 && load.utilisation < 1.0);
  if (load.utilisation <= 0.0) {
    return 0.0;
  }
  const double packets_per_ns = load.utilisation / load.service_ns;
  return packets_per_ns * load.service_squared / (2.0 * (1.0 - load.utilisation));
}

void add_link(PathWait& path, const LinkLoad& load) {
  path.idle_ratio *= 1.0 - load.utilisation;
  path.mean_ns += mean_wait_ns(load);
}

namespace {

/// What a probe waits for packets of its own input, and how often.
PathWait same_input_wait(const MergingLoad& load) {
  if (load.same_input <= 0.0) {
    return {};
  }
  const double service_ns = load.same_work_ns / load.same_input;
  const double behind_ns = std::max(0.0, service_ns - load.probe_ns);
  // It follows a packet at once, or after a gap that is shorter than what it catches up.
  const double gap = (1.0 - load.same_input) * behind_ns / service_ns;
  return {.idle_ratio = 1.0 - load.same_input * (behind_ns > 0.0 ? 1.0 + gap : 0.0),
          .mean_ns = load.same_input * behind_ns * (1.0 + 0.5 * gap)};
}

}  // namespace

double mean_wait_ns(const MergingLoad& load) {
  if (load.utilisation <= 0.0) {
    return 0.0;
  }
  const double rho = std::min(load.utilisation, kMostUtilisation);
  const double service_ns = load.work_ns / load.utilisation;
  const double backlog_ns =
      0.5 * service_ns * (rho / (1.0 - rho) - load.waited) - 0.5 * load.same_work_ns;
  return std::max(0.0, backlog_ns) + same_input_wait(load).mean_ns;
}

void add_link(PathWait& path, const MergingLoad& load) {
  const double mean_ns = mean_wait_ns(load);
  if (mean_ns <= 0.0) {
    return;
  }
  const double rho = std::min(load.utilisation, kMostUtilisation);
  const double same = std::min(load.same_input, rho);
  path.idle_ratio *= (1.0 - rho) / (1.0 - same) * same_input_wait(load).idle_ratio;
  path.mean_ns += mean_ns;
}

double wait_quantile_ns(const PathWait& path, double u) {
  if (u <= path.idle_ratio) {
    return 0.0;
  }
  // What is left of u is uniform again.
  const double busy = 1.0 - path.idle_ratio;
  return exponential_quantile((u - path.idle_ratio) / busy, path.mean_ns / busy);
}

double wait_quantile_ns(const LinkLoad& load, double u) {
  PathWait path;
  add_link(path, load);
  return wait_quantile_ns(path, u);
}

double md1_wait_cdf(double utilisation, double service_ns, double wait_ns) {
  if (wait_ns < 0.0) {
    return 0.0;
  }
  if (utilisation <= 0.0) {
    return 1.0;
  }
  const double steps = wait_ns / service_ns;
  double sum = 0.0;
  for (int k = 0; k <= static_cast<int>(steps); ++k) {
    const double x = utilisation * (static_cast<double>(k) - steps);  // Not positive.
    const double magnitude =
        k == 0 ? 1.0 : std::exp(k * std::log(std::max(-x, 1e-300)) - std::lgamma(k + 1.0));
    sum += (k % 2 == 0 ? 1.0 : -1.0) * magnitude * std::exp(-x);
  }
  return std::clamp((1.0 - utilisation) * sum, 0.0, 1.0);
}

double incast_peak_ns(const IncastLoad& load) {
  if (load.senders == 0) {
    return 0.0;
  }
  const double links = load.fan_in == 0 ? load.senders : load.fan_in;
  return (load.senders - load.senders / links) * load.burst_ns;
}

double incast_mean_wait_ns(const IncastLoad& load) {
  const double busy_ns = load.senders * load.burst_ns;
  return 0.5 * incast_peak_ns(load) * busy_ns / load.period_ns;
}

double incast_wait_quantile_ns(const IncastLoad& load, double u) {
  const double busy = load.senders * load.burst_ns / load.period_ns;
  BONESCAN_CHECK(busy <= 1.0);
  const double idle = 1.0 - busy;
  return u <= idle ? 0.0 : incast_peak_ns(load) * (u - idle) / busy;
}

}  // namespace bonescan
