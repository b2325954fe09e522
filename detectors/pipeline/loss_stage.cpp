#include "detectors/pipeline/loss_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bonescan {
namespace {

constexpr IncidentIndex kNoIncident = std::numeric_limits<IncidentIndex>::max();

/// A dead agent excuses visits this long after it was last found dead: it may have come back since.
/// @ours
constexpr Duration kAgentExcuse = std::chrono::seconds(10);

/// An unreachable pair waits this long for others to fail with it before it is taken for alone.
/// @ours
constexpr Duration kLonePatience = std::chrono::seconds(3);

/// Evidence from before an incident opened that still counts when it is refined. @ours
constexpr Duration kLead = std::chrono::seconds(10);

/// Share of an earlier score that newer evidence must reach to replace it. @ours
constexpr double kKeepScore = 0.8;

double lossy_visit_ratio(const PipelineOptions& options) {
  return -std::expm1(options.probing.probes_per_visit * std::log1p(-options.loss.base_loss_ratio));
}

VoteOptions vote_options(const PipelineOptions& options, double base, double open_llr) {
  return {.base_loss_ratio = base,
          .open_llr = open_llr,
          .latency_hit_ratio = options.localize.latency_hit_ratio,
          .tie_nats = options.localize.tie_nats};
}

bool about_loss(const Incident& incident) {
  return incident.symptom != Symptom::kLatency;
}

}  // namespace

LossStage::LossStage(PipelineState& state)
    : state_(&state),
      ledger_(state.options.loss.pool_window),
      gray_vote_(vote_options(
          state.options, lossy_visit_ratio(state.options), state.options.loss.open_llr)),
      unreachable_vote_(vote_options(
          state.options, lossy_visit_ratio(state.options), state.options.loss.open_llr / 2)),
      base_per_visit_(lossy_visit_ratio(state.options)),
      agent_dead_at_(state.telemetry.endpoints.size(), Time::min()) {
  std::map<std::string, std::uint32_t> hosts;
  for (const Endpoint& endpoint : state.telemetry.endpoints) {
    const auto number = static_cast<std::uint32_t>(hosts.size());
    host_of_.push_back(hosts.try_emplace(endpoint.host, number).first->second);
  }
  agent_incident_.assign(hosts.size(), kNoIncident);
}

void LossStage::observe(Time now, VisitOutcome& visit, const TracedPath* path) {
  ledger_.advance(now);
  if (visit.probes == 0) {
    visit.attribution = Attribution::kExcused;
    return;
  }
  if (visit.lossy()) {
    visit.attribution = attribute(now, visit);
  }
  if (visit.attribution != Attribution::kNone) {
    return;
  }
  if (path != nullptr) {
    ledger_.add(*path, visit.lossy());
  }
  if (visit.lossy() && state_->log.streak(visit.pair) >= state_->options.loss.consecutive) {
    state_->updates.verdicts.push_back({.at = now,
                                        .pair = visit.pair,
                                        .kind = VerdictKind::kUnreachable,
                                        .rule = VerdictRule::kConsecutiveLoss,
                                        .score = static_cast<float>(visit.lost)});
    const auto known = std::find_if(unexplained_.begin(),
                                    unexplained_.end(),
                                    [&](const auto& item) { return item.pair == visit.pair; });
    if (known == unexplained_.end()) {
      unexplained_.push_back({.pair = visit.pair, .since = now, .walk_text = {}});
    }
  }
}

Attribution LossStage::attribute(Time now, const VisitOutcome& visit) {
  const Pair& ends = state_->ends(visit.pair);
  if (!state_->activation.active(ends)) {
    return Attribution::kExcused;
  }
  if (excused_by_agent(now, visit)) {
    return Attribution::kExcused;
  }
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!about_loss(incident) || incident.layer == Layer::kAgent) {
      continue;
    }
    if (PipelineState::holds(incident, visit.pair) ||
        (incident.layer == Layer::kUnderlay && state_->crosses_candidate(incident, visit.pair))) {
      state_->incidents.attribute(index, now, visit.pair);
      return Attribution::kIncident;
    }
  }
  return Attribution::kNone;
}

