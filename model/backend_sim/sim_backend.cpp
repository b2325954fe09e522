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
    case ContainerState::kCrashed:
      return false;
  }
  return false;
}

bool announced(CloudEventKind event, MembershipKind& kind) {
  switch (event) {
    case CloudEventKind::kSubmitted:
      kind = MembershipKind::kSubmitted;
      return true;
    case CloudEventKind::kReady:
      kind = MembershipKind::kReady;
      return true;
    case CloudEventKind::kStopping:
      kind = MembershipKind::kStopping;
      return true;
    case CloudEventKind::kGone:
      kind = MembershipKind::kGone;
      return true;
    case CloudEventKind::kCrashed:
    case CloudEventKind::kAgentDown:
    case CloudEventKind::kAgentUp:
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

void SimMembership::announce(const ContainerEvent& event,
                             std::vector<MembershipEvent>& events) const {
  MembershipKind kind = MembershipKind::kReady;
  if (!announced(event.state, kind)) {
    return;
  }
  for (std::uint32_t rail = 0; rail < world_->fabric().options().rails; ++rail) {
    if (const auto endpoint = endpoints_->endpoint(world_->fabric().rnic(event.host, rail))) {
      events.push_back({event.at, *endpoint, kind});
    }
  }
}

void SimMembership::announce(const CloudEvent& event, std::vector<MembershipEvent>& events) {
  endpoints_->follow(*world_, event);
  MembershipKind kind = MembershipKind::kReady;
  if (!announced(event.kind, kind)) {
    return;
  }
  for (std::uint32_t i = 0; i < event.lease_count; ++i) {
    events.push_back({event.at, EndpointMap::endpoint_of_lease(event.first_lease + i), kind});
  }
}

void SimMembership::collect(Time now, std::vector<MembershipEvent>& events) {
  clock_->advance(now);
  const std::vector<ContainerEvent>& log = world_->container_events();
  const std::vector<CloudEvent> cloud = world_->take_cloud_events();
  for (const CloudEvent& event : cloud) {
    for (; delivered_ < log.size() && log[delivered_].at <= event.at; ++delivered_) {
      announce(log[delivered_], events);
    }
    announce(event, events);
  }
  for (; delivered_ < log.size(); ++delivered_) {
    announce(log[delivered_], events);
  }
  if (!cloud.empty()) {
    endpoints_->sweep();
  }
}

AgentState SimMembership::alive(EndpointId endpoint, Time now) {
  clock_->advance(now);
  if (!endpoints_->knows(endpoint) || !endpoints_->bound(*world_, endpoint)) {
    return AgentState::kUnknown;
  }
  const RnicId rnic = endpoints_->rnic(endpoint);
  if (world_->in_cloud(rnic) && !world_->container_ready(rnic)) {
    return AgentState::kUnknown;  // There is no address that could refuse a connection.
  }
  return world_->agent_running(rnic) ? AgentState::kAlive : AgentState::kDead;
}

SimThroughput::SimThroughput(World& world, const EndpointMap& endpoints, WorldClock& clock)
    : world_(&world), endpoints_(&endpoints), clock_(&clock) {}

void SimThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  clock_->advance(now);
  for (; sampled_until_ + kSamplePeriod <= now; sampled_until_ += kSamplePeriod) {
    const Time at = sampled_until_ + kSamplePeriod;
    stage_bytes_.resize(world_->jobs().size());
    for (std::size_t j = 0; j < stage_bytes_.size(); ++j) {
      const Job& job = world_->jobs()[j];
      stage_bytes_[j].clear();
      for (std::uint32_t stage = 0; stage < job.options().pp; ++stage) {
        stage_bytes_[j].push_back(job.bytes_sent(stage, sampled_until_, at));
      }
    }
    for (const EndpointId endpoint : endpoints_->present()) {
      if (!endpoints_->bound(*world_, endpoint)) {
        continue;
      }
      const RnicId rnic = endpoints_->rnic(endpoint);
      const LoadKey place = load_key(*world_, rnic);
      const RngStream noise(world_->options().seed, Purpose::kThroughput, rnic.index());
      const double u = open01(noise.block(static_cast<std::uint64_t>(nanoseconds(at)))[0]);
      const double bytes = place.known ? stage_bytes_[place.job][place.stage] : 0.0;
      samples.push_back(
          {at,
           endpoint,
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
      tables_(world, endpoints_, clock(), components_, options.flow_counting),
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
