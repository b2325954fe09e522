// Pairs that fail alone, and what the tests per component accuse: the last third of LossStage.
#include "detectors/pipeline/loss_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// A lossy pair, or one whose overlay cannot be walked, waits this long for others to fail with it
/// before it is taken for alone. @ours
constexpr Duration kLonePatience = std::chrono::seconds(3);

bool is_link(EvidenceScope scope) {
  return scope == EvidenceScope::kLinkUp || scope == EvidenceScope::kLinkDown ||
         scope == EvidenceScope::kCable;
}

std::string_view way_of(EvidenceScope scope) {
  switch (scope) {
    case EvidenceScope::kLinkUp:
      return "upwards";
    case EvidenceScope::kLinkDown:
      return "downwards";
    default:
      return "both ways";
  }
}

LinkScore score_of(const ComponentAlarm& alarm) {
  LinkScore score{.link = ComponentId(alarm.index)};
  score.direction =
      alarm.scope == EvidenceScope::kLinkDown ? LinkDirection::kDown : LinkDirection::kUp;
  score.both_directions = alarm.scope == EvidenceScope::kCable;
  score.llr = alarm.llr;
  score.rate = alarm.rate;
  return score;
}

}  // namespace

Duration LossStage::patience() {
  return kLonePatience;
}

bool LossStage::founded(const Accusation& accusation) const {
  const bool held =
      std::any_of(unexplained_.begin(), unexplained_.end(), [&](const Unexplained& item) {
        return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), item.pair);
      });
  const std::span<const ComponentAlarm> alarms = tests_.alarms();
  return held || std::any_of(alarms.begin(), alarms.end(), [&](const ComponentAlarm& alarm) {
           return is_link(alarm.scope) && std::any_of(accusation.suspects.begin(),
                                                      accusation.suspects.end(),
                                                      [&](const LinkScore& suspect) {
                                                        return suspect.link.index() == alarm.index;
                                                      });
         });
}

/// The tests remember longer than the vote: what they accuse and it does not is opened as they see
/// it.
void LossStage::accuse_by_tests(Time now) {
  std::vector<ComponentAlarm> alarms(tests_.alarms().begin(), tests_.alarms().end());
  std::stable_sort(
      alarms.begin(), alarms.end(), [](const auto& a, const auto& b) { return a.llr > b.llr; });
  for (const ComponentAlarm& alarm : alarms) {
    // What was claimed in this turn has been withdrawn; silent pairs open incidents of their own.
    if (!tests_.alarming(alarm.scope, alarm.index) || settled_elsewhere(alarm.pair)) {
      continue;
    }
    std::vector<PairId> pairs = tests_.pairs_of(alarm);
    std::erase_if(pairs, [&](PairId pair) { return settled_elsewhere(pair); });
    if (!is_link(alarm.scope) || state_->distinct_pairs(pairs) < 2) {
      hold(now, alarm.pair, Symptom::kLoss);
    } else {
      open_tested(now, alarm, alarms, pairs);
    }
  }
}

bool LossStage::settled_elsewhere(PairId pair) const {
  const auto held = [pair](const Unexplained& item) {
    return item.pair == pair && item.symptom == Symptom::kUnreachable;
  };
  return !state_->live(pair) || explained(pair) ||
         std::any_of(unexplained_.begin(), unexplained_.end(), held);
}

bool LossStage::explained(PairId pair) const {
  const std::vector<IncidentIndex>& open = state_->incidents.open();
  return std::any_of(open.begin(), open.end(), [&](IncidentIndex index) {
    const Incident& incident = state_->incidents[index];
    return about_loss(incident) &&
           (state_->holds_either_way(incident, pair) ||
            (incident.layer == Layer::kUnderlay && state_->crosses_candidate(incident, pair)));
  });
}