bool LossStage::excused_by_agent(Time now, const VisitOutcome& visit) {
  const EndpointId target = state_->ends(visit.pair).target;
  if (state_->telemetry.membership.alive(target, now) == AgentState::kDead) {
    agent_dead_at_[target] = now;
    state_->incidents.attribute(agent_incident(now, target), now, visit.pair);
    state_->log.reset_streak(visit.pair);
    return true;
  }
  if (agent_dead_at_[target] != Time::min() && now - agent_dead_at_[target] < kAgentExcuse) {
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
  ledger_.advance(now);
  std::erase_if(unexplained_,
                [&](const Unexplained& item) { return state_->log.streak(item.pair) == 0; });
  walk_overlays(now);
  drop_claimed();
  if (!unexplained_.empty() || ledger_.suspicious(base_per_visit_, state_->options.loss.open_llr)) {
    accuse_links(now);
    drop_claimed();
    give_up_on_lone_pairs(now);
    drop_claimed();
  }
  refine(now);
}

void LossStage::walk_overlays(Time now) {
  // A walk that had no answer is asked for again, but never before a pair that was not walked yet.
  for (const bool again : {false, true}) {
    for (Unexplained& item : unexplained_) {
      if (item.walked || item.walk_text.empty() == again) {
        continue;
      }
      if (!walk_overlay(now, item)) {
        return;
      }
    }
  }
}

bool LossStage::walk_overlay(Time now, Unexplained& item) {
  const auto finding = state_->inspector.overlay(state_->flow(item.pair), now);
  if (!finding) {
    return false;
  }
  if (finding->culprit.valid()) {
    open_overlay(now, *finding, item.pair);
    return true;
  }
  item.walked = finding->available || now - item.since >= kLonePatience;
  item.walk_clear = finding->clear;
  item.walk_text = finding->text;
  return true;
}

void LossStage::drop_claimed() {
  std::erase_if(unexplained_, [](const Unexplained& item) { return item.claimed; });
}

void LossStage::open_overlay(Time now, const OverlayFinding& finding, PairId pair) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kOverlay &&
        incident.candidates.front().component == finding.culprit) {
      claim(index, now, pair);
      return;
    }
  }
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kOverlay, Symptom::kUnreachable, finding.kind);
  state_->incidents.place(index, Layer::kOverlay, finding.kind, {{finding.culprit, 1.0}}, 1.0);
  describe_loss(now, index, pair);
  state_->incidents.add_evidence(index, {now, "overlay-walk", false, finding.text});
  claim(index, now, pair);
}

void LossStage::gather(Time since, const Incident* incident) {
  evidence_.clear();
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (visit.start < since || visit.attribution == Attribution::kExcused) {
      continue;
    }
    if (visit.attribution == Attribution::kIncident &&
        (incident == nullptr || !PipelineState::holds(*incident, visit.pair))) {
      continue;
    }
    evidence_.add(visit.pair, 1, visit.lossy() ? 1 : 0);
  }
}

std::vector<Accusation> LossStage::blame(std::span<const PathEvidence> evidence, bool unreachable) {
  if (!state_->paper()) {
    return (unreachable ? unreachable_vote_ : gray_vote_).explain_all(evidence, Symptom::kLoss);
  }
  return published_vote(gray_vote_, evidence);
}

void LossStage::accuse_links(Time now) {
  for (const Unexplained& item : unexplained_) {
    state_->paths.retrace(item.pair, state_->flow(item.pair), now);
  }
  gather(now - state_->options.loss.pool_window, nullptr);
  const auto items = evidence_.relevant(state_->paths);
  if (items.empty()) {
    return;
  }
  const std::vector<Accusation> accusations = blame(items, !unexplained_.empty());
  for (const Accusation& accusation : accusations) {
    const IncidentIndex known = open_incident_of(accusation);
    if (known != kNoIncident) {
      for (const PairId pair : accusation.pairs) {
        claim(known, now, pair);
      }
      continue;
    }
    if (distinct_pairs(accusation.pairs) < 2) {
      continue;  // Algorithm 1: a single failing path accuses no link.
    }
    open_underlay(now, accusation, gray_vote_.raw_vote(items));
  }
}

