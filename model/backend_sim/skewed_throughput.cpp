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
    : world_(&world), endpoints_(&endpoints), clock_(&clock), options_(options) {
  for (std::uint32_t e = 0; e < endpoints.directory().size(); ++e) {
    const RnicId rnic = endpoints.rnic(EndpointId(e));
    const double share =
        RngStream(world.options().seed, Purpose::kSampler, rnic.index()).open01_at(0);
    const auto phase =
        static_cast<std::int64_t>(share * static_cast<double>(options.sampler_phase.count()));
    samplers_.push_back({.place = load_key(world, rnic), .phase = Duration(phase)});
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

void SkewedThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  clock_->advance(now);
  const std::size_t first = samples.size();
  for (std::uint32_t e = 0; e < samplers_.size(); ++e) {
    const EndpointId endpoint(e);
    Sampler& sampler = samplers_[endpoint];
    const RngStream noise(
        world_->options().seed, Purpose::kThroughput, endpoints_->rnic(endpoint).index());
    for (;; ++sampler.next) {
      bool missed = false;
      const Time at = moment(endpoint, sampler.next, missed);
      if (at > now) {
        break;
      }
      if (missed) {
        continue;
      }
      const double u = open01(noise.block(static_cast<std::uint64_t>(nanoseconds(at)))[0]);
      const double bytes = sampler.place.known ? world_->jobs()[sampler.place.job].bytes_sent(
                                                     sampler.place.stage, sampler.read, at)
                                               : 0.0;
      samples.push_back(
          {at,
           endpoint,
           static_cast<std::uint64_t>(bytes * lognormal_quantile(u, 0.0, kSampleNoiseSigma))});
      sampler.read = at;
    }
  }
  std::sort(samples.begin() + static_cast<std::ptrdiff_t>(first),
            samples.end(),
            [](const ThroughputSample& a, const ThroughputSample& b) {
              return std::tie(a.at, a.endpoint) < std::tie(b.at, b.endpoint);
            });
}

}  // namespace bonescan
