#include "detectors/pipeline/loss_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// A dead agent excuses visits this long after it was last found dead: it may have come back since.
/// @ours
constexpr Duration kAgentExcuse = std::chrono::seconds(10);

/// An endpoint that has just become ready may not answer yet: its agent is still at its start, and
/// nobody on the way has resolved its address. @ours
constexpr Duration kStartGrace = std::chrono::seconds(2);

/// So many probes lost in a row were a silence, even if the visit ended well: loss of 10 % does so
/// in one visit of 250,000. @ours
constexpr std::uint32_t kShortSilence = 6;

double lossy_visit_ratio(const PipelineOptions& options) {
  return -std::expm1(options.probing.probes_per_visit * std::log1p(-options.loss.base_loss_ratio));
}

/// A trial is a visit here, and a link that spoils fewer of them than this is none to open an
/// incident about. @ours
FaultSearchOptions search_options(const PipelineOptions& options, double base, bool silent) {
  FaultSearchOptions search;
  search.loss.noise_most = std::min(base, 0.01);
  search.loss.noise_least = search.loss.noise_most / 10.0;
  search.loss.fault_least = std::max(search.loss.fault_least, 2.0 * search.loss.noise_most);
  search.tie_nats = options.localize.tie_nats;
  if (silent) {
    // Something on the path is at fault for sure: one of its links.
    search.prior_nats = std::log(kLinksOfAPath);
  }
  return search;
}

VoteOptions vote_options(const PipelineOptions& options, double base) {
  return {.base_loss_ratio = base,
          .open_llr = options.loss.open_llr,
          .latency_hit_ratio = options.localize.latency_hit_ratio,
          .tie_nats = options.localize.tie_nats};
}

}  // namespace

LossStage::LossStage(PipelineState& state)
    : state_(&state),
      ledger_(state.options.loss.pool_window),
      tests_(LossEvidenceOptions{.probes_per_visit = state.options.probing.probes_per_visit,
                                 .base_loss_ratio = state.options.loss.base_loss_ratio}),
      second_look_(state),
      vote_(vote_options(state.options, lossy_visit_ratio(state.options))),
      search_(search_options(state.options, lossy_visit_ratio(state.options), false)),
      silent_search_(search_options(state.options, lossy_visit_ratio(state.options), true)),
      device_search_(search_options(state.options, lossy_visit_ratio(state.options), false)),
      base_per_visit_(lossy_visit_ratio(state.options)),
      agent_dead_at_(1, Time::min()) {}

void LossStage::submit(EndpointRange range) {
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const auto number = static_cast<std::uint32_t>(hosts_.size());
    const std::string& host = state_->telemetry.endpoints[range[i]].host;
    host_of_.at(range[i]) = hosts_.try_emplace(host, number).first->second;
  }
  agent_incident_.resize(hosts_.size(), kNoIncident);
}

void LossStage::plan(Time now, std::size_t sent, std::vector<ProbeRequest>& requests) {
  if (state_->paper()) {
    return;
  }
  const std::size_t budget = state_->options.follow_up.probes_per_round;
  std::size_t used = 0;
  for (std::size_t i = requests.size() - sent; i < requests.size(); ++i) {
    used += requests[i].count;
  }
  second_look_.plan(now, tests_, budget - std::min(budget, used), sent, requests);
}

void LossStage::release(PairRange pairs) {
  std::erase_if(unexplained_, [&](const Unexplained& item) { return pairs.holds(item.pair); });
  evidence_.release(pairs);
  tests_.release(pairs);
  second_look_.release(pairs);
  both_ways_.release(pairs.first, pairs.count);
}

void LossStage::release(EndpointId endpoint) {
  agent_dead_at_.release(endpoint, 1);
  host_of_.release(endpoint, 1);
  tests_.release(endpoint);
}

