#include "detectors/pipeline/latency_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// A pair that no stage can explain is reported alone after this many late windows in a row. @ours
constexpr std::uint8_t kPersistentWindows = 2;
/// ... and only if its median grew by this. @ours
constexpr float kPersistentFactor = 1.5F;

bool about_latency(const Incident& incident) {
  return incident.symptom == Symptom::kLatency;
}

}  // namespace

LatencyStage::LatencyStage(PipelineState& state)
    : state_(&state),
      vote_(latency_vote_options(state.options)),
      search_(latency_search_options(state.options)),
      table_watch_(state),
      queue_watch_(state) {}

void LatencyStage::window_closed(Time now, std::span<const ShortTermResult> results) {
  std::erase_if(late_, [](const Late& late) { return !late.by_visit; });
  std::erase_if(held_, [](const Held& held) { return !held.by_visit; });
  std::erase_if(suspicions_, [](const Suspicion& one) { return !one.by_visit; });
  for (const ShortTermResult& result : results) {
    std::uint8_t& in_a_row = late_windows_.at(result.pair);
    if (result.kind != VerdictKind::kAnomalous) {
      in_a_row = 0;
      continue;
    }
    in_a_row = static_cast<std::uint8_t>(std::min(in_a_row + 1, 255));
    state_->updates.verdicts.push_back({.at = now,
                                        .pair = result.pair,
                                        .kind = VerdictKind::kAnomalous,
                                        .rule = VerdictRule::kWindowLof,
                                        .score = result.lof,
                                        .factor = result.factor});
    if (!attribute(now, result.pair)) {
      late_.push_back({.pair = result.pair, .lof = result.lof, .factor = result.factor});
    }
  }
  std::stable_sort(
      late_.begin(), late_.end(), [](const Late& a, const Late& b) { return a.factor > b.factor; });
  const bool by_window =
      std::any_of(late_.begin(), late_.end(), [](const Late& late) { return !late.by_visit; });
  if (by_window) {
    accuse_links(now, results);
  }
}

void LatencyStage::run(Time now) {
  if (!late_.empty()) {
    check_tables(now);
  }
  grow(now);
  for (const TableWatch::Found& found : table_watch_.read(now)) {
    open_watched(now, found);
  }
  if (const auto found = queue_watch_.look(now)) {
    open_queue(now, *found);
  }
}

void LatencyStage::release(PairRange pairs) {
  std::erase_if(late_, [&](const Late& late) { return pairs.holds(late.pair); });
  table_watch_.release(pairs);
  queue_watch_.release(pairs);
  suspicions_.clear();  // Those that live are suspected again.
  evidence_.release(pairs);
  late_windows_.release(pairs.first, pairs.count);
  seen_.release(pairs.first, pairs.count);
}

std::optional<IncidentIndex> LatencyStage::explaining(PairId pair) const {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!about_latency(incident)) {
      continue;
    }
    bool explains = state_->paper() ? PipelineState::holds(incident, pair)
                                    : state_->holds_either_way(incident, pair);
    if (incident.layer == Layer::kUnderlay) {
      explains = explains || state_->crosses_candidate(incident, pair);
    } else if (incident.layer == Layer::kRnic) {
      explains = explains || state_->ends_at(pair, incident.candidates.front().component);
    } else if (incident.layer == Layer::kOverlay) {
      explains = explains || state_->bridge_explains(incident, pair);
    }
    if (explains) {
      return index;
    }
  }
  return std::nullopt;
}

bool LatencyStage::attribute(Time now, PairId pair) {
  const auto index = explaining(pair);
  if (index) {
    state_->incidents.attribute(*index, now, pair);
  }
  return index.has_value();
}

bool LatencyStage::placeless(const Incident& incident) const {
  return about_latency(incident) && incident.layer != Layer::kRnic &&
         incident.layer != Layer::kOverlay && state_->distinct_pairs(incident.pairs) == 1;
}

