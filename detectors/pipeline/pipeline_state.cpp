#include "detectors/pipeline/pipeline_state.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

PingLists make_lists(const PipelineOptions& options,
                     const EndpointDirectory& endpoints,
                     EndpointRange range) {
  return options.probing.list == PingListKind::kFullMesh
             ? full_mesh_targets(endpoints, range, options.seed)
             : same_rail_targets(endpoints, range, options.seed);
}

/// The published method tells of no incident that opens again.
IncidentOptions incident_options(const PipelineOptions& options) {
  IncidentOptions incident = options.incident;
  if (options.configuration == DetectionConfiguration::kPaper) {
    incident.reopen_after = Duration::zero();
  }
  return incident;
}

}  // namespace

PipelineState::PipelineState(const PipelineOptions& all_options, const Telemetry& the_telemetry)
    : options(all_options),
      telemetry(the_telemetry),
      scheduler(all_options.probing, all_options.seed),
      paths(the_telemetry.paths),
      log(all_options.loss.pool_window),
      inspector(all_options.localize, the_telemetry),
      incidents(incident_options(all_options)),
      devices(the_telemetry.components) {}

PairRange PipelineState::submit(EndpointRange range) {
  const EndpointDirectory& endpoints = telemetry.endpoints;
  BONESCAN_CHECK(range.first.index() == endpoint_count);
  BONESCAN_CHECK(endpoint_count + range.count <= endpoints.size());
  const PingLists lists = make_lists(options, endpoints, range);
  endpoint_count += range.count;
  pairs_full_mesh += full_mesh_pair_count(endpoints, range);
  pairs_same_rail += same_rail_pair_count(endpoints, range);
  const auto first = static_cast<std::uint32_t>(scheduler.pairs().size());
  activation.submit(lists);
  tasks.submit(endpoints, range);
  scheduler.submit(lists);
  memory.grow(scheduler.pairs().size());
  for (std::uint32_t pair = first; pair < scheduler.pairs().size(); ++pair) {
    memory[PairId(pair)].live = true;
  }
  return {PairId(first), static_cast<std::uint32_t>(scheduler.pairs().size()) - first};
}

void PipelineState::relist(EndpointId source, std::span<const EndpointId> targets) {
  activation.relist(source, scheduler.targets(source), targets);
  const PairRange added = scheduler.relist(source, targets);
  for (std::uint32_t i = 0; i < added.count; ++i) {
    memory.at(PairId(added.first.index() + i)).live = true;
  }
  if (added.count > 0) {
    new_pairs.push_back(added);
  }
}

void PipelineState::release(PairRange pairs) {
  paths.release(pairs);
  log.release(pairs);
  memory.release(pairs.first, pairs.count);
}

std::string PipelineState::pair_name(PairId pair) const {
  return fmt::format("{} -> {}",
                     telemetry.endpoints[ends(pair).source].name,
                     telemetry.endpoints[ends(pair).target].name);
}

bool PipelineState::names(const Incident& incident, ComponentId component) {
  return std::any_of(incident.candidates.begin(),
                     incident.candidates.end(),
                     [&](const Candidate& candidate) { return candidate.component == component; });
}

bool PipelineState::crosses_link(PairId pair, ComponentId link) const {
  const TracedPath* path = paths.known(pair);
  return path != nullptr && crosses(*path, link);
}

bool PipelineState::holds(const Incident& incident, PairId pair) {
  return std::binary_search(incident.pairs.begin(), incident.pairs.end(), pair);
}

std::size_t PipelineState::distinct_pairs(const std::vector<PairId>& pairs) const {
  std::vector<Pair> unordered;
  for (const PairId pair : pairs) {
    const Pair& both = ends(pair);
    unordered.push_back(std::min(both, both.reversed()));
  }
  std::sort(unordered.begin(), unordered.end());
  return static_cast<std::size_t>(std::unique(unordered.begin(), unordered.end()) -
                                  unordered.begin());
}

