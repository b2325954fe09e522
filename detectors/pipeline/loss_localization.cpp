// Algorithm 1 for lost probes: the second third of LossStage.
#include "detectors/pipeline/loss_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {

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
    open_overlay(now, *finding, item);
    return true;
  }
  item.walked = finding->available || now - item.since >= patience();
  item.pending = finding->pending && !item.walked;
  item.walk_clear = finding->clear;
  item.walk_text = finding->text;
  return true;
}

void LossStage::drop_claimed() {
  std::erase_if(unexplained_, [](const Unexplained& item) { return item.claimed; });
}

void LossStage::open_overlay(Time now, const OverlayFinding& finding, const Unexplained& item) {
  const PairId pair = item.pair;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kOverlay &&
        incident.candidates.front().component == finding.culprit) {
      claim(index, now, pair);
      return;
    }
  }
  const IncidentIndex index = item.incident != kNoIncident
                                  ? item.incident
                                  : state_->incidents.open_incident(
                                        now, Layer::kOverlay, Symptom::kUnreachable, finding.kind);
  state_->incidents.place(index, Layer::kOverlay, finding.kind, {{finding.culprit, 1.0}}, 1.0);
  describe_loss(now, index, pair);
  state_->incidents.add_evidence(index, {now, "overlay-walk", false, finding.text});
  claim(index, now, pair);
}

bool LossStage::counts(const VisitOutcome& visit, Gathered what) const {
  if (!state_->live(visit.pair) || visit.attribution == Attribution::kExcused) {
    return false;
  }
  if (visit.attribution != Attribution::kIncident) {
    return true;
  }
  return what == Gathered::kAll ? !explained_elsewhere(visit.pair)
                                : lone_incident_of({&visit.pair, 1}) != kNoIncident;
}

void LossStage::gather(Time since, Gathered what, PathReading reading) {
  evidence_.clear();
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (visit.start < since || !counts(visit, what)) {
      continue;
    }
    const std::uint32_t bad = visit.lossy() ? 1 : 0;
    if (reading == PathReading::kThen) {
      evidence_.add_then(state_->paths, visit.pair, visit.start, bad);
    } else {
      evidence_.add(visit.pair, 1, bad);
    }
  }
}

std::vector<Accusation> LossStage::accused(Gathered what, bool unreachable) {
  const auto items = evidence_.relevant(state_->paths);
  if (items.empty()) {
    return {};
  }
  return what == Gathered::kAll ? search_.localize(items, Symptom::kLoss)
                                : blame(items, unreachable);
}

std::vector<Accusation> LossStage::best_reading(Time since, Gathered what, bool unreachable) {
  // What a fault more must explain is the same for both readings, whichever search accused it.
  const double prior_nats = FaultSearchOptions{}.prior_nats;
  const auto explained = [prior_nats](const std::vector<Accusation>& accusations) {
    double nats = 0.0;
    for (const Accusation& accusation : accusations) {
      nats += accusation.suspects.front().llr - prior_nats;
    }
    return nats;
  };
  gather(since, what, state_->paper() ? PathReading::kNow : PathReading::kThen);
  std::vector<Accusation> then = accused(what, unreachable);
  if (!evidence_.holds_former()) {
    return then;
  }
  gather(since, what, PathReading::kNow);
  std::vector<Accusation> moved = accused(what, unreachable);
  if (explained(moved) > explained(then)) {
    return moved;
  }
  gather(since, what, PathReading::kThen);
  return then;
}

bool LossStage::suspects(const Accusation& accusation, ComponentId link) {
  return std::any_of(accusation.suspects.begin(),
                     accusation.suspects.end(),
                     [link](const LinkScore& suspect) { return suspect.link == link; });
}

std::vector<Accusation> LossStage::blame(std::span<const PathEvidence> evidence, bool unreachable) {
  if (state_->paper()) {
    return published_vote(vote_, evidence);
  }
  std::vector<Accusation> accusations =
      (unreachable ? silent_search_ : search_).localize(evidence, Symptom::kLoss);
  std::erase_if(accusations, [this](const Accusation& accusation) {
    return accusation.suspects.front().llr < state_->options.loss.open_llr &&
           !accuses_silent(accusation);
  });
  return accusations;
}