void LatencyStage::accuse_links(Time now, std::span<const ShortTermResult> results) {
  for (const Late& late : late_) {
    state_->paths.retrace(late.pair, state_->flow(late.pair), now);
  }
  evidence_.clear();
  for (const ShortTermResult& result : results) {
    if (result.kind != VerdictKind::kInsufficientData) {
      evidence_.add(result.pair, 1, result.kind == VerdictKind::kAnomalous ? 1 : 0);
    }
  }
  const auto items = evidence_.relevant(state_->paths);
  const auto accusations =
      state_->paper() ? published_vote(vote_, items) : late_links(search_, items, state_->options);
  suspect_hosts(now, results, accusations);
  for (const Accusation& accusation : accusations) {
    if (!state_->paper() && state_->distinct_pairs(accusation.pairs) < 2) {
      continue;  // Algorithm 1: a single failing path accuses no link.
    }
    if (!state_->paper() && state_->share_an_end(accusation.pairs)) {
      // No probe tells the link and the tables apart.
      const auto votes = vote_.raw_vote(items);
      held_.push_back({accusation, {votes.begin(), votes.end()}});
      continue;
    }
    open_link(now, accusation, vote_.raw_vote(items), first_late(accusation));
  }
  std::erase_if(late_, [&](const Late& late) { return claimed(late.pair); });
  const auto raw = vote_.raw_vote(items);
  if (!held_.empty()) {
    vote_clear_text_ = fmt::format("{} explains the slow paths, and so may the tables of its RNIC",
                                   state_->telemetry.components[raw.front().link].name);
    return;
  }
  vote_clear_text_ = raw.empty()
                         ? "no link lies on two slow paths"
                         : fmt::format(
                               "{} lies on most slow paths ({}), but too few of the pairs that "
                               "cross it are slow: no link explains them",
                               state_->telemetry.components[raw.front().link].name,
                               raw.front().votes);
}

void LatencyStage::open_link(Time now,
                             const Accusation& accusation,
                             std::span<const LinkVotes> raw,
                             const Late* first) {
  if (!state_->paper() && join_link(now, accusation)) {
    return;
  }
  const IncidentIndex index =
      state_->open_accused(now, Symptom::kLatency, kLinkLatency, accusation);
  if (first != nullptr) {
    describe(now, index, *first);
    state_->explain_walk(index, now, first->pair);
  }
  const bool by_visit = first != nullptr && first->by_visit;
  state_->explain_vote(index, now, accusation, raw, by_visit ? "late visits" : "late windows");
  for (const PairId pair : accusation.pairs) {
    state_->incidents.attribute(index, now, pair);
  }
  if (by_visit) {
    growing_.push_back({index, first->since});
  }
}

const LatencyStage::Late* LatencyStage::first_late(const Accusation& accusation) const {
  const auto first = std::find_if(late_.begin(), late_.end(), [&](const Late& late) {
    return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), late.pair);
  });
  return first == late_.end() ? nullptr : &*first;
}

std::optional<IncidentIndex> LatencyStage::join_link(Time now, const Accusation& accusation) {
  const ComponentId link = accusation.suspects.front().link;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!about_latency(incident)) {
      continue;
    }
    const bool of_its_host =
        incident.layer == Layer::kOverlay &&
        std::all_of(accusation.pairs.begin(), accusation.pairs.end(), [&](PairId pair) {
          return state_->bridge_explains(incident, pair);
        });
    const bool named = of_its_host || PipelineState::names(incident, link);
    const auto crossed = [&](PairId pair) { return state_->crosses_link(pair, link); };
    const bool recent = now - incident.last_seen <= state_->sweep();
    const bool waits =
        placeless(incident) &&
        ((recent && std::any_of(incident.pairs.begin(), incident.pairs.end(), crossed)) ||
         std::any_of(accusation.pairs.begin(), accusation.pairs.end(), [&](PairId pair) {
           return state_->holds_either_way(incident, pair);
         }));
    if (!named && !waits) {
      continue;
    }
    IncidentIndex kept = index;
    if (waits) {
      kept = state_->place_on_links(now, index, kLinkLatency, accusation.suspects);
      state_->explain_vote(kept, now, accusation, {}, "late visits");
    }
    for (const PairId pair : accusation.pairs) {
      state_->incidents.attribute(kept, now, pair);
    }
    return kept;
  }
  return std::nullopt;
}

void LatencyStage::check_tables(Time now) {
  open_hosts(now);
  std::vector<Late> waiting = std::exchange(late_, {});
  std::vector<Late> unanswered;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Late& late = waiting[i];
    if (claimed(late.pair) || attribute(now, late.pair)) {
      continue;
    }
    if (late.tables || !needs_tables(late)) {
      if (!settle(now, late, waiting)) {
        unanswered.push_back(std::move(late));
      }
      continue;
    }
    const auto tables = state_->inspector.tables(state_->flow(late.pair), now);
    if (!tables) {
      late_.assign(waiting.begin() + static_cast<std::ptrdiff_t>(i), waiting.end());
      break;
    }
    if (!tables->available && ++late.asked < kTableAsks && !unreadable(late)) {
      unanswered.push_back(late);
      continue;
    }
    if (tables->mismatch) {
      drop_suspicions(*tables);
      open_rnic(now, late, *tables);
      continue;
    }
    late.tables = *tables;
    note_tables(late);
    if (!settle(now, late, waiting)) {
      unanswered.push_back(std::move(late));
    }
  }
  late_.insert(late_.end(), unanswered.begin(), unanswered.end());
  open_hosts(now);
}