std::size_t LossStage::distinct_pairs(const std::vector<PairId>& pairs) const {
  std::vector<Pair> unordered;
  for (const PairId pair : pairs) {
    const Pair& ends = state_->ends(pair);
    unordered.push_back(std::min(ends, ends.reversed()));
  }
  std::sort(unordered.begin(), unordered.end());
  return static_cast<std::size_t>(std::unique(unordered.begin(), unordered.end()) -
                                  unordered.begin());
}

IncidentIndex LossStage::open_incident_of(const Accusation& accusation) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kUnderlay && about_loss(incident) &&
        incident.candidates.front().component == accusation.suspects.front().link) {
      return index;
    }
  }
  return kNoIncident;
}

void LossStage::open_underlay(Time now,
                              const Accusation& accusation,
                              std::span<const LinkVotes> raw) {
  const LinkScore& best = accusation.suspects.front();
  const auto silent = static_cast<std::size_t>(
      std::count_if(accusation.pairs.begin(), accusation.pairs.end(), [&](PairId pair) {
        return state_->log.streak(pair) >= state_->options.loss.consecutive;
      }));
  const bool unreachable = 2 * silent >= accusation.pairs.size();
  const Symptom symptom = unreachable ? Symptom::kUnreachable : Symptom::kLoss;
  const std::string kind = unreachable ? "link-down" : "link-loss";
  const IncidentIndex index = state_->incidents.open_incident(now, Layer::kUnderlay, symptom, kind);
  state_->incidents.place(index,
                          Layer::kUnderlay,
                          kind,
                          candidates_of(accusation.suspects),
                          1.0 / static_cast<double>(accusation.suspects.size()));
  describe_loss(now, index, accusation.pairs.front());
  const auto walked = std::find_if(unexplained_.begin(), unexplained_.end(), [&](const auto& item) {
    return item.walked &&
           std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), item.pair);
  });
  if (walked != unexplained_.end()) {
    state_->incidents.add_evidence(index,
                                   {now, "overlay-walk", walked->walk_clear, walked->walk_text});
  } else if (const auto finding =
                 state_->inspector.overlay(state_->flow(accusation.pairs.front()), now)) {
    state_->incidents.add_evidence(index, {now, "overlay-walk", finding->clear, finding->text});
  }
  state_->incidents.add_evidence(
      index,
      {now,
       "underlay-vote",
       false,
       vote_text(
           best, accusation.suspects.size(), raw, state_->telemetry.components, "lossy visits")});
  for (const PairId pair : accusation.pairs) {
    if (state_->log.streak(pair) < state_->options.loss.consecutive) {
      state_->updates.verdicts.push_back({.at = now,
                                          .pair = pair,
                                          .kind = VerdictKind::kAnomalous,
                                          .rule = VerdictRule::kPooledLoss,
                                          .score = static_cast<float>(best.llr)});
    }
    claim(index, now, pair);
  }
}

void LossStage::claim(IncidentIndex index, Time now, PairId pair) {
  state_->incidents.attribute(index, now, pair);
  for (VisitOutcome& visit : state_->log.recent()) {
    if (visit.pair == pair && visit.lossy() && visit.attribution == Attribution::kNone) {
      visit.attribution = Attribution::kIncident;
    }
  }
  for (Unexplained& item : unexplained_) {
    item.claimed = item.claimed || item.pair == pair;
  }
}

void LossStage::give_up_on_lone_pairs(Time now) {
  for (std::size_t i = 0; i < unexplained_.size(); ++i) {
    const Unexplained item = unexplained_[i];
    if (item.claimed || !item.walked || now - item.since < kLonePatience) {
      continue;
    }
    const IncidentIndex healed = overlay_incident_of(item.pair);
    if (healed != kNoIncident) {
      claim(healed, now, item.pair);
    } else if (const auto tables = state_->inspector.tables(state_->flow(item.pair), now)) {
      if (tables->available || now - item.since >= 2 * kLonePatience) {
        open_lone(now, item, *tables);
      }
    }
  }
}

/// A pair may have been walked only after its rule was repaired.  It still belongs to an open
/// overlay incident if it touches the one endpoint that several pairs of that incident have in
/// common.
IncidentIndex LossStage::overlay_incident_of(PairId pair) const {
  const Pair& ends = state_->ends(pair);
  const auto touches = [&](EndpointId endpoint, PairId other) {
    const Pair& other_ends = state_->ends(other);
    return other_ends.source == endpoint || other_ends.target == endpoint;
  };
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer != Layer::kOverlay || distinct_pairs(incident.pairs) < 2) {
      continue;
    }
    for (const EndpointId endpoint : {ends.source, ends.target}) {
      if (std::all_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId other) {
            return touches(endpoint, other);
          })) {
        return index;
      }
    }
  }
  return kNoIncident;
}