bool PipelineState::holds_either_way(const Incident& incident, PairId pair) const {
  const Pair wanted = ends(pair).reversed();
  return holds(incident, pair) || std::any_of(incident.pairs.begin(),
                                              incident.pairs.end(),
                                              [&](PairId other) { return ends(other) == wanted; });
}

void PipelineState::place_table_mismatch(IncidentIndex index, const TableFinding& tables) {
  const bool in_software =
      tables.culprit.valid() && telemetry.components[tables.culprit].type == ComponentType::kBridge;
  incidents.place(index,
                  in_software ? Layer::kOverlay : Layer::kRnic,
                  kTableMismatch,
                  {{tables.culprit, 1.0}},
                  1.0);
}

IncidentIndex PipelineState::open_accused(Time now,
                                          Symptom symptom,
                                          const std::string& kind,
                                          const Accusation& accusation) {
  devices.update();
  if (accusation.suspects.size() == 1) {
    for (const IncidentIndex open : incidents.open()) {
      if (told_by_host(symptom, accusation.suspects.front().link, incidents[open])) {
        return open;
      }
    }
  }
  const IncidentIndex index = incidents.open_incident(now, Layer::kUnderlay, symptom, kind);
  return place_on_links(now, index, kind, accusation.suspects);
}

void PipelineState::explain_walk(IncidentIndex index, Time now, PairId pair) {
  if (const auto finding = inspector.overlay(flow(pair), now)) {
    incidents.add_evidence(index, {now, "overlay-walk", finding->clear, finding->text});
  }
}

void PipelineState::explain_vote(IncidentIndex index,
                                 Time now,
                                 const Accusation& accusation,
                                 std::span<const LinkVotes> raw,
                                 std::string_view unit) {
  const auto& suspects = accusation.suspects;
  incidents.add_evidence(
      index,
      {now,
       "underlay-vote",
       false,
       vote_text(suspects.front(), suspects.size(), raw, telemetry.components, unit)});
}

bool PipelineState::crosses_candidate(const Incident& incident, const TracedPath& path) const {
  const DeviceId device = named_device(incident);
  if (!device.valid()) {
    return std::any_of(
        incident.candidates.begin(), incident.candidates.end(), [&](const Candidate& candidate) {
          return crosses(path, candidate.component);
        });
  }
  const bool upwards = incident.kind == kUplinksIdle;
  bool found = false;
  for_each_hop(path, [&](const PathHop& hop) {
    const LinkEnds ends = devices.ends(hop.link);
    found = found || (upwards ? hop.direction == LinkDirection::kUp && ends.devices[0] == device
                              : ends.hold(device));
  });
  return found;
}

bool PipelineState::crosses_candidate(const Incident& incident, PairId pair) const {
  const TracedPath* path = paths.known(pair);
  if (path != nullptr && crosses_candidate(incident, *path)) {
    return true;
  }
  const std::span<const FormerPath> former = paths.former(pair);
  return std::any_of(former.begin(), former.end(), [&](const FormerPath& one) {
    return one.until >= incident.opened - kLead && crosses_candidate(incident, one.path);
  });
}

bool PipelineState::names_link(const Incident& incident, ComponentId link) const {
  const DeviceId device = named_device(incident);
  return names(incident, link) || (device.valid() && devices.ends(link).hold(device));
}

DeviceId PipelineState::named_device(const Incident& incident) const {
  if (incident.layer != Layer::kUnderlay || incident.candidates.size() != 1) {
    return DeviceId();
  }
  const Component& named = telemetry.components[incident.candidates.front().component];
  return named.type == ComponentType::kLink ? DeviceId() : devices.find(named);
}

DeviceId PipelineState::chooser(ComponentId link) const {
  const auto is_switch = [&](DeviceId device) {
    return device.valid() && devices[device].type == ComponentType::kSwitch;
  };
  const auto [lower, upper] = devices.ends(link).devices;
  return is_switch(lower) && is_switch(upper) ? lower : DeviceId();
}