bool LatencyStage::settle(Time now, const Late& late, std::span<const Late> others) {
  if (suspicion_of(late) != nullptr) {
    return false;
  }
  if (open_held(now, late)) {
    return true;
  }
  if (const auto cable = state_->paper() ? std::nullopt : moved_cable(late.pair)) {
    open_miscabled(now, late, *cable);
    return true;
  }
  if (late.by_visit) {
    return late.tables && open_alone(now, late, others);
  }
  if (late.tables && late_windows_.value(late.pair) >= kPersistentWindows &&
      late.factor >= kPersistentFactor) {
    open_persistent(now, late, *late.tables);
  }
  return true;
}

bool LatencyStage::open_held(Time now, const Late& late) {
  const auto held = std::find_if(held_.begin(), held_.end(), [&](const Held& one) {
    return one.by_visit == late.by_visit &&
           std::binary_search(one.accusation.pairs.begin(), one.accusation.pairs.end(), late.pair);
  });
  if (held == held_.end()) {
    return false;
  }
  open_link(now, held->accusation, held->raw, late.by_visit ? &late : nullptr);
  held_.erase(held);
  return true;
}

IncidentIndex LatencyStage::place_rnic(Time now, const TableFinding& tables) {
  const auto waiting = std::find_if(
      state_->incidents.open().begin(), state_->incidents.open().end(), [&](IncidentIndex open) {
        const Incident& incident = state_->incidents[open];
        return !state_->paper() && placeless(incident) && ends_at(incident, tables.culprit);
      });
  const IncidentIndex index =
      waiting != state_->incidents.open().end()
          ? *waiting
          : state_->incidents.open_incident(now, Layer::kRnic, Symptom::kLatency, kTableMismatch);
  state_->place_table_mismatch(index, tables);
  return index;
}

void LatencyStage::open_rnic(Time now, const Late& late, const TableFinding& tables) {
  const IncidentIndex index = place_rnic(now, tables);
  describe(now, index, late);
  state_->explain_walk(index, now, late.pair);
  state_->incidents.add_evidence(index, {now, "underlay-vote", true, vote_clear_text_});
  state_->incidents.add_evidence(index, {now, "flow-table-diff", false, tables.text});
  state_->incidents.attribute(index, now, late.pair);
}

bool LatencyStage::ends_at(const Incident& incident, ComponentId rnic) const {
  return std::any_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId pair) {
    return state_->ends_at(pair, rnic);
  });
}

void LatencyStage::open_persistent(Time now, const Late& late, const TableFinding& tables) {
  IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUndetermined, Symptom::kLatency, kSlowPair);
  describe(now, index, late);
  const auto finding = state_->inspector.overlay(state_->flow(late.pair), now);
  if (finding) {
    state_->incidents.add_evidence(index, {now, "overlay-walk", finding->clear, finding->text});
  }
  state_->incidents.add_evidence(index, {now, "underlay-vote", true, vote_clear_text_});
  state_->incidents.add_evidence(index, {now, "flow-table-diff", tables.available, tables.text});
  // Visits open it before others of the sweep could clear a link: see grow_one().
  if (!late.by_visit && tables.available && finding && finding->clear) {
    // By elimination it is one of the links that only this pair crosses.
    const auto scores = vote_.score(evidence_.relevant(state_->paths), Symptom::kLatency);
    index = state_->place_on_links(
        now, index, kLinkLatency, ties(scores, state_->options.localize.tie_nats));
  }
  state_->incidents.attribute(index, now, late.pair);
  if (late.by_visit) {
    growing_.push_back({index, late.since});
  }
}

void LatencyStage::describe(Time now, IncidentIndex index, const Late& late) {
  const std::string pair = state_->pair_name(late.pair);
  std::string text =
      late.by_visit
          ? fmt::format(
                "{}: median RTT {:.2f} times that of its last visits, minimum {:.2f} times; "
                "a healthy visit does so with probability e^{:.0f}",
                pair,
                late.factor,
                late.minimum_factor,
                late.log_p)
          : fmt::format("{}: median RTT {:.2f} times its history, local outlier factor {:.1f}",
                        pair,
                        late.factor,
                        late.lof);
  state_->incidents.add_evidence(
      index, {now, late.by_visit ? "visit-shift" : "window-lof", false, std::move(text)});
}

bool LatencyStage::claimed(PairId pair) const {
  return std::any_of(
      state_->incidents.open().begin(), state_->incidents.open().end(), [&](IncidentIndex index) {
        const Incident& incident = state_->incidents[index];
        return about_latency(incident) && PipelineState::holds(incident, pair);
      });
}

}  // namespace bonescan