void LossStage::open_lone(Time now, const Unexplained& item, const TableFinding& tables) {
  const IncidentIndex index = state_->incidents.open_incident(
      now, Layer::kUndetermined, Symptom::kUnreachable, "unreachable-pair");
  describe_loss(now, index, item.pair);
  const bool traced = state_->paths.known(item.pair) != nullptr;
  state_->incidents.add_evidence(index, {now, "overlay-walk", item.walk_clear, item.walk_text});
  state_->incidents.add_evidence(index,
                                 {now,
                                  "underlay-vote",
                                  traced,
                                  traced ? "no link lies on failing paths of two pairs"
                                         : "the pair's path could not be traced"});
  state_->incidents.add_evidence(
      index, {now, "flow-table-diff", tables.available && !tables.mismatch, tables.text});
  if (tables.mismatch) {
    state_->incidents.place(index, Layer::kRnic, "table-mismatch", {{tables.rnic, 1.0}}, 1.0);
  } else if (tables.available && item.walk_clear) {
    // By elimination it is one of the links that only this pair crosses.
    gather(now - state_->options.loss.pool_window, nullptr);
    const auto scores = unreachable_vote_.score(evidence_.relevant(state_->paths), Symptom::kLoss);
    const auto suspects = ties(scores, state_->options.localize.tie_nats);
    state_->incidents.place(index,
                            Layer::kUnderlay,
                            "link-down",
                            candidates_of(suspects),
                            1.0 / static_cast<double>(std::max<std::size_t>(suspects.size(), 1)));
  }
  claim(index, now, item.pair);
  for (const Unexplained& other : unexplained_) {
    if (!other.claimed && state_->ends(other.pair) == state_->ends(item.pair).reversed()) {
      claim(index, now, other.pair);
    }
  }
}

void LossStage::refine(Time now) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer != Layer::kUnderlay || !about_loss(incident) || incident.last_seen != now) {
      continue;
    }
    // At ages 1, 2, 4, 8, ... visit periods: early evidence moves the answer most.
    const auto age =
        static_cast<std::uint64_t>((now - incident.opened) / state_->options.probing.visit);
    if (age > 0 && (age & (age - 1)) == 0) {
      refine_one(now, index);
    }
  }
}

void LossStage::refine_one(Time now, IncidentIndex index) {
  const Incident& incident = state_->incidents[index];
  if (state_->paper()) {
    return;
  }
  gather(std::max(incident.opened - kLead, now - state_->options.loss.pool_window), &incident);
  const auto items = evidence_.relevant(state_->paths);
  const auto scores = gray_vote_.score(items, Symptom::kLoss);
  if (scores.empty() || scores.front().llr < kKeepScore * incident.candidates.front().score) {
    return;
  }
  const auto suspects = ties(scores, state_->options.localize.tie_nats);
  const bool moved = suspects.front().link != incident.candidates.front().component ||
                     suspects.size() != incident.candidates.size();
  const std::string text = vote_text(
      suspects.front(), suspects.size(), {}, state_->telemetry.components, "lossy visits");
  state_->incidents.place(index,
                          Layer::kUnderlay,
                          incident.kind,
                          candidates_of(suspects),
                          1.0 / static_cast<double>(suspects.size()));
  if (moved) {
    state_->incidents.add_evidence(index, {now, "underlay-vote", false, text});
  }
}

void LossStage::describe_loss(Time now, IncidentIndex index, PairId pair) {
  std::uint32_t probes = 0;
  std::uint32_t lost = 0;
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (visit.pair == pair && visit.lossy()) {
      probes = visit.probes;
      lost = visit.lost;
    }
  }
  state_->incidents.add_evidence(
      index,
      {now,
       "loss-rule",
       false,
       fmt::format("{} lost {} of {} probes of its last visit with a loss, {} in a row",
                   state_->pair_name(pair),
                   lost,
                   probes,
                   state_->log.streak(pair))});
}

}  // namespace bonescan