bool PipelineState::share_a_link(PairId a, PairId b, Time at) const {
  const TracedPath* path = paths.at(a, at);
  const TracedPath* other = paths.at(b, at);
  bool shared = false;
  if (path != nullptr && other != nullptr) {
    for_each_hop(*path, [&](const PathHop& hop) { shared = shared || crosses(*other, hop.link); });
  }
  return shared;
}

bool PipelineState::share_a_link(PairId a, PairId b) const {
  return share_a_link(a, b, Time::max());
}

bool PipelineState::ends_on(PairId pair, std::string_view host) const {
  return telemetry.endpoints[ends(pair).source].host == host ||
         telemetry.endpoints[ends(pair).target].host == host;
}

bool PipelineState::share_a_host(PairId a, PairId b) const {
  return ends_on(a, telemetry.endpoints[ends(b).source].host) ||
         ends_on(a, telemetry.endpoints[ends(b).target].host);
}

bool PipelineState::bridge_explains(const Incident& incident, PairId pair) const {
  if (incident.kind != kBridgeLatency || incident.candidates.empty()) {
    return false;
  }
  const auto host = bridge_hosts.find(incident.candidates.front().component);
  return host != bridge_hosts.end() && ends_on(pair, host->second);
}

bool PipelineState::ends_at(PairId pair, ComponentId rnic) const {
  if (!rnic.valid()) {
    return false;
  }
  const std::string& name = telemetry.components[rnic].name;
  return telemetry.endpoints[ends(pair).source].name == name ||
         telemetry.endpoints[ends(pair).target].name == name;
}

bool PipelineState::share_an_end(std::span<const PairId> pairs) const {
  const Pair& first = ends(pairs.front());
  const auto shared = [&](EndpointId end) {
    return std::all_of(pairs.begin(), pairs.end(), [&](PairId pair) {
      return ends(pair).source == end || ends(pair).target == end;
    });
  };
  return shared(first.source) || shared(first.target);
}

bool PipelineState::due_again(const Incident& incident, Time now) const {
  const auto age = static_cast<std::uint64_t>((now - incident.opened) / options.probing.visit);
  return age > 0 && (age & (age - 1)) == 0;
}

IncidentIndex PipelineState::place_on_links(Time now,
                                            IncidentIndex index,
                                            const std::string& kind,
                                            std::span<const LinkScore> suspects) {
  if (suspects.empty()) {
    return index;
  }
  incidents.place(index,
                  Layer::kUnderlay,
                  kind,
                  candidates_of(suspects),
                  1.0 / static_cast<double>(suspects.size()));
  devices.update();
  const auto twin = paper() || incidents[index].closed ? std::nullopt : twin_of(index);
  if (!twin) {
    return index;
  }
  const bool older = incidents.place_of(*twin) < incidents.place_of(index);
  const IncidentIndex kept = older ? *twin : index;
  const Incident said = incidents[*twin];
  incidents.merge(older ? index : *twin, kept, now);
  if (!older && said.layer == Layer::kHost) {
    incidents.place(kept, said.layer, said.kind, said.candidates, said.confidence);
  }
  return kept;
}

bool PipelineState::told_by_host(Symptom symptom, ComponentId link, const Incident& host) const {
  if (paper() || host.layer != Layer::kHost || symptom != Symptom::kUnreachable ||
      host.symptom != symptom || host.candidates.empty()) {
    return false;
  }
  const DeviceId rnic = devices.find(telemetry.components[host.candidates.front().component]);
  return rnic.valid() && devices.ends(link).hold(rnic);
}

