#include "tools/agent/system_sources.h"

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/host_reader.h"
#include "detectors/backend_ovs/ovs_inspector.h"
#include "detectors/backend_ovs/ovs_tables.h"
#include "detectors/backend_ovs/ovs_workshop.h"
#include "detectors/backend_ovs/port_counters.h"
#include "detectors/backend_peers/peer_membership.h"
#include "detectors/backend_trace/topology_paths.h"
#include "detectors/backend_trace/udp_traceroute.h"
#include "detectors/backend_verbs/ibverbs_device.h"
#include "detectors/backend_verbs/verbs_probes.h"
#include "tools/agent/agent_topology.h"
#include "tools/agent/device_preflight.h"
#include "tools/agent/host_preflight.h"
#include "tools/agent/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace bonescan {
namespace {

constexpr auto kPeerPatience = std::chrono::seconds(1);
constexpr std::uint16_t kLeastPayload = 1024;
/// Controls and second looks are that much longer than planned probes.
constexpr std::uint16_t kExtraPayload = 8;
constexpr std::int64_t kNsPerMs = 1'000'000;

class VerbsClock final : public verbs::HostClock {
 public:
  explicit VerbsClock(const AgentClock& clock) : clock_(clock) {}

  Time now() const override { return clock_.now(); }

 private:
  const AgentClock& clock_;
};

std::vector<verbs::EndpointOptions> local_endpoints(const AgentConfig& config,
                                                    std::uint64_t first_epoch) {
  std::vector<verbs::EndpointOptions> endpoints;
  for (std::size_t i = 0; i < config.inventory.size(); ++i) {
    const InventoryEntry& entry = config.inventory[i];
    if (entry.host != config.host) {
      continue;
    }
    verbs::EndpointOptions options;
    options.id = EndpointId(static_cast<std::uint32_t>(i));
    options.name = entry.name;
    options.device = entry.device;
    options.port = entry.port;
    options.gid = gid_wish_of(entry);
    options.queue_pairs = config.queue_pairs;
    options.service_level = config.service_level;
    options.first_epoch = first_epoch;
    options.max_payload_bytes = std::max<std::uint16_t>(
        kLeastPayload, config.pipeline.probing.payload_bytes + kExtraPayload);
    endpoints.push_back(std::move(options));
  }
  return endpoints;
}

PeerDriverOptions driver_options(const AgentConfig& config, const AgentClock& clock) {
  const SocketAddress listen = *parse_socket_address(config.management);
  PeerDriverOptions options;
  options.own.host = config.host;
  options.own.agent_epoch = static_cast<std::uint64_t>(clock.epoch_unix_ns() / kNsPerMs);
  options.listen_address = listen.address;
  options.listen_port = listen.port;
  for (const ManagedHost& host : config.hosts) {
    if (host.name != config.host) {
      const SocketAddress where = *parse_socket_address(host.management);
      options.peers.push_back({.host = host.name, .address = where.address, .port = where.port});
    }
  }
  options.now = [&clock] { return clock.now(); };
  return options;
}

std::vector<backend_ovs::CounterPort> counter_ports(const AgentConfig& config) {
  std::vector<backend_ovs::CounterPort> ports;
  for (std::size_t i = 0; i < config.inventory.size(); ++i) {
    const InventoryEntry& entry = config.inventory[i];
    if (entry.host == config.host) {
      ports.push_back({.endpoint = EndpointId(static_cast<std::uint32_t>(i)),
                       .device = entry.device,
                       .port = entry.port});
    }
  }
  return ports;
}

/// The seven real sources and what they share.
class SystemLiveSources final : public LiveSources {
 public:
  SystemLiveSources(const AgentConfig& config,
                    const EndpointDirectory& endpoints,
                    const AgentClock& clock,
                    const RdmaFactory& rdma,
                    backend_ovs::CommandRunner& runner)
      : config_(config),
        endpoints_(endpoints),
        clock_(clock),
        verbs_clock_(clock),
        verbs_system_(rdma(verbs_clock_)),
        runner_(runner) {}

  ~SystemLiveSources() override {
    // Its thread calls back into this object.
    if (probes_ != nullptr) {
      probes_->stop();
    }
  }

  SystemLiveSources(const SystemLiveSources&) = delete;
  SystemLiveSources& operator=(const SystemLiveSources&) = delete;

