#include "scenarios/schema/load_keys.h"

#include "model/fabric/component_ref.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <chrono>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr Range<double> kShare{0.0, 1.0};
constexpr Range<Duration> kMoment{nanoseconds(0), hours(24 * 366)};
constexpr Range<Bytes> kQueue{Bytes(1), Bytes(1'000'000'000)};
constexpr Range<BitsPerSecond> kRate{BitsPerSecond(0), BitsPerSecond(3'200'000'000'000)};

auto load(auto member) {
  return field(&Scenario::load, member);
}

auto congestion(auto member) {
  return field(&Scenario::load, &LoadOptions::congestion, member);
}

KeyTable<OfferedFlowDraft> flow_table() {
  KeyTable<OfferedFlowDraft> table;
  table.component("from", field(&OfferedFlowDraft::from), "The RNIC that sends.").required();
  table.component("to", field(&OfferedFlowDraft::to), "The RNIC that it sends to.").required();
  table
      .ratio("rate",
             kShare,
             field(&OfferedFlowDraft::rate_share),
             "How much, of the rate of the sender's access link.")
      .required();
  table.size("packet",
             {Bytes(64), Bytes(10'000)},
             field(&OfferedFlowDraft::packet_bytes),
             "Bytes that one of its packets takes on the wire.");
  table.duration("at", kMoment, field(&OfferedFlowDraft::at), "When it begins.");
  table.duration("length", kMoment, field(&OfferedFlowDraft::length), "How long it lasts.")
      .otherwise("until the end of the run");
  return table;
}

KeyTable<OfferedIncastDraft> incast_table() {
  KeyTable<OfferedIncastDraft> table;
  table.component("to", field(&OfferedIncastDraft::to), "The RNIC that they send to.").required();
  table
      .count("senders",
             {2, 1024},
             field(&OfferedIncastDraft::senders),
             "RNICs of the same rail on other hosts, drawn from the seed.")
      .required();
  table
      .size("burst",
            {Bytes(1), Bytes(1'000'000'000)},
            field(&OfferedIncastDraft::burst_bytes),
            "Bytes on the wire that each of them sends at line rate.")
      .required();
  table.duration("period",
                 {microseconds(1), hours(1)},
                 field(&OfferedIncastDraft::period),
                 "Between the starts of two bursts. All of them must fit in.");
  table.duration("at", kMoment, field(&OfferedIncastDraft::at), "When it begins.");
  table.duration("length", kMoment, field(&OfferedIncastDraft::length), "How long it goes on.")
      .otherwise("until the end of the run");
  return table;
}

void add_congestion(ScenarioTable& table) {
  table.choice<CongestionControl>(
      "load.congestion.control",
      {{"dcqcn", CongestionControl::kDcqcn}, {"off", CongestionControl::kOff}},
      congestion(&CongestionOptions::control),
      "links: whether queues mark packets and senders slow down for it.");
  table.choice<FlowControl>("load.congestion.flow_control",
                            {{"pfc", FlowControl::kPfc}, {"off", FlowControl::kOff}},
                            congestion(&CongestionOptions::flow_control),
                            "links: whether full queues pause the ports that feed them. Without "
                            "it they lose packets.");
  table.size("load.congestion.ecn_min",
             kQueue,
             congestion(&CongestionOptions::ecn_min_bytes),
             "links: queues up to here mark nothing (Kmin).");
  table.size("load.congestion.ecn_max",
             kQueue,
             congestion(&CongestionOptions::ecn_max_bytes),
             "links: queues beyond here mark everything (Kmax); above ecn_min.");
  table.size("load.congestion.xoff",
             kQueue,
             congestion(&CongestionOptions::xoff_bytes),
             "links: bytes from one port in a queue at which that port is paused.");
  table.size("load.congestion.xon",
             kQueue,
             congestion(&CongestionOptions::xon_bytes),
             "links: bytes at which it may go on; below xoff.");
  table.size("load.congestion.buffer",
             kQueue,
             congestion(&CongestionOptions::buffer_bytes),
             "links: what a queue holds without flow control.");
  table.duration("load.congestion.reaction",
                 {nanoseconds(0), hours(1)},
                 congestion(&CongestionOptions::reaction),
                 "links: from a mark until the queue feels that its sender has slowed down.");
}

/// One threshold has to be below another.
void check_order(const YamlNode& root,
                 const std::string& low,
                 const std::string& high,
                 bool ordered) {
  if (!ordered) {
    const std::string path = "load.congestion." + low;
    raise(locate(root, path),
          path,
          {"less than load.congestion." + high, "as much or more", "lower it, or raise the other"});
  }
}

/// The end of something that lasts; a length of zero is for ever.
Time end_of(Duration at, Duration length) {
  return length > Duration::zero() ? kStartOfRun + at + length : kNever;
}

RnicId resolve_rnic(const std::string& name,
                    const Fabric& fabric,
                    const YamlNode& root,
                    const std::string& path) {
  const auto ref = parse_component(fabric, name);
  if (!ref || ref->kind != RefKind::kRnic) {
    raise(locate(root, path),
          path,
          {"an RNIC of this fabric",
           in_quotes(name),
           ref ? "name an RNIC, as in host-0.01/rnic-3" : ref.error().detail});
  }
  return ref->rnic();
}

/// RNICs of the target's rail on other hosts, in an order drawn from the seed.
std::vector<RnicId> rail_neighbours(const Fabric& fabric, RnicId target, std::uint64_t seed) {
  std::vector<RnicId> all;
  for (std::uint32_t h = 0; h < fabric.host_count(); ++h) {
    const RnicId rnic = fabric.rnic(HostId(h), fabric.rail_of(target));
    if (rnic != target && !fabric.is_spare(HostId(h)) && fabric.connected(rnic, target)) {
      all.push_back(rnic);
    }
  }
  const RngStream order(seed, Purpose::kIncastSender, target.index());
  for (std::size_t i = all.size(); i > 1; --i) {
    std::swap(all[i - 1], all[order.at(i) % i]);
  }
  return all;
}

OfferedIncast resolve_incast(const OfferedIncastDraft& draft,
                             const ScenarioDraft& scenario,
                             const Fabric& fabric,
                             const YamlNode& root,
                             const std::string& path) {
  OfferedIncast incast{.target = resolve_rnic(draft.to, fabric, root, path + ".to"),
                       .burst_bytes = static_cast<double>(draft.burst_bytes),
                       .period = draft.period,
                       .from = kStartOfRun + draft.at,
                       .to = end_of(draft.at, draft.length)};
  const std::vector<RnicId> others = rail_neighbours(fabric, incast.target, scenario.seed);
  if (draft.senders > others.size()) {
    raise(locate(root, path + ".senders"),
          path + ".senders",
          {fmt::format("at most {}, the other hosts with a way to the target", others.size()),
           std::to_string(draft.senders),
           "take fewer senders, or more hosts"});
  }
  for (std::uint32_t i = 0; i < draft.senders; ++i) {
    incast.senders.push_back({others[i]});
  }
  const double rate = static_cast<double>(fabric.rate(fabric.access_cable(incast.target)).count());
  const double needed_s = draft.senders * incast.burst_bytes * 8.0 / rate;
  if (needed_s > seconds(draft.period)) {
    raise(locate(root, path + ".burst"),
          path + ".burst",
          {fmt::format("bursts that the target's link takes within a period of {}",
                       format_duration(draft.period)),
           fmt::format("{} bursts that take {:.0f}us", draft.senders, needed_s * 1e6),
           "make the bursts smaller or the period longer; a load without a pause is load.flows"});
  }
  return incast;
}

}  // namespace

void add_spike_keys(ScenarioTable& table) {
  const auto latency = [](auto member) { return field(&Scenario::latency, member); };
  table.choice<SpikeTail>("latency.spike_tail",
                          {{"exponential", SpikeTail::kExponential},
                           {"pareto", SpikeTail::kPareto},
                           {"lognormal", SpikeTail::kLognormal}},
                          latency(&LatencyModelOptions::spike_tail),
                          "How lengths of spikes are spread around `latency.spike_mean`.");
  table.number("latency.spike_shape",
               {1.01, 10.0},
               latency(&LatencyModelOptions::spike_shape),
               "pareto: exponent of the tail; lognormal: sigma of the logarithm.");
  table.duration("latency.spike_bound",
                 {microseconds(1), std::chrono::seconds(1)},
                 latency(&LatencyModelOptions::spike_bound),
                 "pareto, lognormal: no spike is longer; at least `latency.spike_mean`.");
}

void add_load_keys(ScenarioTable& table) {
  table.choice<LoadModel>(
      "load.model",
      {{"queue-mean", LoadModel::kQueueMean}, {"links", LoadModel::kLinks}},
      load(&LoadOptions::model),
      "How probes meet load. `queue-mean`: between ranks that synchronize gradients a probe waits "
      "an exponential of mean `latency.load_queue_mean`, whatever links it takes. `links`: every "
      "flow of every job and what is listed below loads the links of its own path, probes wait "
      "at those, and their bytes take time on every link.");
  table.rate("load.ring_rate",
             kRate,
             load(&LoadOptions::ring_rate),
             "links: what an RNIC sends while its stage synchronizes gradients.");
  table.rate("load.pipeline_rate",
             kRate,
             load(&LoadOptions::pipeline_rate),
             "links: what an RNIC sends to each neighbouring pipeline stage, in the mean.");
  table.list("load.flows",
             {0, 10'000},
             flow_table(),
             field(&ScenarioDraft::flow_drafts),
             "links: further traffic at a steady rate, whether or not the network copes.");
  table.list("load.incasts",
             {0, 1'000},
             incast_table(),
             field(&ScenarioDraft::incast_drafts),
             "links: bursts from several senders at once.");
  add_congestion(table);
}

void resolve_load(ScenarioDraft& draft, const Fabric& fabric, const YamlNode& root) {
  const LatencyModelOptions& latency = draft.latency;
  if (latency.spike_tail != SpikeTail::kExponential && latency.spike_bound < latency.spike_mean) {
    const std::string path = "latency.spike_bound";
    raise(locate(root, path),
          path,
          {fmt::format("at least latency.spike_mean, which is {}",
                       format_duration(latency.spike_mean)),
           format_duration(latency.spike_bound),
           "the mean is that of spikes without a bound"});
  }
  const CongestionOptions& limits = draft.load.congestion;
  check_order(root, "ecn_min", "ecn_max", limits.ecn_min_bytes < limits.ecn_max_bytes);
  check_order(root, "xon", "xoff", limits.xon_bytes < limits.xoff_bytes);
  for (std::size_t i = 0; i < draft.flow_drafts.size(); ++i) {
    const OfferedFlowDraft& flow = draft.flow_drafts[i];
    const std::string path = fmt::format("load.flows[{}]", i);
    draft.load.flows.push_back({.source = resolve_rnic(flow.from, fabric, root, path + ".from"),
                                .target = resolve_rnic(flow.to, fabric, root, path + ".to"),
                                .rate_share = flow.rate_share,
                                .wire_bytes = flow.packet_bytes,
                                .from = kStartOfRun + flow.at,
                                .to = end_of(flow.at, flow.length)});
  }
  for (std::size_t i = 0; i < draft.incast_drafts.size(); ++i) {
    draft.load.incasts.push_back(resolve_incast(
        draft.incast_drafts[i], draft, fabric, root, fmt::format("load.incasts[{}]", i)));
  }
}

}  // namespace bonescan
