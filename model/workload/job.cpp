#include "model/workload/job.h"

#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

/// @paper Figure 7: bursts of up to 15 Gb/s at gradient synchronization (skeleton traffic per
/// RNIC).
constexpr double kBurstBytesPerSecond = 15e9 / 8;
/// Pipeline traffic is about a thousandth of the gradient volume (GPT-3 175B, HPN).
constexpr double kPipelineBytesPerSecond = kBurstBytesPerSecond / 1000;

}  // namespace

Job::Job(const JobOptions& options,
         const Fabric& fabric,
         std::vector<HostId> free_hosts,
         JobId id,
         std::uint64_t seed)
    : options_(options), fabric_(&fabric), steps_(seed, Purpose::kTrainingStep, id.index()) {
  const std::uint32_t rails = fabric.options().rails;
  BONESCAN_CHECK(options.tp * options.pp * options.dp == options.gpus);
  BONESCAN_CHECK(options.gpus % rails == 0);
  const std::size_t wanted = options.gpus / rails;
  BONESCAN_CHECK(free_hosts.size() >= wanted);
  const RngStream order(seed, Purpose::kHostOrder, id.index());
  for (std::size_t i = free_hosts.size(); i > 1; --i) {
    std::swap(free_hosts[i - 1], free_hosts[order.at(i) % i]);
  }
  free_hosts.resize(wanted);
  hosts_ = std::move(free_hosts);
  for (const HostId host : hosts_) {
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      rnics_.push_back(fabric.rnic(host, rail));
    }
  }
  rank_rnics();
}

Job::Job(const JobOptions& options,
         const Fabric& fabric,
         std::vector<RnicId> rnics,
         const RngStream& steps)
    : options_(options), fabric_(&fabric), steps_(steps), rnics_(std::move(rnics)) {
  BONESCAN_CHECK(options.tp * options.pp * options.dp == options.gpus);
  BONESCAN_CHECK(options.gpus == rnics_.size());
  rank_rnics();
  for (const auto& [rnic, rank] : ranks_) {
    const HostId host = fabric.host_of(rnic);
    if (hosts_.empty() || hosts_.back() != host) {
      hosts_.push_back(host);
    }
  }
}

void Job::rank_rnics() {
  for (std::uint32_t rank = 0; rank < rnics_.size(); ++rank) {
    ranks_.emplace_back(rnics_[rank], rank);
  }
  std::sort(ranks_.begin(), ranks_.end());
}

std::optional<RankCoordinate> Job::coordinate(RnicId rnic) const {
  const auto found =
      std::lower_bound(ranks_.begin(), ranks_.end(), rnic, [](const auto& entry, RnicId wanted) {
        return entry.first < wanted;
      });
  if (found == ranks_.end() || found->first != rnic) {
    return std::nullopt;
  }
  const std::uint32_t rank = found->second;
  return RankCoordinate{.tensor = rank % options_.tp,
                        .data = rank / options_.tp % options_.dp,
                        .pipeline = rank / (options_.tp * options_.dp)};
}

TrafficKind Job::traffic(RnicId a, RnicId b) const {
  const auto from = coordinate(a);
  const auto to = coordinate(b);
  if (!from || !to || from->tensor != to->tensor || fabric_->host_of(a) == fabric_->host_of(b)) {
    return TrafficKind::kNone;
  }
  const auto distance = [](std::uint32_t x, std::uint32_t y) { return x > y ? x - y : y - x; };
  const std::uint32_t data = distance(from->data, to->data);
  const std::uint32_t pipeline = distance(from->pipeline, to->pipeline);
  if (data == 0 && pipeline == 1) {
    return TrafficKind::kPipeline;
  }
  if (pipeline == 0 && data > 0 && (data == 1 || data == options_.dp - 1)) {
    return TrafficKind::kRing;
  }
  return TrafficKind::kNone;
}

TimeSpan Job::burst(std::uint32_t stage, std::int64_t step) const {
  const double period_ns = static_cast<double>(options_.step_time.count());
  // Clamped so that bursts stay in order.
  const double jitter = std::clamp(
      normal_quantile(steps_.open01_at(static_cast<std::uint64_t>(step))) * options_.step_jitter,
      -0.25,
      0.25);
  const Time from = running_since_ + step * options_.step_time + stage * options_.stage_offset +
                    Duration(static_cast<std::int64_t>(jitter * period_ns));
  return {from, from + Duration(static_cast<std::int64_t>(options_.burst_share * period_ns))};
}

TimeSpan Job::burst_ending_after(std::uint32_t stage, Time t) const {
  const Duration since = t - running_since_ - stage * options_.stage_offset;
  const std::int64_t nominal = since / options_.step_time;
  for (std::int64_t step = std::max<std::int64_t>(nominal - 1, 0);; ++step) {
    const TimeSpan found = burst(stage, step);
    if (found.to > t) {
      return found;
    }
  }
}

double Job::bytes_sent(std::uint32_t stage, Time from, Time to) const {
  const Time start = std::max(from, running_since_);
  to = std::min(to, running_until_);
  if (to <= start) {
    return 0.0;
  }
  double bytes = options_.pp > 1 ? seconds(to - start) * kPipelineBytesPerSecond : 0.0;
  if (options_.dp < 2) {
    return bytes;
  }
  for (Time at = start; at < to;) {
    const TimeSpan next = burst_ending_after(stage, at);
    if (next.from >= to) {
      break;
    }
    bytes += seconds(std::min(next.to, to) - std::max(next.from, at)) * kBurstBytesPerSecond;
    at = next.to;
  }
  return bytes;
}

}  // namespace bonescan
