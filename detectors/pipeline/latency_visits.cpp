// Late visits: who is late together since when, and what is said before a window closes.
#include "detectors/pipeline/latency_stage.h"
#include "sim/base/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// A pair that is late alone is reported at its first late visit if its median and its minimum rose
/// by this: a burst that all probes of one visit meet moves both by 2 now and then. @ours
constexpr float kAloneFactor = 3.0F;
/// In a later visit, either way, this median and the root of it in the minimum are enough. @ours
constexpr float kAgainFactor = 1.5F;
/// With late pairs beside it that a vote could not explain, it must be late again. @ours
constexpr std::uint32_t kPersistentVisits = 2;

/// An incident is scored again for so many sweeps, and for a minute at least. @ours
constexpr int kGrowingSweeps = 2;
constexpr Duration kLeastGrowing = std::chrono::seconds(64);

/// Readings of the tables while an incident's visits go on being late, one a turn: entries that are
/// away half of the time are there at all of them with a chance of 1 in 4,000.  Not only in turns
/// that hear of a late visit: those come moments after it, when short absences are over. @ours
constexpr int kTableReads = 12;

}  // namespace

void LatencyStage::visits_judged(Time now, std::span<const JudgedVisit> visits) {
  bool fresh = false;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (i + kPrefetchAhead < visits.size()) {
      prefetch_row(seen_, visits[i + kPrefetchAhead].pair);
    }
    const JudgedVisit& visit = visits[i];
    if (visit.kind == VerdictKind::kInsufficientData) {
      continue;
    }
    queue_watch_.begin(visit.start);
    Seen& seen = seen_.at(visit.pair);
    if (visit.start < seen.at) {
      continue;
    }
    seen.at = visit.start;
    seen.heard = Heard::kHealthy;
    if (visit.kind == VerdictKind::kAnomalous) {
      fresh = late_visit(now, visit) || fresh;
      continue;
    }
    if (!late_.empty()) {
      recovered(visit.pair);
    }
    if (visit.upper_factor >= kLeastUpper) {
      part_visit(now, visit);
    }
  }
  // Nobody visited it for a sweep: whether it is still late is not known.
  const Duration patience = state_->sweep() + 2 * state_->options.probing.visit;
  std::erase_if(late_,
                [&](const Late& late) { return late.by_visit && now - late.last > patience; });
  if (fresh) {
    accuse_by_visits(now);
  }
}

// True if it is evidence that a vote has not heard.
bool LatencyStage::late_visit(Time now, const JudgedVisit& visit) {
  Seen& seen = seen_[visit.pair];
  seen.heard = Heard::kExplained;
  const auto index = explaining(visit.pair);
  hear_queue(visit, index);
  if (index) {
    const bool open = placeless(state_->incidents[*index]);
    const bool known = PipelineState::holds(state_->incidents[*index], visit.pair);
    state_->incidents.attribute(*index, now, visit.pair);
    seen.heard = open ? Heard::kWaiting : Heard::kExplained;
    return open && !known;
  }
  if (static_cast<double>(visit.minimum_factor) < state_->options.short_term.minimum_factor) {
    // A verdict, but nothing that a job would notice: no incident, unless its path tells more.
    state_->paths.retrace(visit.pair, state_->flow(visit.pair), now);
    if (!moved_cable(visit.pair)) {
      return false;
    }
  }
  seen.heard = Heard::kLate;
  auto late = std::find_if(late_.begin(), late_.end(), [&](const Late& one) {
    return one.by_visit && one.pair == visit.pair;
  });
  if (late == late_.end()) {
    late =
        late_.insert(late_.end(), Late{.pair = visit.pair, .by_visit = true, .since = visit.start});
  }
  late->last = visit.start;
  ++late->visits;
  late->factor = visit.factor;
  late->minimum_factor = visit.minimum_factor;
  late->log_p = std::min(late->log_p, visit.log_p);
  return true;
}

void LatencyStage::part_visit(Time now, const JudgedVisit& visit) {
  const auto index = explaining(visit.pair);
  hear_queue(visit, index);
  if (visit.upper_factor < kPartFactor) {
    return;
  }
  if (!index) {
    table_watch_.late_in_part(now, visit.pair, visit.upper_factor);
  } else if (state_->incidents[*index].kind == kTableMismatch) {
    state_->incidents.attribute(*index, now, visit.pair);
  }
}