/// Is a pair of it held for its silence?
bool LossStage::accuses_silent(const Accusation& accusation) const {
  return std::any_of(unexplained_.begin(), unexplained_.end(), [&](const Unexplained& item) {
    return item.symptom == Symptom::kUnreachable &&
           std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), item.pair);
  });
}

/// Algorithm 1 asks the overlay first: where it takes its time to answer, the links can wait.
bool LossStage::overlay_is_busy() const {
  return std::any_of(unexplained_.begin(), unexplained_.end(), [](const Unexplained& item) {
    return item.pending;
  });
}

/// A rule that just went makes some visits lossy before any pair is silent, and only silent pairs
/// have been walked.
bool LossStage::overlay_explains(Time now, std::span<const PairId> pairs) {
  const bool walked =
      std::any_of(unexplained_.begin(), unexplained_.end(), [&](const Unexplained& item) {
        return item.walked && std::binary_search(pairs.begin(), pairs.end(), item.pair);
      });
  if (walked || state_->paper()) {
    return false;
  }
  const auto finding = state_->inspector.overlay(state_->flow(pairs.front()), now);
  if (!finding || !finding->culprit.valid()) {
    return false;
  }
  Unexplained item;
  item.pair = pairs.front();
  item.since = now;
  item.symptom = Symptom::kLoss;
  open_overlay(now, *finding, item);
  return true;
}

void LossStage::accuse_links(Time now) {
  for (const Unexplained& item : unexplained_) {
    state_->paths.retrace(item.pair, state_->flow(item.pair), now);
  }
  const bool silent = std::any_of(unexplained_.begin(), unexplained_.end(), [](const auto& item) {
    return item.symptom == Symptom::kUnreachable;
  });
  const std::vector<Accusation> accusations =
      best_reading(now - state_->options.loss.pool_window, Gathered::kUnexplained, silent);
  const auto items = evidence_.relevant(state_->paths);
  for (const Accusation& accusation : accusations) {
    const bool alone = !state_->paper() && state_->distinct_pairs(accusation.pairs) < 2;
    const IncidentIndex grown = state_->paper() ? kNoIncident : lone_incident_of(accusation.pairs);
    const IncidentIndex known = open_incident_of(accusation);
    if (grown != kNoIncident) {
      if (!alone) {
        grow(now, grown, accusation, vote_.raw_vote(items));
      }
    } else if (known != kNoIncident && !(alone && accuses_silent(accusation))) {
      join(now, known, accusation, vote_.raw_vote(items));
    } else if (alone) {
      // Algorithm 1: a single failing path accuses no link.  The pair waits for the other stages.
      hold(now, accusation.pairs.front(), Symptom::kLoss);
    } else if ((state_->paper() || founded(accusation)) &&
               !overlay_explains(now, accusation.pairs)) {
      open_underlay(now, accusation, vote_.raw_vote(items));
    }
  }
}

/// More pairs of a link that has an incident; where they are silent and it was gray, it got worse.
void LossStage::join(Time now,
                     IncidentIndex index,
                     const Accusation& accusation,
                     std::span<const LinkVotes> raw) {
  if (state_->paper() || state_->incidents[index].symptom != Symptom::kLoss ||
      !mostly_silent(accusation)) {
    for (const PairId pair : accusation.pairs) {
      claim(index, now, pair);
    }
    return;
  }
  state_->incidents.worsen(index, Symptom::kUnreachable);
  grow(now, index, accusation, raw);
}

/// Either names first what the other may mean as well: then they are about one link.
IncidentIndex LossStage::open_incident_of(const Accusation& accusation) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kUnderlay && about_loss(incident) &&
        (state_->named_device(incident).valid() ||
         suspects(accusation, incident.candidates.front().component)) &&
        (state_->paper() || state_->names_link(incident, accusation.suspects.front().link))) {
      return index;
    }
  }
  return kNoIncident;
}

