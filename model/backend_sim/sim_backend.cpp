#include "model/backend_sim/sim_backend.h"

#include "model/backend_sim/skewed_throughput.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

namespace bonescan {
namespace {

constexpr Duration kSamplePeriod = std::chrono::seconds(1);
/// Log-normal sigma of one sample around the true volume. @source ours
constexpr double kSampleNoiseSigma = 0.02;

/// Events of interest to peers; the stages before readiness are the platform's own business.
bool announced(ContainerState state, MembershipKind& kind) {
  switch (state) {
    case ContainerState::kReady:
      kind = MembershipKind::kReady;
      return true;
    case ContainerState::kStopping:
      kind = MembershipKind::kStopping;
      return true;
    case ContainerState::kGone:
      kind = MembershipKind::kGone;
      return true;
    case ContainerState::kScheduled:
    case ContainerState::kPulling:
    case ContainerState::kStarting:
      return false;
  }
  return false;
}

std::unique_ptr<Throughput> make_throughput(World& world,
                                            const EndpointMap& endpoints,
                                            WorldClock& clock,
                                            const TelemetryChannelOptions& options) {
  if (options.aligned()) {
    return std::make_unique<SimThroughput>(world, endpoints, clock);
  }
  return std::make_unique<SkewedThroughput>(world, endpoints, clock, options);
}

}  // namespace

void SimMembership::collect(Time now, std::vector<MembershipEvent>& events) {
  clock_->advance(now);
  const std::vector<ContainerEvent>& log = world_->container_events();
  for (; delivered_ < log.size(); ++delivered_) {
    const ContainerEvent& event = log[delivered_];
    MembershipKind kind = MembershipKind::kReady;
    if (!announced(event.state, kind)) {
      continue;
    }
    for (std::uint32_t rail = 0; rail < world_->fabric().options().rails; ++rail) {
      if (const auto endpoint = endpoints_->endpoint(world_->fabric().rnic(event.host, rail))) {
        events.push_back({event.at, *endpoint, kind});
      }
    }
  }
}

AgentState SimMembership::alive(EndpointId endpoint, Time now) {
  clock_->advance(now);
  if (!endpoints_->knows(endpoint)) {
    return AgentState::kUnknown;
  }
  const HostId host = world_->fabric().host_of(endpoints_->rnic(endpoint));
  return world_->agent_running(host) ? AgentState::kAlive : AgentState::kDead;
}

SimThroughput::SimThroughput(World& world, const EndpointMap& endpoints, WorldClock& clock)
    : world_(&world), endpoints_(&endpoints), clock_(&clock) {
  for (std::uint32_t e = 0; e < endpoints.directory().size(); ++e) {
    places_.push_back(load_key(world, endpoints.rnic(EndpointId(e))));
  }
}

void SimThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  clock_->advance(now);
  std::vector<std::vector<double>> stage_bytes(world_->jobs().size());
  for (; sampled_until_ + kSamplePeriod <= now; sampled_until_ += kSamplePeriod) {
    const Time at = sampled_until_ + kSamplePeriod;
    for (std::size_t j = 0; j < stage_bytes.size(); ++j) {
      const Job& job = world_->jobs()[j];
      stage_bytes[j].clear();
      for (std::uint32_t stage = 0; stage < job.options().pp; ++stage) {
        stage_bytes[j].push_back(job.bytes_sent(stage, sampled_until_, at));
      }
    }
    for (std::uint32_t e = 0; e < places_.size(); ++e) {
      const LoadKey& place = places_[EndpointId(e)];
      const RngStream noise(
          world_->options().seed, Purpose::kThroughput, endpoints_->rnic(EndpointId(e)).index());
      const double u = open01(noise.block(static_cast<std::uint64_t>(nanoseconds(at)))[0]);
      const double bytes = place.known ? stage_bytes[place.job][place.stage] : 0.0;
      samples.push_back(
          {at,
           EndpointId(e),
           static_cast<std::uint64_t>(bytes * lognormal_quantile(u, 0.0, kSampleNoiseSigma))});
    }
  }
}

SimBackend::SimBackend(World& world, const SimBackendOptions& options)
    : endpoints_(world),
      closed_form_probes_(options.packets
                              ? nullptr
                              : std::make_unique<SimProbes>(
                                    world, endpoints_, options.evaluation, options.threads)),
      packet_probes_(options.packets
                         ? std::make_unique<PacketProbes>(world, endpoints_, *options.packets)
                         : nullptr),
      paths_(world, endpoints_, clock(), components_),
      overlay_(world, endpoints_, clock(), components_),
      tables_(world, endpoints_, clock(), components_),
      throughput_(make_throughput(world, endpoints_, clock(), options.channel)),
      membership_(world, endpoints_, clock()),
      reports_(world, endpoints_, options.channel, sources()) {}

Probes& SimBackend::probes() {
  return packet_probes_ ? static_cast<Probes&>(*packet_probes_) : *closed_form_probes_;
}

WorldClock& SimBackend::clock() {
  return packet_probes_ ? static_cast<WorldClock&>(*packet_probes_) : *closed_form_probes_;
}

Telemetry SimBackend::telemetry() {
  return reports_.telemetry();
}

Telemetry SimBackend::sources() {
  return {.endpoints = endpoints_.directory(),
          .components = components_,
          .probes = probes(),
          .paths = paths_,
          .overlay = overlay_,
          .tables = tables_,
          .throughput = *throughput_,
          .membership = membership_};
}

}  // namespace bonescan
