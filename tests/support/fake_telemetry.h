// A small world that works: fakes of the seven interfaces of the seam, scriptable and recording.
//
// Probes go out, take an RTT and come back; what is wrong with them is a list of FakeEffects.  The
// on-demand sources answer for a healthy network unless a script says otherwise.  Everything that
// was asked is kept, so a test can tell what the code under test wanted to know.
//
//   FakeTelemetry world(fake_endpoints(2, 2));        // two hosts with two RNICs each
//   world.all_ready(kStartOfRun);
//   world.effects.push_back({.from = at_s(10), .hits = to_endpoint(EndpointId(3)), .lose_one_in =
//   1}); world.walk_script = [&](const FlowKey& flow, Time) { return world.broken_walk(flow); };
//   Pipeline pipeline(options, world.telemetry());
//
// Deterministic: an RTT depends only on the flow, the probe's time and the effects.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "tests/support/fake_host_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan::fakes {

constexpr Time kForever = Time(Duration(std::numeric_limits<std::int64_t>::max()));

constexpr Time at_ms(std::int64_t ms) {
  return Time(std::chrono::milliseconds(ms));
}

constexpr Time at_s(std::int64_t s) {
  return Time(std::chrono::seconds(s));
}

/// Hosts "host-1.01", "host-1.02", ...; RNIC r of every host is on rail r and ToR
/// "tor-<segment>.<r>". A segment has `hosts_per_segment` hosts.  Endpoint id = host * rnics + r.
inline EndpointDirectory fake_endpoints(int hosts, int rnics, int hosts_per_segment = 2) {
  EndpointDirectory endpoints;
  for (int host = 0; host < hosts; ++host) {
    const int segment = host / hosts_per_segment + 1;
    const std::string name = fmt::format("host-{}.{:02}", segment, host % hosts_per_segment + 1);
    for (int rail = 0; rail < rnics; ++rail) {
      endpoints.push_back({.name = fmt::format("{}/rnic-{}", name, rail),
                           .host = name,
                           .task = "job-1",
                           .overlay_ip = fmt::format("10.0.{}.{}", host, rail + 1),
                           .underlay_ip = fmt::format("192.168.{}.{}", host, rail + 1),
                           .tor = fmt::format("tor-{}.{}", segment, rail),
                           .rail = static_cast<std::uint16_t>(rail)});
    }
  }
  return endpoints;
}

/// A task of its own on hosts [first_host, first_host + hosts), numbered as above.
inline EndpointDirectory fake_task(
    const std::string& task, int first_host, int hosts, int rnics, int hosts_per_segment = 2) {
  const EndpointDirectory all = fake_endpoints(first_host + hosts, rnics, hosts_per_segment);
  EndpointDirectory endpoints;
  for (int i = first_host * rnics; i < (first_host + hosts) * rnics; ++i) {
    endpoints.push_back(all[EndpointId(static_cast<std::uint32_t>(i))]);
    endpoints[EndpointId(static_cast<std::uint32_t>(endpoints.size() - 1))].task = task;
  }
  return endpoints;
}

using FlowPredicate = std::function<bool(const FlowKey&)>;

inline FlowPredicate every_flow() {
  return [](const FlowKey&) { return true; };
}

inline FlowPredicate between(EndpointId source, EndpointId target) {
  return [=](const FlowKey& flow) { return flow.source == source && flow.target == target; };
}

/// Both what the endpoint sends and what is sent to it.
inline FlowPredicate to_endpoint(EndpointId endpoint) {
  return [=](const FlowKey& flow) { return flow.source == endpoint || flow.target == endpoint; };
}

/// Something wrong with the probes of some flows for some time.
struct FakeEffect {
  Time from = kStartOfRun;
  Time to = kForever;
  FlowPredicate hits = every_flow();
  std::uint32_t lose_one_in = 0;  ///< 1 = all, 3 = every third probe of a flow, 0 = none
  Duration extra{};               ///< added to the RTT
  bool local_error = false;       ///< the probes never leave the RNIC
  std::uint16_t least_bytes = 0;  ///< of payload; smaller packets pass
  std::uint16_t most_bytes = 0xFFFF;
  std::optional<std::uint8_t> dscp{};  ///< others pass

