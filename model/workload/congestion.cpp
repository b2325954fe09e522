#include "model/workload/congestion.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Integral of mark_ratio() from 0 to `bytes`.
double marked_bytes(const CongestionOptions& options, double bytes) {
  const double span = options.ecn_max_bytes - options.ecn_min_bytes;
  const double within = std::clamp(bytes - options.ecn_min_bytes, 0.0, span);
  const double beyond = std::max(0.0, bytes - options.ecn_max_bytes);
  return (span > 0.0 ? 0.5 * options.ecn_max_ratio * within * within / span : 0.0) + beyond;
}

}  // namespace

double mark_ratio(const CongestionOptions& options, double queue_bytes) {
  if (queue_bytes <= options.ecn_min_bytes) {
    return 0.0;
  }
  if (queue_bytes >= options.ecn_max_bytes) {
    return 1.0;
  }
  return options.ecn_max_ratio * (queue_bytes - options.ecn_min_bytes) /
         (options.ecn_max_bytes - options.ecn_min_bytes);
}

StandingQueue standing_queue(const CongestionOptions& options,
                             double offered,
                             std::uint32_t inputs) {
  BONESCAN_CHECK(offered > 1.0);
  const double xoff = inputs * options.xoff_bytes;
  const bool can_pause = options.flow_control == FlowControl::kPfc && inputs > 0;
  if (options.control == CongestionControl::kDcqcn &&
      (!can_pause || xoff > options.ecn_min_bytes)) {
    const double limit = can_pause ? xoff : options.buffer_bytes;
    const double high = std::min(options.ecn_max_bytes, limit);
    const double low = std::min(options.ecn_min_bytes, high);
    return {.low_bytes = low,
            .high_bytes = high,
            .mark_ratio = mark_ratio(options, 0.5 * (low + high))};
  }
  // Nobody slows down, so whoever has marked packets has marked them for nothing.
  StandingQueue queue{.low_bytes = options.buffer_bytes,
                      .high_bytes = options.buffer_bytes,
                      .loss_ratio = 1.0 - 1.0 / offered};
  if (can_pause) {
    queue = {.low_bytes = inputs * options.xon_bytes, .high_bytes = xoff, .pauses = true};
  }
  if (options.control == CongestionControl::kDcqcn) {
    queue.mark_ratio = mark_ratio(options, queue.high_bytes);
  }
  return queue;
}

BurstQueue burst_queue(const CongestionOptions& options, const MeetingBursts& bursts) {
  const double busy_ns = bursts.total_bytes / bursts.rate;
  BONESCAN_CHECK(busy_ns <= bursts.period_ns);
  const double rise_ns = bursts.longest_input_bytes / bursts.input_rate;
  const double free_peak = std::max(0.0, bursts.total_bytes - rise_ns * bursts.rate);
  BurstQueue queue;
  if (free_peak <= 0.0) {
    return queue;
  }
  const double slope = free_peak / rise_ns;
  double limit = options.buffer_bytes;
  const bool pfc = options.flow_control == FlowControl::kPfc && bursts.inputs > 0;
  if (pfc) {
    limit = bursts.inputs * options.xoff_bytes;
  }
  const bool marks = options.control == CongestionControl::kDcqcn;
  const double reaction_ns = static_cast<double>(options.reaction.count());
  const double controlled =
      marks ? std::max(options.ecn_max_bytes, options.ecn_min_bytes + slope * reaction_ns) : limit;
  queue.peak_bytes = std::min({free_peak, limit, controlled});
  double served_ns = busy_ns;
  const double excess = free_peak - queue.peak_bytes;
  if (excess > 0.0 && limit <= controlled) {
    if (pfc) {
      queue.upstream_bytes = excess;
    } else {
      // Full from here to the end of the rise; of what comes, the excess is lost.
      const double full_ns = rise_ns - queue.peak_bytes / slope;
      queue.loss_ratio = full_ns / bursts.period_ns * slope / (slope + bursts.rate);
      served_ns -= excess / bursts.rate;
    }
  }
  const double straight_ns =
      std::min(served_ns, queue.peak_bytes / slope + queue.peak_bytes / bursts.rate);
  queue.wait = {.idle_ratio = 1.0 - served_ns / bursts.period_ns,
                .ramp_ratio = straight_ns / bursts.period_ns,
                .peak_ns = queue.peak_bytes / bursts.rate};
  const double held_ns = served_ns - straight_ns;
  if (queue.upstream_bytes > 0.0) {
    queue.held_ratio = held_ns / bursts.period_ns;
    queue.pause_ratio = queue.held_ratio * (1.0 - bursts.rate / (slope + bursts.rate));
  }
  if (marks) {
    queue.mark_ratio = (straight_ns * marked_bytes(options, queue.peak_bytes) / queue.peak_bytes +
                        held_ns * mark_ratio(options, queue.peak_bytes)) /
                       served_ns;
  }
  return queue;
}

PortPause port_pause(const CongestionOptions& options,
                     double rate,
                     double offered_bytes,
                     double passing) {
  const double drained = std::min(rate, offered_bytes * passing);
  if (drained <= 0.0) {
    return {};
  }
  return {.ratio = 1.0 - drained / rate,
          .length_ns = (options.xoff_bytes - options.xon_bytes) / drained};
}

}  // namespace bonescan
