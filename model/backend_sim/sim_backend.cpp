#include "model/backend_sim/sim_backend.h"

namespace bonescan {
namespace {

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

}  // namespace

void SimMembership::announce(const ContainerEvent& event,
                             std::vector<MembershipEvent>& events) const {
  MembershipKind kind = MembershipKind::kReady;
  if (!announced(event.state, kind)) {
    return;
  }
  for (std::uint32_t i = 0; i < event.width; ++i) {
    const RnicId rnic = world_->fabric().rnic(event.host, event.first_rail + i);
    if (const auto endpoint = endpoints_->endpoint(rnic)) {
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
      throughput_(world, endpoints_, clock(), options.channel),
      membership_(world, endpoints_, clock()),
      hosts_(world, endpoints_, clock(), components_, options.channel),
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
          .throughput = throughput_,
          .membership = membership_,
          .hosts = &hosts_};
}

}  // namespace bonescan
