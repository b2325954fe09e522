#include "tests/validation/packet_case.h"

#include "model/fabric/ecmp_hash.h"
#include "model/probe_path.h"
#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace bonescan::validation {
namespace {

constexpr Duration kStart = std::chrono::microseconds(1);
constexpr double kLinePacketsPerS = 1e7;  ///< load packets at 100 Gb/s

/// Cases of one seed and different size share no draws.
std::uint64_t case_seed(const CaseOptions& options) {
  return options.seed * 1'000 + options.hosts;
}

LinkPath path_of(const World& world, RnicId source, RnicId target, std::uint16_t port) {
  return resolve_path(world, {.source = source, .target = target, .source_port = port}).request;
}

bool crosses(const LinkPath& path, LinkId link) {
  return std::find(path.span().begin(), path.span().end(), link) != path.span().end();
}

class Builder final {
 public:
  Builder(const World& world, Case& made) : world_(world), case_(made) {}

  RnicId host(std::uint32_t index) const { return RnicId(index % world_.fabric().host_count()); }

  /// Poisson load; returns the flow's number.
  void poisson(RnicId source, RnicId target, std::uint16_t port, double utilisation) {
    loads_.push_back({.source = source,
                      .target = target,
                      .source_port = port,
                      .shape = LoadShape::kPoisson,
                      .packets_per_s = utilisation * kLinePacketsPerS,
                      .from = kStartOfRun + kStart});
    add_flow(source, target, port);
  }

  void bursts(RnicId source, RnicId target, std::uint16_t port) {
    loads_.push_back({.source = source,
                      .target = target,
                      .source_port = port,
                      .shape = LoadShape::kBurst,
                      .burst_packets = kBurstPackets,
                      .period = kBurstPeriod,
                      .from = kStartOfRun + kStart});
    add_flow(source, target, port);
  }

  /// Probes at random moments, `count` in the mean.  Call after all loads.
  void probes(RnicId source, RnicId target, std::uint16_t port, double count) {
    const auto flow = static_cast<std::uint32_t>(case_.flows.size());
    const std::uint32_t bytes = wire_bytes(PacketKind::kUdRequest, kProbePayloadBytes);
    case_.flows.push_back({.source = source,
                           .target = target,
                           .path = path_of(world_, source, target, port),
                           .source_port = port,
                           .wire_bytes = bytes,
                           .probe = true});
    case_.flows.push_back({.source = target,
                           .target = source,
                           .path = path_of(world_, target, source, port),
                           .source_port = port,
                           .wire_bytes = bytes,
                           .answer = true});
    const double per_s = count / seconds(case_.length);
    const RngStream stream(case_seed(case_.options), Purpose::kTest, flow);
    Time at = kStartOfRun + kStart;
    for (std::uint64_t n = 0;; ++n) {
      at += Duration(
          static_cast<std::int64_t>(1 + exponential_quantile(stream.open01_at(n), 1e9 / per_s)));
      if (at >= kStartOfRun + case_.length) {
        break;
      }
      case_.sends.push_back({at, flow});
      ++case_.probe_count;
    }
  }

  void finish_loads() {
    case_.sends =
        OpenLoop::departures(loads_, case_seed(case_.options), kStartOfRun + case_.length);
  }

  void sort() {
    std::stable_sort(case_.sends.begin(),
                     case_.sends.end(),
                     [](const Departure& a, const Departure& b) { return a.at < b.at; });
  }

  /// A port whose path from source to target goes over `link`.
  std::uint16_t port_over(RnicId source, RnicId target, LinkId link) const {
    std::uint16_t port = 50'000;
    while (!crosses(path_of(world_, source, target, port), link)) {
      ++port;
    }
    return port;
  }

 private:
  void add_flow(RnicId source, RnicId target, std::uint16_t port) {
    case_.flows.push_back({.source = source,
                           .target = target,
                           .path = path_of(world_, source, target, port),
                           .source_port = port,
                           .wire_bytes = kLoadWireBytes});
  }

