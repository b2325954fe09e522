#include "detectors/pipeline/latency_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// A pair that no stage can explain is reported alone after this many late windows in a row. @ours
constexpr std::uint8_t kPersistentWindows = 2;
/// ... and only if its median grew by this. @ours
constexpr float kPersistentFactor = 1.5F;

/// Tables that do not answer are asked this often, once per visit period. @ours
constexpr int kTableAsks = 3;

VoteOptions vote_options(const PipelineOptions& options) {
  return {.open_llr = options.loss.open_llr,
          .latency_hit_ratio = options.localize.latency_hit_ratio,
          .tie_nats = options.localize.tie_nats};
}

bool about_latency(const Incident& incident) {
  return incident.symptom == Symptom::kLatency;
}

}  // namespace

LatencyStage::LatencyStage(PipelineState& state)
    : state_(&state), vote_(vote_options(state.options)) {}

void LatencyStage::window_closed(Time now, std::span<const ShortTermResult> results) {
  late_.clear();
  held_.clear();
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
  if (!late_.empty()) {
    accuse_links(now, results);
  }
}

void LatencyStage::run(Time now) {
  if (!late_.empty()) {
    check_tables(now);
  }
}

void LatencyStage::release(PairRange pairs) {
  std::erase_if(late_, [&](const Late& late) { return pairs.holds(late.pair); });
  evidence_.release(pairs);
  late_windows_.release(pairs.first, pairs.count);
}

bool LatencyStage::attribute(Time now, PairId pair) {
  const Pair& ends = state_->ends(pair);
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!about_latency(incident)) {
      continue;
    }
    bool explains = PipelineState::holds(incident, pair);
    if (incident.layer == Layer::kUnderlay) {
      explains = explains || state_->crosses_candidate(incident, pair);
    } else if (incident.layer == Layer::kRnic) {
      const std::string& rnic =
          state_->telemetry.components[incident.candidates.front().component].name;
      explains = explains || state_->telemetry.endpoints[ends.source].name == rnic ||
                 state_->telemetry.endpoints[ends.target].name == rnic;
    }
    if (explains) {
      state_->incidents.attribute(index, now, pair);
      return true;
    }
  }
  return false;
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
      state_->paper() ? published_vote(vote_, items) : vote_.explain_all(items, Symptom::kLatency);
  for (const Accusation& accusation : accusations) {
    if (!state_->paper() && state_->distinct_pairs(accusation.pairs) < 2) {
      continue;  // Algorithm 1: a single failing path accuses no link.
    }
    if (!state_->paper() && one_end(accusation)) {
      // No probe tells the link and the tables apart.
      const auto votes = vote_.raw_vote(items);
      held_.push_back({accusation, {votes.begin(), votes.end()}});
      continue;
    }
    open_link(now, accusation, vote_.raw_vote(items));
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
                             std::span<const LinkVotes> raw) {
  const IncidentIndex index =
      state_->open_accused(now, Symptom::kLatency, "link-latency", accusation);
  const auto first = std::find_if(late_.begin(), late_.end(), [&](const Late& late) {
    return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), late.pair);
  });
  if (first != late_.end()) {
    describe(now, index, *first);
    state_->explain_walk(index, now, first->pair);
  }
  state_->explain_vote(index, now, accusation, raw, "late windows");
  for (const PairId pair : accusation.pairs) {
    state_->incidents.attribute(index, now, pair);
  }
}

void LatencyStage::check_tables(Time now) {
  std::vector<Late> waiting = std::exchange(late_, {});
  std::vector<Late> unanswered;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Late& late = waiting[i];
    if (claimed(late.pair) || attribute(now, late.pair)) {
      continue;
    }
    const auto tables = state_->inspector.tables(state_->flow(late.pair), now);
    if (!tables) {
      late_.assign(waiting.begin() + static_cast<std::ptrdiff_t>(i), waiting.end());
      break;
    }
    if (!tables->available && ++late.asked < kTableAsks) {
      unanswered.push_back(late);
      continue;
    }
    if (tables->mismatch) {
      open_rnic(now, late, *tables);
    } else if (open_held(now, late.pair)) {
      continue;
    } else if (late_windows_.value(late.pair) >= kPersistentWindows &&
               late.factor >= kPersistentFactor) {
      open_persistent(now, late, *tables);
    }
  }
  late_.insert(late_.end(), unanswered.begin(), unanswered.end());
}

bool LatencyStage::one_end(const Accusation& accusation) const {
  const Pair& first = state_->ends(accusation.pairs.front());
  const auto shared = [&](EndpointId end) {
    return std::all_of(accusation.pairs.begin(), accusation.pairs.end(), [&](PairId pair) {
      return state_->ends(pair).source == end || state_->ends(pair).target == end;
    });
  };
  return shared(first.source) || shared(first.target);
}

bool LatencyStage::open_held(Time now, PairId pair) {
  const auto held = std::find_if(held_.begin(), held_.end(), [&](const Held& one) {
    return std::binary_search(one.accusation.pairs.begin(), one.accusation.pairs.end(), pair);
  });
  if (held == held_.end()) {
    return false;
  }
  open_link(now, held->accusation, held->raw);
  held_.erase(held);
  return true;
}

void LatencyStage::open_rnic(Time now, const Late& late, const TableFinding& tables) {
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kRnic, Symptom::kLatency, kTableMismatch);
  state_->place_table_mismatch(index, tables);
  describe(now, index, late);
  state_->explain_walk(index, now, late.pair);
  state_->incidents.add_evidence(index, {now, "underlay-vote", true, vote_clear_text_});
  state_->incidents.add_evidence(index, {now, "flow-table-diff", false, tables.text});
  state_->incidents.attribute(index, now, late.pair);
}

void LatencyStage::open_persistent(Time now, const Late& late, const TableFinding& tables) {
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUndetermined, Symptom::kLatency, "slow-pair");
  describe(now, index, late);
  const auto finding = state_->inspector.overlay(state_->flow(late.pair), now);
  if (finding) {
    state_->incidents.add_evidence(index, {now, "overlay-walk", finding->clear, finding->text});
  }
  state_->incidents.add_evidence(index, {now, "underlay-vote", true, vote_clear_text_});
  state_->incidents.add_evidence(index, {now, "flow-table-diff", tables.available, tables.text});
  if (tables.available && finding && finding->clear) {
    // By elimination it is one of the links that only this pair crosses.
    const auto scores = vote_.score(evidence_.relevant(state_->paths), Symptom::kLatency);
    const auto suspects = ties(scores, state_->options.localize.tie_nats);
    state_->incidents.place(index,
                            Layer::kUnderlay,
                            suspects.empty() ? "slow-pair" : "link-latency",
                            candidates_of(suspects),
                            1.0 / static_cast<double>(std::max<std::size_t>(suspects.size(), 1)));
  }
  state_->incidents.attribute(index, now, late.pair);
}

void LatencyStage::describe(Time now, IncidentIndex index, const Late& late) {
  state_->incidents.add_evidence(
      index,
      {now,
       "window-lof",
       false,
       fmt::format("{}: median RTT {:.2f} times its history, local outlier factor {:.1f}",
                   state_->pair_name(late.pair),
                   late.factor,
                   late.lof)});
}

bool LatencyStage::claimed(PairId pair) const {
  return std::any_of(
      state_->incidents.open().begin(), state_->incidents.open().end(), [&](IncidentIndex index) {
        const Incident& incident = state_->incidents[index];
        return about_latency(incident) && PipelineState::holds(incident, pair);
      });
}

}  // namespace bonescan