  bool takes(const ProbeRequest& request, Time sent) const {
    return sent >= from && sent < to && request.payload_bytes >= least_bytes &&
           request.payload_bytes <= most_bytes && (!dscp || *dscp == request.dscp) &&
           hits({request.ends.source, request.ends.target, request.source_port});
  }
};

class FakeTelemetry final : private Probes,
                            private PathTracer,
                            private OverlayInspector,
                            private FlowTableSource,
                            private HostInspector,
                            private Throughput,
                            private Membership {
 public:
  template <class Answer>
  using Script = std::function<Expected<Answer>(const FlowKey&, Time)>;
  using DumpScript =
      std::function<Expected<FlowTableDump>(EndpointId, std::span<const FlowKey>, Time)>;

  using CounterScript = std::function<Expected<FlowCounterDump>(EndpointId, Time)>;
  using HostScript = std::function<Expected<HostReport>(EndpointId, Time)>;

  explicit FakeTelemetry(EndpointDirectory directory) : endpoints_(std::move(directory)) {
    for (const Endpoint& endpoint : endpoints_) {
      name_parts(endpoint);
    }
  }

  FakeTelemetry(const FakeTelemetry&) = delete;
  FakeTelemetry& operator=(const FakeTelemetry&) = delete;

  Telemetry telemetry() {
    return {endpoints_, components, *this, *this, *this, *this, *this, *this, this};
  }

  const EndpointDirectory& endpoints() const { return endpoints_; }

  /// Announces every endpoint, in order.
  void all_ready(Time at) {
    for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
      events.push_back({at, EndpointId(i), MembershipKind::kReady});
    }
  }

  /// Submits a task at `at`: its endpoints are in the directory once its events are collected.
  /// REQUIRES: no event after `at` has been collected.
  EndpointRange submit(Time at, const EndpointDirectory& task) {
    const auto first = static_cast<std::uint32_t>(endpoints_.size() + coming_.size());
    for (std::uint32_t i = 0; i < task.size(); ++i) {
      coming_.push_back(task[EndpointId(i)]);
      name_parts(coming_.back());
      announce(at, EndpointId(first + i), MembershipKind::kSubmitted);
    }
    return {EndpointId(first), static_cast<std::uint32_t>(task.size())};
  }

  /// One event for each of the endpoints.
  void announce(Time at, EndpointRange range, MembershipKind kind) {
    for (std::uint32_t i = 0; i < range.count; ++i) {
      announce(at, range[i], kind);
    }
  }

  /// After all that happens until `at`.
  void announce(Time at, EndpointId endpoint, MembershipKind kind) {
    const auto place = std::upper_bound(
        events.begin(), events.end(), at, [](Time time, const MembershipEvent& event) {
          return time < event.at;
        });
    events.insert(place, {at, endpoint, kind});
  }

  /// What a healthy network answers.
  TracedPath healthy_path(const FlowKey& flow) {
    return {one_way(flow.source, flow.target), one_way(flow.target, flow.source)};
  }

  OverlayWalk healthy_walk(const FlowKey& flow) {
    return {.hops = {{bridge(flow.source), rule_to(flow.target), "set_tunnel:100,output:vxlan0"},
                     {bridge(flow.target), rule_to(flow.target), "output:vf0"}},
            .end = WalkEnd::kDelivered,
            .culprit = ComponentId(),
            .reason = ""};
  }

  FlowTableDump healthy_dump(EndpointId at, std::span<const FlowKey> flows) {
    FlowTableDump dump{.rnic = rnic(at), .bridge = bridge(at), .rows = {}};
    for (const FlowKey& flow : flows) {
      const bool leaves = flow.source == at;
      const std::string actions = leaves ? "encap(vni=100),output:uplink" : "decap,output:vf0";
      const FlowEntry entry{.present = true, .actions = actions, .packets = 1000, .used = {}};
      dump.rows.push_back({.flow = flow,
                           .role = leaves ? FlowRole::kEncap : FlowRole::kDecap,
                           .match = fmt::format("udp,tp_src={}", flow.source_port),
                           .expected_actions = actions,
                           .hardware_expected = true,
                           .datapath = entry,
                           .eswitch = entry,
                           .shadow = {},
                           .shadow_match = {}});
    }
    return dump;
  }

  /// One flow to each endpoint of the same task and rail on another host, a megabyte a second.
  FlowCounterDump healthy_counters(EndpointId at, Time now) {
    FlowCounterDump dump{.rnic = rnic(at), .flows = {}};
    const Endpoint& own = endpoints_[at];
    for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
      const Endpoint& other = endpoints_[EndpointId(i)];
      if (other.task == own.task && other.rail == own.rail && other.host != own.host) {
        const Duration age = now - kStartOfRun;
        dump.flows.push_back(
            {EndpointId(i), static_cast<std::uint64_t>(seconds(age) * 1'000'000.0), age});
      }
    }
    return dump;
  }

  /// Four GIDs, all pages there, both ports of the bond up, a gigabyte a second, full width.
  HostReport healthy_report(EndpointId at, Time now) {
    const ComponentId host = components.intern(ComponentType::kHost, endpoints_[at].host);
    return fake_host_report(host, rnic(at), at, now);
  }

  /// The walk of a flow whose rule is missing at the source's bridge.
  OverlayWalk broken_walk(const FlowKey& flow) {
    return {
        .hops = {{bridge(flow.source), "table miss", "drop"}},
        .end = WalkEnd::kNoNextHop,
        .culprit = components.intern(
            ComponentType::kRule, endpoints_[flow.source].host + "/br-int " + rule_to(flow.target)),
        .reason = "no rule matches " + endpoints_[flow.target].overlay_ip};
  }

  /// The dump of flows whose eswitch entries are gone while the datapath keeps its own.
  FlowTableDump missing_entries(EndpointId at, std::span<const FlowKey> flows) {
    FlowTableDump dump = healthy_dump(at, flows);
    for (FlowTableRow& row : dump.rows) {
      row.eswitch = {};
    }
    return dump;
  }

  ComponentId rnic(EndpointId id) {
    return components.intern(ComponentType::kRnic, endpoints_[id].name);
  }

  ComponentId bridge(EndpointId id) {
    return components.intern(ComponentType::kBridge, endpoints_[id].host + "/br-int");
  }

  ComponentId access_link(EndpointId id) {
    return components.intern(ComponentType::kLink, access_link(endpoints_[id]));
  }

  bool knows(const FlowKey& flow) const {
    return endpoints_.contains(flow.source) && endpoints_.contains(flow.target);
  }

  // What is so.
  ComponentTable components;
  std::vector<FakeEffect> effects;
  std::vector<MembershipEvent> events;      ///< ordered by time
  std::vector<ThroughputSample> samples;    ///< ordered by (time, endpoint)
  std::map<EndpointId, AgentState> agents;  ///< kAlive if absent
  bool answers_pend = false;  ///< the first time a question is asked, the answer is kPending
  Script<TracedPath> trace_script;
  Script<OverlayWalk> walk_script;
  DumpScript dump_script;
  CounterScript counter_script;
  HostScript host_script;

  // What was asked.
  std::vector<ProbeRequest> requests;
  std::vector<FlowKey> traced;
  std::vector<FlowKey> walked;
  std::vector<std::pair<EndpointId, std::vector<FlowKey>>> dumped;
  std::vector<EndpointId> counted;
  std::vector<EndpointId> inspected;
  std::vector<EndpointId> asked_alive;

 private:
  struct Flight {
    Visit visit;
    Time done;
    std::vector<std::uint32_t> sent_after_ns;
    std::vector<std::uint32_t> rtt_ns;
  };

  void name_parts(const Endpoint& endpoint) {
    components.intern(ComponentType::kRnic, endpoint.name);
    components.intern(ComponentType::kBridge, endpoint.host + "/br-int");
    components.intern(ComponentType::kLink, access_link(endpoint));
  }

  static std::string access_link(const Endpoint& endpoint) {
    return fmt::format("link({}, {})", endpoint.name, endpoint.tor);
  }

  std::string rule_to(EndpointId target) const {
    return "table=10 vni=100,dst=" + endpoints_[target].overlay_ip;
  }

  std::vector<PathHop> one_way(EndpointId from, EndpointId to) {
    std::vector<PathHop> hops{{access_link(from), LinkDirection::kUp}};
    const std::string& up = endpoints_[from].tor;
    const std::string& down = endpoints_[to].tor;
    if (up != down) {
      const auto link = [&](const std::string& tor) {
        return components.intern(ComponentType::kLink, fmt::format("link({}, agg-1)", tor));
      };
      hops.push_back({link(up), LinkDirection::kUp});
      hops.push_back({link(down), LinkDirection::kDown});
    }
    hops.push_back({access_link(to), LinkDirection::kDown});
    return hops;
  }

  std::uint32_t rtt_of(const ProbeRequest& request, Time sent) {
    const FlowKey flow{request.ends.source, request.ends.target, request.source_port};
    const std::uint64_t count = sent_count_[flow]++;
    const std::uint64_t mixed =
        (count + 7 * flow.source.index() + 13 * flow.target.index() + flow.source_port) *
        0x9E3779B97F4A7C15ull;
    Duration rtt(16'000 + static_cast<std::int64_t>((mixed >> 32) % 800));
    for (const FakeEffect& effect : effects) {
      if (!effect.takes(request, sent)) {
        continue;
      }
      if (effect.local_error) {
        return kLocalErrorRtt;
      }
      if (effect.lose_one_in > 0 && count % effect.lose_one_in == 0) {
        return kLostRtt;
      }
      rtt += effect.extra;
    }
    return rtt < request.timeout ? static_cast<std::uint32_t>(rtt.count()) : kLostRtt;
  }

  void submit(std::span<const ProbeRequest> asked) override {
    for (const ProbeRequest& request : asked) {
      requests.push_back(request);
      Flight flight;
      flight.visit = {request.pair,
                      request.start,
                      0,
                      request.source_port,
                      request.payload_bytes,
                      request.dscp,
                      request.count};
      flight.done = request.start;
      for (int i = 0; i < request.count; ++i) {
        const Duration after = request.spacing * i;
        const Time sent = request.start + after;
        const std::uint32_t rtt = rtt_of(request, sent);
        const Duration wait = answered(rtt)           ? Duration(rtt)
                              : rtt == kLocalErrorRtt ? Duration(0)
                                                      : request.timeout;
        flight.done = std::max(flight.done, sent + wait);
        flight.sent_after_ns.push_back(static_cast<std::uint32_t>(after.count()));
        flight.rtt_ns.push_back(rtt);
      }
      flights_.push_back(std::move(flight));
    }
  }

  void collect(Time now, ProbeBatch& batch) override {
    const auto landed = std::stable_partition(
        flights_.begin(), flights_.end(), [&](const Flight& flight) { return flight.done > now; });
    std::vector<Flight> done(std::make_move_iterator(landed),
                             std::make_move_iterator(flights_.end()));
    flights_.erase(landed, flights_.end());
    std::stable_sort(done.begin(), done.end(), [](const Flight& a, const Flight& b) {
      return std::tie(a.visit.start, a.visit.pair) < std::tie(b.visit.start, b.visit.pair);
    });
    for (Flight& flight : done) {
      flight.visit.first = static_cast<std::uint32_t>(batch.rtt_ns.size());
      batch.visits.push_back(flight.visit);
      batch.sent_after_ns.insert(
          batch.sent_after_ns.end(), flight.sent_after_ns.begin(), flight.sent_after_ns.end());
      batch.rtt_ns.insert(batch.rtt_ns.end(), flight.rtt_ns.begin(), flight.rtt_ns.end());
    }
  }

  Error unknown_flow() const { return {ErrorCode::kUnavailable, "no such flow"}; }

  /// Whether this question has to be asked again.
  bool pends(std::string question) {
    return answers_pend && asked_before_.insert(std::move(question)).second;
  }

  static std::string question(std::string_view kind, const FlowKey& flow) {
    return fmt::format(
        "{} {} {} {}", kind, flow.source.index(), flow.target.index(), flow.source_port);
  }

  Expected<TracedPath> trace(const FlowKey& flow, Time now) override {
    traced.push_back(flow);
    if (!knows(flow)) {
      return tl::unexpected(unknown_flow());
    }
    if (pends(question("trace", flow))) {
      return fail(ErrorCode::kPending, "tracing");
    }
    return trace_script ? trace_script(flow, now) : healthy_path(flow);
  }

  Expected<OverlayWalk> walk(const FlowKey& flow, Time now) override {
    walked.push_back(flow);
    if (!knows(flow)) {
      return tl::unexpected(unknown_flow());
    }
    if (pends(question("walk", flow))) {
      return fail(ErrorCode::kPending, "walking");
    }
    return walk_script ? walk_script(flow, now) : healthy_walk(flow);
  }

  Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) override {
    dumped.emplace_back(at, std::vector<FlowKey>(flows.begin(), flows.end()));
    const bool known =
        endpoints_.contains(at) &&
        std::all_of(flows.begin(), flows.end(), [&](const FlowKey& flow) { return knows(flow); });
    if (!known) {
      return tl::unexpected(unknown_flow());
    }
    if (pends(fmt::format("dump {}", at.index()))) {
      return fail(ErrorCode::kPending, "dumping");
    }
    return dump_script ? dump_script(at, flows, now) : healthy_dump(at, flows);
  }

  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override {
    counted.push_back(at);
    if (!endpoints_.contains(at)) {
      return tl::unexpected(unknown_flow());
    }
    if (pends(fmt::format("counters {}", at.index()))) {
      return fail(ErrorCode::kPending, "counting");
    }
    return counter_script ? counter_script(at, now) : healthy_counters(at, now);
  }

  Expected<HostReport> inspect(EndpointId at, Time now) override {
    inspected.push_back(at);
    if (!endpoints_.contains(at)) {
      return tl::unexpected(unknown_flow());
    }
    if (pends(fmt::format("host {}", at.index()))) {
      return fail(ErrorCode::kPending, "inspecting");
    }
    return host_script ? host_script(at, now) : healthy_report(at, now);
  }

  void collect(Time now, std::vector<ThroughputSample>& out) override {
    for (; samples_given_ < samples.size() && samples[samples_given_].at <= now; ++samples_given_) {
      out.push_back(samples[samples_given_]);
    }
  }

  void collect(Time now, std::vector<MembershipEvent>& out) override {
    for (; events_given_ < events.size() && events[events_given_].at <= now; ++events_given_) {
      const MembershipEvent& event = events[events_given_];
      if (event.kind == MembershipKind::kSubmitted) {
        endpoints_.push_back(std::move(coming_.front()));
        coming_.pop_front();
      }
      out.push_back(event);
    }
  }

  AgentState alive(EndpointId endpoint, Time) override {
    asked_alive.push_back(endpoint);
    if (!endpoints_.contains(endpoint)) {
      return AgentState::kUnknown;
    }
    const auto found = agents.find(endpoint);
    return found == agents.end() ? AgentState::kAlive : found->second;
  }

  EndpointDirectory endpoints_;
  std::deque<Endpoint> coming_;  ///< submitted, but not announced yet
  std::vector<Flight> flights_;
  std::map<FlowKey, std::uint64_t> sent_count_;
  std::set<std::string> asked_before_;
  std::size_t samples_given_ = 0;
  std::size_t events_given_ = 0;
};

}  // namespace bonescan::fakes