void LossStage::open_tested(Time now,
                            const ComponentAlarm& alarm,
                            std::span<const ComponentAlarm> all,
                            const std::vector<PairId>& pairs) {
  if (overlay_explains(now, pairs)) {
    return;
  }
  Accusation accusation;
  accusation.pairs = pairs;
  accusation.suspects.push_back(score_of(alarm));
  for (const ComponentAlarm& other : all) {
    const bool listed = std::any_of(
        accusation.suspects.begin(), accusation.suspects.end(), [&](const LinkScore& suspect) {
          return suspect.link.index() == other.index;
        });
    if (is_link(other.scope) && !listed && other.llr <= alarm.llr &&
        other.llr >= alarm.llr - state_->options.localize.tie_nats) {
      accusation.suspects.push_back(score_of(other));
    }
  }
  const IncidentIndex index = state_->open_accused(now, Symptom::kLoss, "link-loss", accusation);
  describe_loss(now, index, pairs.front());
  state_->explain_walk(index, now, pairs.front());
  state_->incidents.add_evidence(
      index,
      {now,
       "loss-rule",
       false,
       fmt::format("{} {}: {} visits lost something while {} probes crossed it; loss of about "
                   "{:.1f} %, log-likelihood ratio {:.1f} nats",
                   state_->telemetry.components[ComponentId(alarm.index)].name,
                   way_of(alarm.scope),
                   alarm.lossy,
                   alarm.probes,
                   100.0 * alarm.rate,
                   alarm.llr)});
  claim_lossy(index, now, pairs, alarm.llr);
}

void LossStage::forgive(IncidentIndex index) {
  const Incident& incident = state_->incidents[index];
  const DeviceId device = state_->named_device(incident);
  if (device.valid()) {
    for (const ComponentId link : state_->devices.links(device)) {
      forgive_link(link);
    }
    return;
  }
  for (const Candidate& candidate : incident.candidates) {
    forgive_link(candidate.component);
  }
}

void LossStage::forgive_link(ComponentId link) {
  for (const EvidenceScope scope :
       {EvidenceScope::kLinkUp, EvidenceScope::kLinkDown, EvidenceScope::kCable}) {
    tests_.reset(scope, link.index());
  }
}

bool LossStage::lone(const Incident& incident) const {
  return about_loss(incident) && incident.symptom == Symptom::kUnreachable &&
         (incident.layer == Layer::kUnderlay || incident.layer == Layer::kUndetermined) &&
         state_->distinct_pairs(incident.pairs) == 1;
}

IncidentIndex LossStage::lone_incident_of(std::span<const PairId> pairs) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (lone(incident) && std::any_of(pairs.begin(), pairs.end(), [&](PairId pair) {
          return state_->holds_either_way(incident, pair);
        })) {
      return index;
    }
  }
  return kNoIncident;
}

/// Where a visit has too few probes for one to be silent, a dead link shows in the visits of
/// different pairs: from the first loss on nearly all that cross it are lost.
bool LossStage::dead_since(const Accusation& accusation) const {
  if (state_->options.probing.probes_per_visit >= state_->options.loss.consecutive) {
    return false;
  }
  std::size_t crossing = 0;
  std::size_t lost = 0;
  for (const VisitOutcome& visit : state_->log.recent()) {
    const bool named =
        std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), visit.pair);
    const TracedPath* path = state_->paths.known(visit.pair);
    if ((lost == 0 && !(named && visit.lossy())) || path == nullptr ||
        !crosses(*path, accusation.suspects.front().link)) {
      continue;
    }
    ++crossing;
    lost += visit.lossy() && visit.lost == visit.probes ? 1 : 0;
  }
  return 10 * lost >= 9 * crossing;
}

void LossStage::grow(Time now,
                     IncidentIndex index,
                     const Accusation& accusation,
                     std::span<const LinkVotes> raw) {
  const IncidentIndex kept = state_->place_on_links(
      now, index, mostly_silent(accusation) ? "link-down" : "link-loss", accusation.suspects);
  describe_underlay(now, kept, accusation, raw);
}

bool LossStage::has_company(const Unexplained& item) const {
  const Pair& ends = state_->ends(item.pair);
  const auto fails_with_it = [&](PairId other) {
    return other != item.pair && state_->ends(other) != ends.reversed() &&
           state_->share_a_link(item.pair, other, item.since);
  };
  if (std::any_of(unexplained_.begin(), unexplained_.end(), [&](const Unexplained& other) {
        return !other.claimed && fails_with_it(other.pair);
      })) {
    return true;
  }
  const std::vector<IncidentIndex>& open = state_->incidents.open();
  return std::any_of(open.begin(), open.end(), [&](IncidentIndex index) {
    const Incident& incident = state_->incidents[index];
    return lone(incident) && fails_with_it(incident.pairs.front());
  });
}