  /// @errors those of the sources that no agent can do without
  Expected<void> open() {
    LiveTelemetry::Parts parts;
    auto membership =
        PeerMembership::start(driver_options(config_, clock_), endpoints_, peer_book_);
    if (!membership) {
      return tl::unexpected(membership.error());
    }
    membership_ = membership->get();
    parts.membership = std::move(*membership);
    verbs::VerbsProbesOptions options;
    options.endpoints =
        local_endpoints(config_, static_cast<std::uint64_t>(clock_.epoch_unix_ns() / kNsPerMs));
    options.on_local_events = [this] { follow_local_events(); };
    auto probes = verbs::VerbsProbes::create(
        *verbs_system_, verbs_clock_, endpoints_, peer_book_, std::move(options));
    if (!probes) {
      return tl::unexpected(probes.error());
    }
    {
      const std::lock_guard lock(mutex_);
      probes_ = probes->get();
    }
    parts.probes = std::move(*probes);
    open_optional(parts);
    live_.emplace(std::move(parts), endpoints_, components_);
    follow_local_events();
    return {};
  }

  Telemetry telemetry() override { return live_->telemetry(); }

  void announce_stop() override { membership_->stop(); }

  std::vector<std::string> take_notes() override {
    std::vector<std::string> notes;
    {
      const std::lock_guard lock(mutex_);
      notes.swap(notes_);
    }
    note_peers(notes);
    return notes;
  }

 private:
  void open_optional(LiveTelemetry::Parts& parts) {
    if (const auto topology = load_agent_topology(config_)) {
      parts.paths = make_paths(*topology);
    }
    if (!config_.ovs.empty()) {
      workshop_.emplace(ovs_config_of(config_), runner_);
      parts.overlay =
          std::make_unique<backend_ovs::OvsInspector>(*workshop_, endpoints_, components_);
      parts.tables = std::make_unique<backend_ovs::OvsTables>(*workshop_, endpoints_, components_);
    }
    parts.throughput = std::make_unique<backend_ovs::PortCounters>(counter_ports(config_));
    std::vector<backend_ovs::HostPort> own;
    for (const backend_ovs::CounterPort& port : counter_ports(config_)) {
      own.push_back({port.endpoint, port.device, port.port});
    }
    parts.hosts =
        std::make_unique<backend_ovs::HostReader>(std::move(own), endpoints_, components_);
  }

  std::unique_ptr<TopologyPaths> make_paths(const TopologyDraft& topology) {
    std::unique_ptr<FlowTracer> tracer;
    if (config_.trace_routers) {
      tracer = std::make_unique<FlowTracer>(std::make_unique<UdpTraceroute>(UdpTracerouteOptions{}),
                                            FlowTracerOptions{});
    }
    return std::make_unique<TopologyPaths>(
        Topology(topology, endpoints_),
        endpoints_,
        components_,
        std::move(tracer),
        [this](const FlowKey& flow) { return outer_flow(flow); });
  }

