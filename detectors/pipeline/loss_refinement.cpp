// Incidents that stand are weighed again, all together: what opened one may have been a few visits.
// The last part of LossStage.
#include "detectors/pipeline/loss_stage.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Has a vote told why it is where it is?  A lone pair's incident is placed by elimination.
bool voted(const Incident& incident) {
  return std::any_of(incident.evidence.begin(), incident.evidence.end(), [](const Evidence& line) {
    return line.stage == "underlay-vote" && !line.clear;
  });
}

}  // namespace

bool LossStage::of_links(const Incident& incident) const {
  return incident.layer == Layer::kUnderlay && about_loss(incident) &&
         !state_->named_device(incident).valid();
}

bool LossStage::due(const Incident& incident, IncidentIndex index, Time now) {
  if (incident.last_seen != now) {
    return false;
  }
  // While a set is named, or nobody has voted, also whenever another pair has joined.
  std::size_t& pairs = refined_pairs_[index];
  const bool joined = (incident.candidates.size() > 1 || !voted(incident)) &&
                      incident.pairs.size() > pairs &&
                      now - incident.opened >= state_->options.probing.visit;
  if (!state_->due_again(incident, now) && !joined) {
    return false;
  }
  pairs = incident.pairs.size();
  return true;
}

void LossStage::refine(Time now) {
  std::erase_if(refined_pairs_,
                [&](const auto& one) { return state_->incidents[one.first].closed.has_value(); });
  if (state_->paper()) {
    return;
  }
  std::vector<IncidentIndex> again;
  bool any_due = false;
  Time since = now;
  const Duration pool = state_->options.loss.pool_window;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!of_links(incident)) {
      continue;
    }
    const bool is_due = due(incident, index, now);
    any_due = any_due || is_due;
    // An incident whose losses another one explains by now is not seen again, and nobody would ask
    // whether both were about one fault from the start.  What opened it must still be in the log.
    if (is_due || now - incident.opened <= pool / 2) {
      again.push_back(index);
      since = std::min(since, incident.opened - kLead);
    }
  }
  if (!any_due) {
    return;
  }
  const std::vector<Accusation> accusations =
      best_reading(std::max(since, now - pool), Gathered::kAll, false);
  for (const IncidentIndex index : again) {
    refine_one(now, index, accusations);
  }
}

bool LossStage::explained_elsewhere(PairId pair) const {
  const std::vector<IncidentIndex>& open = state_->incidents.open();
  return std::any_of(open.begin(), open.end(), [&](IncidentIndex index) {
    const Incident& incident = state_->incidents[index];
    return about_loss(incident) && incident.layer != Layer::kUnderlay &&
           incident.layer != Layer::kUndetermined && state_->holds_either_way(incident, pair);
  });
}

const Accusation* LossStage::better_place(const Incident& incident,
                                          std::span<const Accusation> accusations) const {
  const ComponentId named = incident.candidates.front().component;
  const Accusation* best = nullptr;
  std::size_t most = 0;
  std::vector<PairId> covered;
  for (const Accusation& accusation : accusations) {
    if (suspects(accusation, named)) {
      return &accusation;
    }
    std::vector<PairId> both;
    std::set_intersection(incident.pairs.begin(),
                          incident.pairs.end(),
                          accusation.pairs.begin(),
                          accusation.pairs.end(),
                          std::back_inserter(both));
    covered.insert(covered.end(), both.begin(), both.end());
    if (both.size() > most) {
      most = both.size();
      best = &accusation;
    }
  }
  std::sort(covered.begin(), covered.end());
  covered.erase(std::unique(covered.begin(), covered.end()), covered.end());
  // Another link takes over only if, with its like, it explains most of what the incident is about.
  return 2 * covered.size() >= incident.pairs.size() ? best : nullptr;
}

void LossStage::refine_one(Time now, IncidentIndex index, std::span<const Accusation> accusations) {
  const Incident& incident = state_->incidents[index];
  // Another of this turn may have turned out to be this one.
  const Accusation* place = incident.closed ? nullptr : better_place(incident, accusations);
  if (place == nullptr) {
    return;
  }
  const LinkScore& best = place->suspects.front();
  const ComponentId named = incident.candidates.front().component;
  const bool stays = suspects(*place, named);
  if (best.llr <
      (stays ? kKeepScore * incident.candidates.front().score : state_->options.loss.open_llr)) {
    return;
  }
  const bool moved = best.link != named || place->suspects.size() != incident.candidates.size();
  const bool unsaid = !voted(incident);
  const IncidentIndex kept = state_->place_on_links(now, index, incident.kind, place->suspects);
  if (moved || unsaid) {
    state_->explain_vote(kept, now, *place, {}, "lossy visits");
  }
}

}  // namespace bonescan
