#include "model/backend_sim/skewed_throughput.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <tuple>

namespace bonescan {
namespace {

constexpr Duration kSamplePeriod = std::chrono::seconds(1);
/// Ticks keep their order: a tick is at most this far from its place. @ours
constexpr Duration kMostJitter = std::chrono::milliseconds(400);
/// Log-normal sigma of one sample around the true volume, as on aligned samplers. @source ours
constexpr double kSampleNoiseSigma = 0.02;

}  // namespace

SkewedThroughput::SkewedThroughput(World& world,
                                   const EndpointMap& endpoints,
                                   WorldClock& clock,
                                   const TelemetryChannelOptions& options)
    : world_(&world), endpoints_(&endpoints), clock_(&clock), options_(options) {}

void SkewedThroughput::follow_directory() {
  // The first tick whose moment, however early, is one that no collect() has passed yet.
  const std::int64_t next = (collected_until_ - kStartOfRun) / kSamplePeriod + 1;
  for (auto e = static_cast<std::uint32_t>(samplers_.size()); e < endpoints_->directory().size();
       ++e) {
    const RnicId rnic = endpoints_->rnic(EndpointId(e));
    const double share =
        RngStream(world_->options().seed, Purpose::kSampler, rnic.index()).open01_at(0);
    const auto phase =
        static_cast<std::int64_t>(share * static_cast<double>(options_.sampler_phase.count()));
    samplers_.push_back({.phase = Duration(phase),
                         .next = collected_until_ == kStartOfRun ? next : next + 1,
                         .read = collected_until_});
  }
}

Time SkewedThroughput::moment(EndpointId endpoint, std::int64_t tick, bool& missed) const {
  const RngStream stream(
      world_->options().seed, Purpose::kSampler, endpoints_->rnic(endpoint).index());
  const PhiloxCounter bits = stream.block(static_cast<std::uint64_t>(tick));
  missed = open01(bits[1]) < options_.sampler_missed;
  const Duration jitter(static_cast<std::int64_t>(
      normal_quantile(open01(bits[0])) * static_cast<double>(options_.sampler_jitter.count())));
  return kStartOfRun + tick * kSamplePeriod + samplers_[endpoint].phase +
         std::clamp(jitter, -kMostJitter, kMostJitter);
}

void SkewedThroughput::sample(EndpointId endpoint,
                              Time now,
                              std::vector<ThroughputSample>& samples) {
  Sampler& sampler = samplers_[endpoint];
  const RnicId rnic = endpoints_->rnic(endpoint);
  const LoadKey place = load_key(*world_, rnic);
  const RngStream noise(world_->options().seed, Purpose::kThroughput, rnic.index());
  for (;; ++sampler.next) {
    bool missed = false;
    const Time at = moment(endpoint, sampler.next, missed);
    if (at > now) {
      return;
    }
    if (missed) {
      continue;
    }
    const double u = open01(noise.block(static_cast<std::uint64_t>(nanoseconds(at)))[0]);
    const double bytes =
        place.known ? world_->jobs()[place.job].bytes_sent(place.stage, sampler.read, at) : 0.0;
    samples.push_back(
        {at,
         endpoint,
         static_cast<std::uint64_t>(bytes * lognormal_quantile(u, 0.0, kSampleNoiseSigma))});
    sampler.read = at;
  }
}

void SkewedThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  clock_->advance(now);
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