void LossStage::open_underlay(Time now,
                              const Accusation& accusation,
                              std::span<const LinkVotes> raw) {
  const bool unreachable = mostly_silent(accusation);
  const Symptom symptom = unreachable ? Symptom::kUnreachable : Symptom::kLoss;
  const IncidentIndex index =
      state_->open_accused(now, symptom, unreachable ? "link-down" : "link-loss", accusation);
  describe_underlay(now, index, accusation, raw);
}

bool LossStage::mostly_silent(const Accusation& accusation) const {
  const auto silent = static_cast<std::size_t>(
      std::count_if(accusation.pairs.begin(), accusation.pairs.end(), [&](PairId pair) {
        return state_->log.streak(pair) >= state_->options.loss.consecutive;
      }));
  return 2 * silent >= accusation.pairs.size() || (!state_->paper() && dead_since(accusation));
}

void LossStage::describe_underlay(Time now,
                                  IncidentIndex index,
                                  const Accusation& accusation,
                                  std::span<const LinkVotes> raw) {
  describe_loss(now, index, accusation.pairs.front());
  const auto walked = std::find_if(unexplained_.begin(), unexplained_.end(), [&](const auto& item) {
    return item.walked &&
           std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), item.pair);
  });
  if (walked != unexplained_.end()) {
    state_->incidents.add_evidence(index,
                                   {now, "overlay-walk", walked->walk_clear, walked->walk_text});
  } else {
    state_->explain_walk(index, now, accusation.pairs.front());
  }
  state_->explain_vote(index, now, accusation, raw, "lossy visits");
  claim_lossy(index, now, accusation.pairs, accusation.suspects.front().llr);
}

void LossStage::claim_lossy(IncidentIndex index,
                            Time now,
                            std::span<const PairId> pairs,
                            double llr) {
  for (const PairId pair : pairs) {
    if (state_->log.streak(pair) < state_->options.loss.consecutive) {
      state_->updates.verdicts.push_back({.at = now,
                                          .pair = pair,
                                          .kind = VerdictKind::kAnomalous,
                                          .rule = VerdictRule::kPooledLoss,
                                          .score = static_cast<float>(llr)});
    }
    claim(index, now, pair);
  }
  forgive(index);
}

void LossStage::claim(IncidentIndex index, Time now, PairId pair) {
  state_->incidents.attribute(index, now, pair);
  // What the other direction lost so far has the same explanation.
  const Pair ends = state_->ends(pair);
  const auto same = [&](PairId other) {
    return other == pair || state_->ends(other) == ends.reversed();
  };
  second_look_.explained(pair);
  for (VisitOutcome& visit : state_->log.recent()) {
    if (visit.lossy() && visit.attribution == Attribution::kNone && same(visit.pair)) {
      visit.attribution = Attribution::kIncident;
      if (state_->live(visit.pair)) {
        withdraw(visit);
      }
    }
  }
  for (Unexplained& item : unexplained_) {
    item.claimed = item.claimed || same(item.pair);
  }
}

/// A pair may have been walked only after its rule was repaired.  It still belongs to an open
/// incident of the overlay, or of a host, if it touches the one endpoint that several pairs of that
/// incident have in common.
IncidentIndex LossStage::overlay_incident_of(PairId pair) const {
  const Pair& ends = state_->ends(pair);
  const auto touches = [&](EndpointId endpoint, PairId other) {
    const Pair& other_ends = state_->ends(other);
    return other_ends.source == endpoint || other_ends.target == endpoint;
  };
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    const bool of_ends = incident.layer == Layer::kOverlay || incident.layer == Layer::kHost;
    if (!of_ends || state_->distinct_pairs(incident.pairs) < 2) {
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

/// The pair may have been held before that incident was opened.  A gray link makes no pair silent.
IncidentIndex LossStage::underlay_incident_of(const Unexplained& item) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.kind == kLinkWithdrawn && lost_on(incident, item.pair, item.since)) {
      return index;
    }
    const bool gray = incident.symptom == Symptom::kLoss && item.symptom == Symptom::kUnreachable;
    if (incident.layer == Layer::kUnderlay && about_loss(incident) && !gray &&
        state_->crosses_candidate(incident, item.pair)) {
      return index;
    }
  }
  return kNoIncident;
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
