#include "model/backend_sim/sim_throughput.h"

#include "model/backend_sim/rdma_counters.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace bonescan {
namespace {

/// Ticks keep their order: a tick is at most this part of a period from its place. @ours
constexpr double kMostMoved = 0.4;
/// Mean of the background over its deviation, so that it is rarely cut at nothing. @ours
constexpr double kBackgroundMean = 3.0;

}  // namespace

SimThroughput::SimThroughput(World& world,
                             const EndpointMap& endpoints,
                             WorldClock& clock,
                             const TelemetryChannelOptions& options)
    : world_(&world), endpoints_(&endpoints), clock_(&clock), options_(options) {}

std::uint64_t SimThroughput::sensed(RnicId rnic, Time at, Duration length, double bytes) const {
  const RngStream noise(world_->options().seed, Purpose::kThroughput, rnic.index());
  const PhiloxCounter bits = noise.block(static_cast<std::uint64_t>(nanoseconds(at)));
  double read = bytes * lognormal_quantile(open01(bits[0]), 0.0, options_.sampler_noise);
  if (options_.background.count() > 0) {
    const double deviation = static_cast<double>(options_.background.count()) / 8;
    const double length_s = seconds(length);
    read += std::max(0.0,
                     deviation * (kBackgroundMean * length_s +
                                  std::sqrt(length_s) * normal_quantile(open01(bits[1]))));
  }
  return static_cast<std::uint64_t>(read);
}

void SimThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  clock_->advance(now);
  if (options_.aligned()) {
    collect_aligned(now, samples);
  } else {
    collect_each(now, samples);
  }
}

void SimThroughput::collect_aligned(Time now, std::vector<ThroughputSample>& samples) {
  const Duration period = options_.sampler_period;
  for (; collected_until_ + period <= now; collected_until_ += period) {
    const Time at = collected_until_ + period;
    class_bytes_.resize(world_->jobs().size());
    for (std::size_t j = 0; j < class_bytes_.size(); ++j) {
      const Job& job = world_->jobs()[j];
      class_bytes_[j].clear();
      for (std::uint32_t c = 0; c < job.class_count(); ++c) {
        class_bytes_[j].push_back(job.bytes_counted(c, collected_until_, at));
      }
    }
    for (const EndpointId endpoint : endpoints_->present()) {
      if (!endpoints_->bound(*world_, endpoint)) {
        continue;
      }
      const RnicId rnic = endpoints_->rnic(endpoint);
      const JobPlace& place = world_->jobs().place(rnic);
      double bytes = place.job.valid() ? class_bytes_[place.job.index()][place.traffic_class] : 0.0;
      if (!world_->troubles().bypasses(rnic).empty()) {
        bytes = rdma_bytes(*world_, rnic, collected_until_, at);
      }
      samples.push_back({at, endpoint, sensed(rnic, at, period, bytes)});
    }
  }
}

void SimThroughput::follow_directory() {
  // The first tick whose moment, however early, is one that no collect() has passed yet.
  const std::int64_t next = (collected_until_ - kStartOfRun) / options_.sampler_period + 1;
  for (auto e = static_cast<std::uint32_t>(samplers_.size()); e < endpoints_->directory().size();
       ++e) {
    const RnicId rnic = endpoints_->rnic(EndpointId(e));
    const double share =
        RngStream(world_->options().seed, Purpose::kSampler, rnic.index()).open01_at(0);
    samplers_.push_back({.phase = share_of(options_.sampler_phase, share),
                         .next = collected_until_ == kStartOfRun ? next : next + 1,
                         .read = collected_until_});
  }
}

Time SimThroughput::moment(EndpointId endpoint, std::int64_t tick, bool& missed) const {
  const RngStream stream(
      world_->options().seed, Purpose::kSampler, endpoints_->rnic(endpoint).index());
  const PhiloxCounter bits = stream.block(static_cast<std::uint64_t>(tick));
  missed = open01(bits[1]) < options_.sampler_missed;
  double moved_ns =
      normal_quantile(open01(bits[0])) * static_cast<double>(options_.sampler_jitter.count());
  if (options_.sampler_dither > Duration::zero()) {
    moved_ns += (open01(bits[2]) - 0.5) * static_cast<double>(options_.sampler_dither.count());
  }
  const Duration moved(static_cast<std::int64_t>(moved_ns));
  const Duration most = share_of(options_.sampler_period, kMostMoved);
  return kStartOfRun + tick * options_.sampler_period + samplers_[endpoint].phase +
         std::clamp(moved, -most, most);
}

void SimThroughput::sample(EndpointId endpoint, Time now, std::vector<ThroughputSample>& samples) {
  Sampler& sampler = samplers_[endpoint];
  const RnicId rnic = endpoints_->rnic(endpoint);
  for (;; ++sampler.next) {
    bool missed = false;
    const Time at = moment(endpoint, sampler.next, missed);
    if (at > now) {
      return;
    }
    if (missed) {
      continue;
    }
    const double bytes = rdma_bytes(*world_, rnic, sampler.read, at);
    samples.push_back({at, endpoint, sensed(rnic, at, at - sampler.read, bytes)});
    sampler.read = at;
  }
}

void SimThroughput::collect_each(Time now, std::vector<ThroughputSample>& samples) {
  follow_directory();
  const std::size_t first = samples.size();
  for (const EndpointId endpoint : endpoints_->present()) {
    if (endpoints_->bound(*world_, endpoint)) {
      sample(endpoint, now, samples);
    }
  }
  std::sort(samples.begin() + static_cast<std::ptrdiff_t>(first),
            samples.end(),
            [](const ThroughputSample& a, const ThroughputSample& b) {
              return std::tie(a.at, a.endpoint) < std::tie(b.at, b.endpoint);
            });
  collected_until_ = now;
}

}  // namespace bonescan