bool LossStage::may_open_again(Time now, PairId pair) const {
  const std::vector<Incident>& all = state_->incidents.all();
  return std::any_of(all.rbegin(), all.rend(), [&](const Incident& incident) {
    return incident.closed && now - incident.last_seen <= state_->options.incident.reopen_after &&
           incident.layer == Layer::kUnderlay && incident.symptom == Symptom::kUnreachable &&
           state_->holds_either_way(incident, pair);
  });
}

void LossStage::give_up_on_lone_pairs(Time now) {
  for (std::size_t i = 0; i < unexplained_.size(); ++i) {
    if (!unexplained_[i].claimed) {
      give_up_on(now, unexplained_[i]);
    }
  }
}

void LossStage::give_up_on(Time now, Unexplained& item) {
  const bool prompt = !state_->paper() && item.symptom == Symptom::kUnreachable;
  const bool waited = now - item.since >= kLonePatience;
  const bool asked = !item.walk_text.empty();
  if (!(prompt ? asked : item.walked && waited)) {
    return;
  }
  if (item.incident == kNoIncident) {
    IncidentIndex known = overlay_incident_of(item.pair);
    if (known == kNoIncident && !state_->paper()) {
      known = underlay_incident_of(item);
    }
    if (known != kNoIncident) {
      claim(known, now, item.pair);
      return;
    }
    if (prompt && !waited && (has_company(item) || may_open_again(now, item.pair))) {
      return;
    }
  }
  std::optional<TableFinding> tables;
  if (item.walked) {
    tables = state_->inspector.tables(state_->flow(item.pair), now);
  }
  const bool settled = tables && (tables->available || now - item.since >= 2 * kLonePatience);
  if (!settled && !prompt) {
    return;
  }
  const IncidentIndex gray = prompt ? gray_incident_of(item.pair) : kNoIncident;
  if (gray != kNoIncident && item.incident == kNoIncident) {
    // Its own flow may be broken; if not, or if it answers again, it was the gray link.
    const bool answers = state_->log.streak(item.pair) == 0;
    const bool broken = settled && tables->mismatch;
    if (!broken && (settled || answers)) {
      claim(gray, now, item.pair);
    }
    if (!broken) {
      return;
    }
  }
  if (item.incident == kNoIncident) {
    item.incident = open_lone(now, item);
  }
  if (settled) {
    place_lone(now, item, *tables);
  }
}

IncidentIndex LossStage::gray_incident_of(PairId pair) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kUnderlay && incident.symptom == Symptom::kLoss &&
        state_->crosses_candidate(incident, pair)) {
      return index;
    }
  }
  return kNoIncident;
}

IncidentIndex LossStage::open_lone(Time now, const Unexplained& item) {
  const bool silent = item.symptom == Symptom::kUnreachable;
  const IncidentIndex index = state_->incidents.open_incident(
      now, Layer::kUndetermined, item.symptom, silent ? "unreachable-pair" : "lossy-pair");
  describe_loss(now, index, item.pair);
  state_->incidents.attribute(index, now, item.pair);
  return index;
}

void LossStage::place_lone(Time now, const Unexplained& item, const TableFinding& tables) {
  IncidentIndex index = item.incident;
  const bool silent = item.symptom == Symptom::kUnreachable;
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
    state_->place_table_mismatch(index, tables);
  } else if (tables.available && item.walk_clear) {
    // By elimination it is one of the links that only this pair crosses.
    const bool paper = state_->paper();
    gather(now - state_->options.loss.pool_window,
           Gathered::kUnexplained,
           paper ? PathReading::kNow : PathReading::kThen);
    const TracedPath* path =
        paper ? state_->paths.known(item.pair) : state_->paths.at(item.pair, item.since);
    const auto all = vote_.score(evidence_.relevant(state_->paths), Symptom::kLoss);
    std::vector<LinkScore> scores(all.begin(), all.end());
    std::erase_if(scores, [path](const LinkScore& score) {
      return path == nullptr || !crosses(*path, score.link);
    });
    index = state_->place_on_links(now,
                                   index,
                                   silent ? "link-down" : "link-loss",
                                   ties(scores, state_->options.localize.tie_nats));
  }
  claim(index, now, item.pair);
}

}  // namespace bonescan