  /// Where the underlay address is not the endpoint's own, a tunnel stands between, whose source
  /// port is a hash that nobody tells.
  Expected<OuterFlow> outer_flow(const FlowKey& flow) const {
    const Endpoint& source = endpoints_[flow.source];
    const Endpoint& target = endpoints_[flow.target];
    const auto is_tunnelled = [](const Endpoint& endpoint) {
      return !endpoint.underlay_ip.empty() && endpoint.underlay_ip != endpoint.overlay_ip;
    };
    if (is_tunnelled(source) || is_tunnelled(target)) {
      return fail(ErrorCode::kUnavailable, "the tunnel's own source port is not known");
    }
    if (source.overlay_ip.empty() || target.overlay_ip.empty()) {
      return fail(ErrorCode::kUnavailable, "an address is missing in the inventory");
    }
    const auto port = probes_->wire_source_port(flow);
    if (!port) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("the device of {} does not tell its source ports", source.name));
    }
    OuterFlow outer;
    outer.source = source.overlay_ip;
    outer.target = target.overlay_ip;
    outer.source_port = *port;
    outer.dscp = config_.pipeline.probing.dscp;
    return outer;
  }

  /// Tells the peers of new addresses.  On the probes' thread, and once from open().
  void follow_local_events() {
    const std::lock_guard lock(mutex_);
    if (probes_ == nullptr) {
      return;  // open() looks again.
    }
    std::vector<verbs::LocalEvent> events;
    probes_->take_local_events(events);
    const auto addresses = probes_->addresses();
    for (const verbs::LocalEvent& event : events) {
      note(fmt::format("{}: {}{}{}",
                       endpoints_[event.endpoint].name,
                       to_string(event.kind),
                       event.detail.empty() ? "" : ", ",
                       event.detail));
    }
    for (const auto& [endpoint, address] : addresses) {
      PeerAddress& declared = declared_[endpoint];
      if (declared == address) {
        continue;
      }
      const auto told = membership_->declare(endpoint, PeerState::kReady, address);
      if (told) {
        declared = address;
      } else {
        note(told.error().detail);
      }
    }
  }

  void note(std::string text) {
    constexpr std::size_t kMaxNotes = 64;
    if (notes_.size() < kMaxNotes) {
      notes_.push_back(std::move(text));
    }
  }

  /// What changed among the peers' agents.
  void note_peers(std::vector<std::string>& notes) {
    for (const PeerStatus& status : membership_->status()) {
      const auto [known, is_new] = peers_told_.emplace(status.host, AgentState::kUnknown);
      if (known->second == status.state) {
        continue;
      }
      known->second = status.state;
      const std::string_view state = status.state == AgentState::kAlive  ? "answers"
                                     : status.state == AgentState::kDead ? "is gone"
                                                                         : "cannot be judged";
      notes.push_back(
          fmt::format("agent of {} {}{}",
                      status.host,
                      state,
                      status.state != AgentState::kAlive && status.last_close
                          ? fmt::format(": connection {}", to_string(*status.last_close))
                          : std::string()));
    }
  }

  const AgentConfig config_;
  const EndpointDirectory& endpoints_;
  const AgentClock& clock_;
  VerbsClock verbs_clock_;
  ComponentTable components_;
  PeerBook peer_book_;
  std::unique_ptr<verbs::RdmaSystem> verbs_system_;
  backend_ovs::CommandRunner& runner_;
  std::optional<backend_ovs::OvsWorkshop> workshop_;
  std::mutex mutex_;
  std::vector<std::string> notes_;              ///< under the mutex
  std::map<EndpointId, PeerAddress> declared_;  ///< under the mutex
  std::map<std::string, AgentState> peers_told_;
  PeerMembership* membership_ = nullptr;  ///< owned by live_
  verbs::VerbsProbes* probes_ = nullptr;  ///< owned by live_
  std::optional<LiveTelemetry> live_;     ///< last: the sources use all of the above
};

/// For a look at the devices, which times nothing.
class StandingClock final : public verbs::HostClock {
 public:
  Time now() const override { return kStartOfRun; }
};

class SystemSources final : public LiveSystem {
 public:
  SystemSources(RdmaFactory rdma, backend_ovs::CommandRunner& runner)
      : rdma_(std::move(rdma)), runner_(runner) {}

  std::vector<PreflightRow> inspect(const AgentConfig& config) override {
    const StandingClock clock;
    std::vector<PreflightRow> rows = inspect_devices(config, rdma_(clock)->describe());
    const auto add = [&rows](std::vector<PreflightRow> more) {
      rows.insert(rows.end(), more.begin(), more.end());
    };
    if (can_run(rows)) {
      add(inspect_counters(config, "/sys"));
    }
    add(inspect_ovs(config, runner_));
    rows.push_back(inspect_topology(config));
    rows.push_back(inspect_management(config));
    add(inspect_peers(config, kPeerPatience));
    rows.push_back(inspect_clock());
    return rows;
  }

  Expected<std::unique_ptr<LiveSources>> open(const AgentConfig& config,
                                              const EndpointDirectory& endpoints,
                                              const AgentClock& clock) override {
    auto sources = std::make_unique<SystemLiveSources>(config, endpoints, clock, rdma_, runner_);
    if (const Expected<void> opened = sources->open(); !opened) {
      return tl::unexpected(opened.error());
    }
    return sources;
  }

 private:
  RdmaFactory rdma_;
  backend_ovs::CommandRunner& runner_;
};

}  // namespace

std::unique_ptr<LiveSystem> make_system_sources() {
  static backend_ovs::SystemRunner runner;  // It has no state.
  return make_system_sources(&verbs::make_ibverbs_system, runner);
}

std::unique_ptr<LiveSystem> make_system_sources(RdmaFactory rdma,
                                                backend_ovs::CommandRunner& runner) {
  return std::make_unique<SystemSources>(std::move(rdma), runner);
}

}  // namespace bonescan