void LossStage::observe(Time now, VisitOutcome& visit, const TracedPath* path) {
  if (state_->paper()) {
    ledger_.advance(now);
  }
  if (visit.probes == 0) {
    visit.attribution = Attribution::kExcused;
    return;
  }
  if (visit.lossy()) {
    visit.attribution = attribute(now, visit);
    second_look_.explained(visit.pair);
  }
  if (visit.attribution != Attribution::kNone) {
    return;
  }
  weigh(visit, path);
  if (visit.lossy() && !state_->paper()) {
    second_look_.suspect(visit.pair, tests_);
  }
  const bool silent = state_->log.streak(visit.pair) >= state_->options.loss.consecutive;
  const bool was_silent = !state_->paper() && visit.longest_run >= kShortSilence;
  if (visit.lossy() && (silent || was_silent)) {
    state_->updates.verdicts.push_back({.at = now,
                                        .pair = visit.pair,
                                        .kind = VerdictKind::kUnreachable,
                                        .rule = VerdictRule::kConsecutiveLoss,
                                        .score = static_cast<float>(visit.lost)});
    hold(now, visit.pair, Symptom::kUnreachable);
  }
}

void LossStage::weigh(const VisitOutcome& visit, const TracedPath* path) {
  if (state_->paper()) {
    if (path != nullptr) {
      ledger_.add(*path, visit.lossy());
    }
    return;
  }
  if (path != nullptr) {
    tests_.add(trial_of(visit), path->request, path->answer);
  } else {
    tests_.add(trial_of(visit), {}, {});
  }
}

VisitTrial LossStage::trial_of(const VisitOutcome& visit) {
  const Pair& ends = state_->ends(visit.pair);
  return {.pair = visit.pair,
          .both_ways = both_ways(visit.pair),
          .endpoints = {ends.source, ends.target},
          .hosts = {host_of_.value(ends.source), host_of_.value(ends.target)},
          .probes = visit.probes,
          .lost = visit.lost};
}

void LossStage::withdraw(const VisitOutcome& visit) {
  if (state_->paper()) {
    return;
  }
  if (const TracedPath* path = state_->paths.known(visit.pair)) {
    tests_.withdraw(trial_of(visit), path->request, path->answer);
  } else {
    tests_.withdraw(trial_of(visit), {}, {});
  }
}

PairId LossStage::both_ways(PairId pair) {
  PairId& known = both_ways_.at(pair);
  if (!known.valid()) {
    const PairId other = state_->scheduler.find(state_->ends(pair).reversed());
    if (!other.valid()) {
      return pair;
    }
    known = std::min(pair, other);
  }
  return known;
}

bool LossStage::suspicious() const {
  return state_->paper() ? ledger_.suspicious(base_per_visit_, state_->options.loss.open_llr)
                         : !tests_.alarms().empty();
}

void LossStage::hold(Time now, PairId pair, Symptom symptom) {
  const auto known = std::find_if(unexplained_.begin(),
                                  unexplained_.end(),
                                  [pair](const Unexplained& item) { return item.pair == pair; });
  if (known == unexplained_.end()) {
    unexplained_.push_back(
        {.pair = pair, .since = now, .symptom = symptom, .incident = kNoIncident, .walk_text = {}});
  } else if (symptom == Symptom::kUnreachable) {
    known->symptom = symptom;
  }
}

bool LossStage::cut_off(const Incident& incident, PairId pair) const {
  const bool by_host = incident.layer == Layer::kHost && incident.symptom == Symptom::kUnreachable;
  return (by_host || incident.kind == kGidChange) && !incident.candidates.empty() &&
         state_->ends_at(pair, incident.candidates.front().component);
}

Attribution LossStage::attribute(Time now, const VisitOutcome& visit) {
  const Pair& ends = state_->ends(visit.pair);
  if (!state_->activation.active(ends)) {
    return Attribution::kExcused;
  }
  if (excused_by_start(visit) || excused_by_agent(now, visit)) {
    return Attribution::kExcused;
  }
  const bool silent = state_->log.streak(visit.pair) >= state_->options.loss.consecutive;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.kind == kLinkWithdrawn && lost_on(incident, visit.pair, visit.start)) {
      state_->incidents.attribute(index, now, visit.pair);
      return Attribution::kIncident;
    }
    if (!about_loss(incident) || incident.layer == Layer::kAgent) {
      continue;
    }
    // A gray link does not make a pair silent: that is another failure on the same path.
    if (incident.symptom == Symptom::kLoss && silent) {
      continue;
    }
    if (state_->holds_either_way(incident, visit.pair) || cut_off(incident, visit.pair) ||
        (incident.layer == Layer::kUnderlay && state_->crosses_candidate(incident, visit.pair))) {
      const bool all =
          visit.lost == visit.probes && visit.probes >= state_->options.loss.consecutive;
      state_->incidents.attribute(index, now, visit.pair, all ? VisitLoss::kAll : VisitLoss::kSome);
      return Attribution::kIncident;
    }
  }
  return Attribution::kNone;
}