std::optional<IncidentIndex> PipelineState::twin_of(IncidentIndex index) const {
  const Incident& incident = incidents[index];
  const auto link = [](const Candidate& candidate) { return candidate.component; };
  for (const IncidentIndex other : incidents.open()) {
    const Incident& known = incidents[other];
    if (incidents.same(index, other)) {
      continue;
    }
    if (incident.candidates.size() == 1 &&
        told_by_host(incident.symptom, incident.candidates.front().component, known)) {
      return other;
    }
    if (known.layer == Layer::kUnderlay &&
        (known.symptom == Symptom::kLatency) == (incident.symptom == Symptom::kLatency) &&
        (known.symptom != Symptom::kLatency || known.kind == incident.kind) &&
        std::ranges::is_permutation(incident.candidates, known.candidates, {}, link, link)) {
      return other;
    }
  }
  return std::nullopt;
}

VoteOptions latency_vote_options(const PipelineOptions& options) {
  return {.open_llr = options.loss.open_llr,
          .latency_hit_ratio = options.localize.latency_hit_ratio,
          .tie_nats = options.localize.tie_nats};
}

FaultSearchOptions latency_search_options(const PipelineOptions& options) {
  FaultSearchOptions search;
  const double of_a_link = latency_vote_options(options).base_late_ratio / kLinksOfAPath;
  search.latency.noise_least = of_a_link / 10.0;
  search.latency.noise_most = of_a_link;
  search.latency.fault_least = std::clamp(
      options.localize.latency_hit_ratio, 2.0 * of_a_link, 0.99 * search.latency.fault_most);
  search.tie_nats = options.localize.tie_nats;
  return search;
}

std::vector<Accusation> late_links(FaultSearch& search,
                                   std::span<const PathEvidence> evidence,
                                   const PipelineOptions& options) {
  std::vector<Accusation> accusations = search.localize(evidence, Symptom::kLatency);
  std::erase_if(accusations, [&options](const Accusation& accusation) {
    const LinkScore& best = accusation.suspects.front();
    return best.llr < options.loss.open_llr || best.rate < options.localize.latency_hit_ratio;
  });
  return accusations;
}

std::string vote_text(const LinkScore& best,
                      std::size_t set_size,
                      std::span<const LinkVotes> raw,
                      const ComponentTable& components,
                      std::string_view unit) {
  std::string way = "both ways";
  if (!best.both_directions) {
    way = best.direction == LinkDirection::kUp ? "upwards" : "downwards";
  }
  std::string text = fmt::format(
      "{} {}: {} of {} paths over it have {} ({:.2f} % of the trials), "
      "log-likelihood ratio {:.1f} nats",
      components[best.link].name,
      way,
      best.bad_paths,
      best.paths,
      unit,
      100.0 * best.rate,
      best.llr);
  if (set_size > 1) {
    text += fmt::format("; {} links cannot be told apart yet", set_size);
  }
  if (!raw.empty()) {
    text += fmt::format("; the plain count of failing paths is led by {} with {}",
                        components[raw.front().link].name,
                        raw.front().votes);
  }
  return text;
}

std::vector<Accusation> published_vote(UnderlayVote& vote, std::span<const PathEvidence> evidence) {
  Accusation accusation;
  const auto raw = vote.raw_vote(evidence);
  for (const LinkVotes& votes : raw) {
    if (votes.votes == raw.front().votes) {
      LinkScore score;
      score.link = votes.link;
      score.llr = votes.votes;
      score.bad_paths = votes.votes;
      score.both_directions = true;
      accusation.suspects.push_back(score);
    }
  }
  if (accusation.suspects.empty()) {
    return {};
  }
  for (const PathEvidence& item : evidence) {
    if (item.bad > 0 && crosses(*item.path, accusation.suspects.front().link)) {
      accusation.pairs.push_back(item.pair);
    }
  }
  return {accusation};
}

std::vector<Candidate> candidates_of(std::span<const LinkScore> suspects) {
  std::vector<Candidate> candidates;
  for (const LinkScore& suspect : suspects) {
    candidates.push_back({suspect.link, suspect.llr});
  }
  return candidates;
}

}  // namespace bonescan