  const World& world_;
  Case& case_;
  std::vector<LoadFlow> loads_;
};

constexpr double kProbesWanted = 10'000;

void make_healthy(const World& world, Builder& builder, Case& made) {
  const std::uint32_t hosts = world.fabric().host_count();
  // As many packets for any number of hosts.
  made.length = std::chrono::microseconds(128'000 / hosts);
  for (std::uint32_t h = 0; h < hosts; ++h) {
    // Each of a leaf's hosts over a spine of its own: no link has more than its share.
    const RnicId source = builder.host(h);
    const RnicId target = builder.host(h + 7);
    const CableId over = world.fabric().fabric_cable(world.fabric().tor_of(source), h % kSpines);
    builder.poisson(
        source, target, builder.port_over(source, target, Fabric::up(over)), kHealthyUtilisation);
  }
  builder.finish_loads();
  for (std::uint32_t h = 0; h < hosts; ++h) {
    builder.probes(builder.host(h), builder.host(h + 5), 51'000, kProbesWanted / hosts);
  }
}

LinkId loaded_link(const World& world) {
  return Fabric::up(world.fabric().fabric_cable(world.fabric().tor(0, 0), 0));
}

void make_loaded(const World& world, Builder& builder, Case& made) {
  made.length = std::chrono::milliseconds(50);
  const LinkId link = loaded_link(world);
  for (std::uint32_t h = 0; h < kHostsPerLeaf; ++h) {
    const RnicId source = builder.host(h);
    const RnicId target = builder.host(kHostsPerLeaf + h);
    builder.poisson(source,
                    target,
                    builder.port_over(source, target, link),
                    kLoadedUtilisation / kHostsPerLeaf);
  }
  builder.finish_loads();
  for (std::uint32_t h = 0; h < kHostsPerLeaf; ++h) {
    const RnicId source = builder.host(h);
    const RnicId target = builder.host(2 * kHostsPerLeaf + h);
    builder.probes(
        source, target, builder.port_over(source, target, link), kProbesWanted / kHostsPerLeaf);
  }
}

void make_incast(const World& world, Builder& builder, Case& made) {
  made.length = std::chrono::milliseconds(40);
  const Fabric& fabric = world.fabric();
  const RnicId victim = builder.host(0);
  for (std::uint32_t s = 0; s < kBurstSenders; ++s) {
    // Two senders over each spine, from different leaves where there are enough.
    const std::uint32_t leaf = 1 + s % (fabric.options().segments - 1);
    const RnicId source =
        builder.host(leaf * kHostsPerLeaf + s / (fabric.options().segments - 1) % kHostsPerLeaf);
    const LinkId over = Fabric::down(fabric.fabric_cable(fabric.tor(0, 0), s % kSpines));
    builder.bursts(source, victim, builder.port_over(source, victim, over));
  }
  builder.finish_loads();
  for (std::uint32_t h = 1; h < kHostsPerLeaf; ++h) {
    builder.probes(builder.host(h), victim, 51'000, kProbesWanted / (kHostsPerLeaf - 1));
  }
}

/// Sends a case's packets and takes the times of its probes.
class Replay final {
 public:
  Replay(World& world, const Case& given)
      : world_(world),
        case_(given),
        network_(world, {.queue_bytes = kQueueBytes, .ecn = {.priorities = 0}}),
        receiver_(network_.add_receiver({&Replay::on_delivered, this})),
        rtts_(given.probe_count, -1) {}

  std::vector<std::int64_t> run() {
    schedule();
    world_.engine().run_until(kStartOfRun + case_.length + std::chrono::milliseconds(10));
    return rtts_;
  }

 private:
  void schedule() {
    if (next_ < case_.sends.size()) {
      world_.engine().schedule(
          case_.sends[next_].at, EventPriority::kProbe, action<&Replay::send_next>(*this));
    }
  }

  void send_next(std::uint64_t /*unused*/) {
    const std::uint32_t flow = case_.sends[next_++].flow;
    std::uint64_t tag = 0;
    if (case_.flows[flow].probe) {
      tag = sent_at_.size();
      sent_at_.push_back(world_.engine().now());
    }
    send(flow, tag);
    schedule();
  }

  void send(std::uint32_t number, std::uint64_t tag) {
    const CaseFlow& flow = case_.flows[number];
    Packet packet;
    packet.path = flow.path;
    packet.source = flow.source;
    packet.target = flow.target;
    packet.flow = flow_hash(flow.source.index(), flow.target.index(), flow.source_port);
    packet.wire_bytes = flow.wire_bytes;
    packet.psn = number;
    packet.tag = tag;
    packet.dscp = 26;
    packet.receiver = receiver_;
    network_.send(packet);
  }

  static void on_delivered(void* self, const Packet& packet) {
    auto& replay = *static_cast<Replay*>(self);
    const CaseFlow& flow = replay.case_.flows[packet.psn];
    if (flow.probe) {
      replay.send(packet.psn + 1, packet.tag);
    } else if (flow.answer) {
      replay.rtts_[packet.tag] =
          (replay.world_.engine().now() - replay.sent_at_[packet.tag]).count();
    }
  }

  World& world_;
  const Case& case_;
  PacketNetwork network_;
  std::uint8_t receiver_ = 0;
  std::size_t next_ = 0;
  std::vector<Time> sent_at_;
  std::vector<std::int64_t> rtts_;
};

/// The case's load as a scenario would give it.
LoadOptions case_load(const Case& given) {
  LoadOptions load;
  load.model = LoadModel::kLinks;
  OfferedIncast incast{.burst_bytes = kBurstPackets * double{kLoadWireBytes},
                       .period = kBurstPeriod};
  const double share = given.options.kind == CaseKind::kHealthy
                           ? kHealthyUtilisation
                           : kLoadedUtilisation / kHostsPerLeaf;
  for (const CaseFlow& flow : given.flows) {
    if (flow.probe || flow.answer) {
      continue;
    }
    if (given.options.kind == CaseKind::kIncast) {
      incast.senders.push_back({flow.source, flow.source_port});
      incast.target = flow.target;
    } else {
      load.flows.push_back({.source = flow.source,
                            .target = flow.target,
                            .rate_share = share,
                            .wire_bytes = flow.wire_bytes,
                            .source_port = flow.source_port});
    }
  }
  if (!incast.senders.empty()) {
    load.incasts.push_back(incast);
  }
  return load;
}

/// One probing flow of the fast mode.
struct FastFlow {
  QuadId quad;
  ProbeContext context;
  QuietStretch stretch;
};

}  // namespace

WorldOptions case_world(const CaseOptions& options) {
  BONESCAN_CHECK(options.hosts % kHostsPerLeaf == 0 && options.hosts >= 16);
  WorldOptions world;
  world.fabric.segments = options.hosts / kHostsPerLeaf;
  world.fabric.hosts_per_segment = kHostsPerLeaf;
  world.fabric.rails = 1;
  world.fabric.aggregation_switches = kSpines;
  world.fabric.link_rate = BitsPerSecond(100'000'000'000);
  world.latency.endpoints = Duration(0);
  world.latency.jitter_sigma = 0.0;
  world.latency.spike_ratio = 0.0;
  world.latency.base_loss_ratio = 0.0;
  world.seed = case_seed(options);
  return world;
}

Case make_case(const World& world, const CaseOptions& options) {
  Case made;
  made.options = options;
  Builder builder(world, made);
  switch (options.kind) {
    case CaseKind::kHealthy:
      make_healthy(world, builder, made);
      break;
    case CaseKind::kLoadedLink:
      make_loaded(world, builder, made);
      break;
    case CaseKind::kIncast:
      make_incast(world, builder, made);
      break;
  }
  builder.sort();
  return made;
}

std::vector<std::int64_t> run_packets(World& world, const Case& given) {
  return Replay(world, given).run();
}

std::vector<std::int64_t> run_fast_mode(const Case& given) {
  WorldOptions options = case_world(given.options);
  options.load = case_load(given);
  options.overlay.slow_path = Duration(0);
  options.overlay.upcall = Duration(0);
  Engine engine;
  World world(options, engine);
  LoadTimeline load;
  load.cover(world, kStartOfRun, kStartOfRun + given.length);
  std::vector<FastFlow> flows(given.flows.size());
  std::vector<std::int64_t> rtts;
  for (const Departure& send : given.sends) {
    const CaseFlow& from = given.flows[send.flow];
    if (!from.probe) {
      continue;
    }
    FastFlow& flow = flows[send.flow];
    if (!flow.quad.valid()) {
      flow.quad = world.flows().find_or_add(from.source, from.target, world.jobs());
      flow.context.spec = {.source = from.source,
                           .target = from.target,
                           .source_port = from.source_port,
                           .bytes = kProbePayloadBytes,
                           .dscp = 26};
      flow.context.path = resolve_path(world, flow.context.spec);
      flow.context.path.answers = true;  // No containers here, and packets ask for none.
    }
    FlowQuad& quad = world.flows()[flow.quad];
    const PhiloxCounter bits = probe_bits(probe_stream(world, from.source, from.target), send.at);
    if (flow.stretch.covers(send.at, bits)) {
      rtts.push_back(flow.stretch.sample(world, flow.context.path, send.at, bits));
      continue;
    }
    flow.stretch.settle(quad);
    const std::uint32_t rtt = evaluate_probe(world, load, flow.context, quad, send.at, bits);
    rtts.push_back(rtt == kNoAnswer ? -1 : std::int64_t{rtt});
    flow.stretch.begin(world, load, flow.context, quad, send.at);
  }
  return rtts;
}

void export_case(const World& world, const Case& given, const std::string& directory) {
  const Fabric& fabric = world.fabric();
  std::ofstream topology(directory + "/topology.txt");
  topology << fmt::format(
      "hosts {}\nhosts_per_leaf {}\nspines {}\nrate_bps {}\naccess_ns {}\n"
      "fabric_ns {}\nqueue_bytes {}\nlength_ns {}\nprobes {}\n",
      fabric.host_count(),
      kHostsPerLeaf,
      kSpines,
      fabric.options().link_rate.count(),
      world.latency().options().access_link.count(),
      world.latency().options().fabric_link.count(),
      kQueueBytes,
      given.length.count(),
      given.probe_count);
  std::ofstream flows(directory + "/flows.txt");
  for (const CaseFlow& flow : given.flows) {
    // The spine of the route, or -1 below one leaf.
    const int spine =
        flow.path.count == 4
            ? static_cast<int>(fabric.aggregation_end(Fabric::cable_of(flow.path.links[1])))
            : -1;
    flows << fmt::format("{} {} {} {} {}\n",
                         flow.source.index(),
                         flow.target.index(),
                         spine,
                         flow.wire_bytes,
                         flow.probe    ? "probe"
                         : flow.answer ? "answer"
                                       : "load");
  }
  std::ofstream sends(directory + "/sends.txt");
  for (const Departure& send : given.sends) {
    sends << nanoseconds(send.at) << ' ' << send.flow << '\n';
  }
}

}  // namespace bonescan::validation