void LatencyStage::open_watched(Time now, const TableWatch::Found& found) {
  const IncidentIndex index = place_rnic(now, found.tables);
  state_->incidents.add_evidence(
      index,
      {now,
       "visit-shift",
       false,
       fmt::format("{}: upper quartile {:.2f} times that of its last visits, as {} pairs of its "
                   "RNIC had it within half a minute; no visit was late as a whole",
                   state_->pair_name(found.pair),
                   found.upper_factor,
                   found.pairs)});
  state_->explain_walk(index, now, found.pair);
  state_->incidents.add_evidence(
      index, {now, "underlay-vote", true, "visits that are late in part accuse no link"});
  state_->incidents.add_evidence(
      index,
      {now,
       "flow-table-diff",
       false,
       fmt::format("read {} times: {}", found.reads, found.tables.text)});
  state_->incidents.attribute(index, now, found.pair);
}

void LatencyStage::recovered(PairId pair) {
  std::erase_if(late_, [&](const Late& late) { return late.by_visit && late.pair == pair; });
}

void LatencyStage::gather_visits(Time now, Time onset, const Wanted& wanted) {
  const Time oldest = std::max(onset, now - state_->sweep() - 2 * state_->options.probing.visit);
  evidence_.clear();
  seen_.for_each([&](PairId pair, const Seen& seen) {
    if (seen.heard == Heard::kNothing || seen.at < oldest) {
      return;
    }
    if (seen.heard == Heard::kHealthy) {
      evidence_.add(pair, 1, 0);
    } else if (seen.heard == Heard::kLate || (seen.heard == Heard::kWaiting && wanted.waiting) ||
               (wanted.incident != nullptr && PipelineState::holds(*wanted.incident, pair))) {
      evidence_.add(pair, 1, 1);
    }
  });
}

// Pairs that became late together are heard first, since their first late visit.  Only if they
// accuse nobody are pairs that were late before heard with them, and everything since then.
void LatencyStage::accuse_by_visits(Time now) {
  Time onset = now;
  for (const Late& late : late_) {
    if (late.by_visit) {
      onset = std::min(onset, late.since);
      state_->paths.retrace(late.pair, state_->flow(late.pair), now);
    }
  }
  std::erase_if(held_, [](const Held& held) { return held.by_visit; });
  if (!vote_on_visits(now, onset, false)) {
    const Time oldest = now - state_->sweep() - 2 * state_->options.probing.visit;
    seen_.for_each([&](PairId, const Seen& seen) {
      if (seen.heard == Heard::kWaiting && seen.at >= oldest) {
        onset = std::min(onset, seen.at);
      }
    });
    vote_on_visits(now, onset, true);
  }
  std::erase_if(late_, [&](const Late& late) { return late.by_visit && claimed(late.pair); });
  vote_clear_text_ = held_.empty() ? "no link explains the late visits so far"
                                   : "a link explains the late visits, and so may the tables of "
                                     "its RNIC";
}

bool LatencyStage::vote_on_visits(Time now, Time onset, bool waiting) {
  gather_visits(now, onset, {.waiting = waiting});
  const auto items = evidence_.relevant(state_->paths);
  const auto accusations = late_links(search_, items, state_->options);
  suspect_hosts(now, onset, accusations);
  bool accused = false;
  for (const Accusation& accusation : accusations) {
    if (state_->distinct_pairs(accusation.pairs) < 2) {
      continue;  // Algorithm 1: a single failing path accuses no link.
    }
    accused = true;
    const auto votes = vote_.raw_vote(items);
    if (state_->share_an_end(accusation.pairs) &&
        (suspected(accusation) || !tables_were_clear(accusation))) {
      held_.push_back({accusation, {votes.begin(), votes.end()}, true});
      continue;
    }
    open_link(now, accusation, votes, first_late(accusation));
  }
  return accused;
}

bool LatencyStage::tables_were_clear(const Accusation& accusation) const {
  const auto accused = [&](PairId pair) {
    return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), pair);
  };
  return std::any_of(
             late_.begin(),
             late_.end(),
             [&](const Late& late) { return late.tables.has_value() && accused(late.pair); }) ||
         std::any_of(state_->incidents.open().begin(),
                     state_->incidents.open().end(),
                     [&](IncidentIndex index) {
                       const Incident& incident = state_->incidents[index];
                       return placeless(incident) &&
                              std::any_of(incident.pairs.begin(), incident.pairs.end(), accused);
                     });
}

bool LatencyStage::in_company(const Late& late, std::span<const Late> others) const {
  const Pair& ends = state_->ends(late.pair);
  return std::any_of(others.begin(), others.end(), [&](const Late& other) {
    const Pair& their = state_->ends(other.pair);
    return other.by_visit && their != ends && their != ends.reversed() &&
           (state_->share_a_link(late.pair, other.pair) ||
            state_->share_a_host(late.pair, other.pair));
  });
}