bool LossStage::lost_on(const Incident& withdrawn, PairId pair, Time start) const {
  const TracedPath* path = state_->paths.at(pair, start);
  return path != nullptr && state_->crosses_candidate(withdrawn, *path);
}

void LossStage::address_changed(const MembershipEvent& event) {
  const std::string& name = state_->telemetry.endpoints[event.endpoint].name;
  const ComponentId rnic = state_->telemetry.components.intern(ComponentType::kRnic, name);
  IncidentIndex index = kNoIncident;
  for (const IncidentIndex open : state_->incidents.open()) {
    const Incident& incident = state_->incidents[open];
    if (incident.kind == kGidChange && incident.candidates.front().component == rnic) {
      index = open;
    }
  }
  if (index == kNoIncident) {
    index =
        state_->incidents.open_incident(event.at, Layer::kRnic, Symptom::kUnreachable, kGidChange);
    state_->incidents.place(index, Layer::kRnic, kGidChange, {{rnic, 1.0}}, 1.0);
  }
  state_->incidents.add_evidence(
      index,
      {event.at,
       "membership",
       false,
       fmt::format("{} announced another GID{}: connections made with the old one are cut off",
                   name,
                   event.detail.empty() ? "" : " (" + event.detail + ")")});
}

bool LossStage::excused_by_start(const VisitOutcome& visit) {
  const Pair& ends = state_->ends(visit.pair);
  const auto fresh = [&](EndpointId endpoint) {
    const auto ready = state_->activation.ready_since(endpoint);
    return ready && visit.start < *ready + kStartGrace;
  };
  if (state_->paper() || !(fresh(ends.source) || fresh(ends.target))) {
    return false;
  }
  state_->log.reset_streak(visit.pair);
  return true;
}

bool LossStage::excused_by_agent(Time now, const VisitOutcome& visit) {
  const EndpointId target = state_->ends(visit.pair).target;
  if (state_->telemetry.membership.alive(target, now) == AgentState::kDead) {
    agent_dead_at_.at(target) = now;
    state_->incidents.attribute(agent_incident(now, target), now, visit.pair);
    state_->log.reset_streak(visit.pair);
    return true;
  }
  const Time dead_at = agent_dead_at_.value(target);
  if (dead_at != Time::min() && now - dead_at < kAgentExcuse) {
    state_->log.reset_streak(visit.pair);
    return true;
  }
  return false;
}

IncidentIndex LossStage::agent_incident(Time now, EndpointId endpoint) {
  IncidentIndex& index = agent_incident_[host_of_[endpoint]];
  if (index != kNoIncident && !state_->incidents[index].closed) {
    return index;
  }
  const std::string name = state_->telemetry.endpoints[endpoint].host + "/agent";
  index = state_->incidents.open_incident(now, Layer::kAgent, Symptom::kUnreachable, "agent-death");
  state_->incidents.place(index,
                          Layer::kAgent,
                          "agent-death",
                          {{state_->telemetry.components.intern(ComponentType::kAgent, name), 1.0}},
                          1.0);
  state_->incidents.add_evidence(
      index,
      {now,
       "membership",
       false,
       name + " refuses its management connection: the prober is gone, not the network"});
  return index;
}

void LossStage::run(Time now) {
  if (state_->paper()) {
    ledger_.advance(now);
  } else {
    tests_.settle();
  }
  walk_overlays(now);
  drop_claimed();
  if (overlay_is_busy()) {
    refine(now);
    raise_devices(now);
    return;
  }
  if (!unexplained_.empty() || suspicious()) {
    accuse_links(now);
    accuse_by_tests(now);
    tests_.clear_alarms();
    drop_claimed();
    give_up_on_lone_pairs(now);
    drop_claimed();
  }
  refine(now);
  raise_devices(now);
}

}  // namespace bonescan