bool LatencyStage::open_alone(Time now, const Late& late, std::span<const Late> others) {
  const Pair back = state_->ends(late.pair).reversed();
  std::uint32_t visits = late.visits;
  for (const Late& other : others) {
    visits += other.by_visit && state_->ends(other.pair) == back ? other.visits : 0;
  }
  const bool again = visits >= kPersistentVisits && late.factor >= kAgainFactor &&
                     late.minimum_factor >= std::sqrt(late.factor);
  const bool at_once = late.factor >= kAloneFactor && late.minimum_factor >= kAloneFactor &&
                       !in_company(late, others);
  if (!again && !at_once) {
    return false;
  }
  open_persistent(now, late, *late.tables);
  return true;
}

Duration LatencyStage::growing_for() const {
  return std::max(kGrowingSweeps * state_->sweep(), kLeastGrowing);
}

void LatencyStage::grow(Time now) {
  const Duration most = growing_for();
  std::erase_if(growing_, [&](const Growing& growing) {
    const Incident& incident = state_->incidents[growing.index];
    return incident.closed.has_value() || now - incident.opened > most;
  });
  for (Growing& growing : growing_) {
    read_tables_again(now, growing);
    if (state_->due_again(state_->incidents[growing.index], now)) {
      grow_one(now, growing);
    }
  }
}

void LatencyStage::read_tables_again(Time now, Growing& growing) {
  const Incident& incident = state_->incidents[growing.index];
  const bool movable = !incident.closed && (incident.layer == Layer::kUnderlay ||
                                            incident.layer == Layer::kUndetermined);
  const bool goes_on = now - incident.last_seen <= state_->sweep();
  if (state_->paper() || !movable || !goes_on || incident.opened == now ||
      growing.table_reads >= kTableReads || incident.pairs.empty() ||
      !state_->share_an_end(incident.pairs)) {
    return;
  }
  const PairId pair = incident.pairs.front();
  const auto tables = state_->inspector.tables(state_->flow(pair), now);
  if (!tables) {
    return;
  }
  ++growing.table_reads;
  const bool shared = tables->mismatch &&
                      std::all_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId other) {
                        const Pair& ends = state_->ends(other);
                        return ends.source == tables->at || ends.target == tables->at;
                      });
  if (shared) {
    state_->place_table_mismatch(growing.index, *tables);
    state_->incidents.add_evidence(growing.index,
                                   {now,
                                    "flow-table-diff",
                                    false,
                                    fmt::format("read again while visits are late ({} times): {}",
                                                growing.table_reads,
                                                tables->text)});
  }
}

void LatencyStage::grow_one(Time now, const Growing& growing) {
  const Incident& incident = state_->incidents[growing.index];
  if (incident.closed ||
      (incident.layer != Layer::kUnderlay && incident.layer != Layer::kUndetermined)) {
    return;
  }
  // Of one pair alone a link is named by elimination, when the others of its sweep have passed.
  const bool alone = state_->distinct_pairs(incident.pairs) < 2;
  if (alone && now - growing.onset < state_->sweep()) {
    return;
  }
  gather_visits(now, growing.onset, {.incident = &incident});
  const auto scores = vote_.score(evidence_.relevant(state_->paths), Symptom::kLatency);
  if (scores.empty() || (!incident.candidates.empty() &&
                         scores.front().llr < kKeepScore * incident.candidates.front().score)) {
    return;
  }
  const auto crossed = [&](const LinkScore& suspect) {
    return std::any_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId pair) {
      return state_->crosses_link(pair, suspect.link);
    });
  };
  // A link with as much evidence of other pairs is another failure.
  std::vector<LinkScore> suspects;
  for (const LinkScore& suspect : ties(scores, state_->options.localize.tie_nats)) {
    if (crossed(suspect)) {
      suspects.push_back(suspect);
    }
  }
  if (!crossed(scores.front())) {
    return;
  }
  const bool moved = incident.candidates.empty() ||
                     suspects.front().link != incident.candidates.front().component ||
                     suspects.size() != incident.candidates.size();
  const std::string text =
      vote_text(suspects.front(), suspects.size(), {}, state_->telemetry.components, "late visits");
  const IncidentIndex kept = state_->place_on_links(now, growing.index, kLinkLatency, suspects);
  if (moved) {
    state_->incidents.add_evidence(kept, {now, "underlay-vote", false, text});
    absorb_lone(now, kept, suspects);
  }
}

}  // namespace bonescan
