#include "detectors/pipeline/drift_stage.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bonescan {
namespace {

/// A sixth of a period's windows, at least one.  @ours
std::uint16_t least_windows(const PipelineOptions& options) {
  const std::int64_t sixth = options.long_term.period / options.window.length / 6;
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(sixth, 1, 1000));
}

LevelDriftOptions drift_options(const PipelineOptions& all) {
  const LongTermOptions& options = all.long_term;
  return {.period = options.period,
          .least_samples = least_windows(all),
          .reference = options.reference,
          .least_reference = options.least_reference,
          .ewma_weight = options.ewma_weight,
          .cusum_slack = options.cusum_slack,
          .common_least = options.least_pairs,
          .least_factor = options.least_factor,
          .least_shift_us = static_cast<double>(options.least_shift.count()) / 1e3,
          .relearn_after = options.relearn_after,
          .false_alarms_per_day = options.false_alarms_per_day,
          .fleet_pairs = static_cast<double>(options.fleet_pairs),
          .settle = Duration::zero()};
}

LongTermZOptions published_options(const PipelineOptions& options) {
  const LongTermOptions& all = options.long_term;
  return {
      .period = all.period,
      .lags = {all.lags.first * all.period,
               all.lags.second * all.period,
               all.lags.third * all.period},
      .form = all.lags.form,
      .least_samples = all.lags.least_samples,
      .log_p = std::log(all.lags.significance),
      .settle = std::min(options.probing.visit + options.probing.timeout + options.probing.lateness,
                         all.period - Duration(1))};
}

}  // namespace

DriftStage::DriftStage(PipelineState& state)
    : state_(&state),
      vote_(latency_vote_options(state.options)),
      search_(latency_search_options(state.options)),
      drift_(drift_options(state.options)),
      published_(published_options(state.options)) {}

bool DriftStage::enabled() const {
  return state_->options.long_term.enabled;
}

void DriftStage::resize(std::size_t pairs) {
  if (!enabled()) {
    return;
  }
  if (state_->paper()) {
    published_.resize(pairs);
  } else {
    drift_.resize(pairs);
  }
}

void DriftStage::set_class(PairId pair, std::uint8_t pair_class) {
  if (enabled() && !state_->paper()) {
    drift_.set_class(pair, pair_class);
  }
}

void DriftStage::observe(Time now, const ObservedVisit& visit) {
  if (enabled() && state_->paper()) {
    published_.observe(now, {&visit, 1});
  }
}

void DriftStage::window_closed(Time now, Time from, Time to, const ClosedWindow& window) {
  if (!enabled()) {
    return;
  }
  verdicts_.clear();
  if (state_->paper()) {
    published_.evaluate(now, verdicts_);
  } else {
    for (std::size_t row = 0; row < window.pairs.size(); ++row) {
      if (row + kPrefetchAhead < window.pairs.size()) {
        drift_.prefetch_state(window.pairs[row + kPrefetchAhead]);
      }
      const double median_us = window.features_us[row][kP50];
      if (median_us > 0.0) {
        drift_.add_level(window.pairs[row], from, median_us);
      }
    }
    drift_.evaluate(to, verdicts_);
  }
  if (to > high_until_) {
    high_.clear();
  }
  keep_alive(now, window);
  if (verdicts_.empty()) {
    return;
  }
  auto& published = state_->updates.verdicts;
  published.insert(published.end(), verdicts_.begin(), verdicts_.end());
  high_.clear();
  for (const Verdict& verdict : verdicts_) {
    high_.push_back(verdict.pair);
  }
  // The next period's verdicts come with the first window that ends after it.
  high_until_ =
      verdicts_.front().at + state_->options.long_term.period + state_->options.window.length;
  waiting_.clear();  // of the period before: what still drifts is here again
  std::erase_if(verdicts_, [&](const Verdict& verdict) { return attribute(now, verdict.pair); });
  if (!verdicts_.empty()) {
    localize(now, window);
    run(now);
  }
}

void DriftStage::run(Time now) {
  std::vector<Suspicion> waiting = std::exchange(waiting_, {});
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Suspicion& suspicion = waiting[i];
    if (!state_->live(suspicion.worst.pair) || attribute(now, suspicion.worst.pair)) {
      continue;
    }
    const auto tables = state_->inspector.tables(state_->flow(suspicion.worst.pair), now);
    if (!tables) {
      waiting_.insert(waiting_.end(),
                      std::make_move_iterator(waiting.begin() + static_cast<std::ptrdiff_t>(i)),
                      std::make_move_iterator(waiting.end()));
      return;
    }
    if (!tables->available && ++suspicion.asked < kTableAsks) {
      waiting_.push_back(std::move(suspicion));
    } else if (tables->mismatch) {
      open_rnic(now, suspicion, *tables);
    } else if (!suspicion.accusation.suspects.empty()) {
      open_link(now, suspicion);
    } else {
      open_alone(now, suspicion, *tables);
    }
  }
}

void DriftStage::release(PairRange pairs) {
  const auto gone = [&](const auto& of) { return pairs.holds(of.pair); };
  std::erase_if(verdicts_, gone);
  std::erase_if(high_, [&](PairId pair) { return pairs.holds(pair); });
  std::erase_if(waiting_, [&](const Suspicion& one) { return pairs.holds(one.worst.pair); });
  evidence_.release(pairs);
  if (!enabled()) {
    return;
  }
  if (state_->paper()) {
    published_.release(pairs);
  } else {
    drift_.release(pairs);
  }
}

bool DriftStage::explains(const Incident& incident, PairId pair) const {
  if (PipelineState::holds(incident, pair)) {
    return true;
  }
  if (incident.layer == Layer::kUnderlay) {
    return state_->crosses_candidate(incident, pair);
  }
  if (incident.layer == Layer::kOverlay) {
    return state_->bridge_explains(incident, pair);
  }
  return incident.layer == Layer::kRnic && !incident.candidates.empty() &&
         state_->ends_at(pair, incident.candidates.front().component);
}

bool DriftStage::attribute(Time now, PairId pair) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.symptom == Symptom::kLatency && explains(incident, pair)) {
      state_->incidents.attribute(index, now, pair);
      return true;
    }
  }
  return false;
}

// The next period is half an hour away; incidents close after a minute and a half of silence.
void DriftStage::keep_alive(Time now, const ClosedWindow& window) {
  if (high_.empty()) {
    return;
  }
  for (std::size_t row = 0; row < window.pairs.size(); ++row) {
    const PairId pair = window.pairs[row];
    const bool high = state_->paper() ? std::binary_search(high_.begin(), high_.end(), pair)
                                      : drift_.still_high(pair, window.features_us[row][kP50]);
    if (!high) {
      continue;
    }
    for (const IncidentIndex index : state_->incidents.open()) {
      const Incident& incident = state_->incidents[index];
      if (incident.symptom == Symptom::kLatency && PipelineState::holds(incident, pair)) {
        state_->incidents.attribute(index, now, pair);
        break;
      }
    }
  }
}

void DriftStage::localize(Time now, const ClosedWindow& window) {
  std::stable_sort(verdicts_.begin(), verdicts_.end(), [](const Verdict& a, const Verdict& b) {
    return a.factor > b.factor;
  });
  for (const Verdict& verdict : verdicts_) {
    state_->paths.retrace(verdict.pair, state_->flow(verdict.pair), now);
  }
  evidence_.clear();
  for (const PairId pair : window.pairs) {
    const bool drifts = std::binary_search(high_.begin(), high_.end(), pair);
    evidence_.add(pair, 1, drifts ? 1 : 0);
  }
  for (const Verdict& verdict : verdicts_) {
    if (!std::binary_search(window.pairs.begin(), window.pairs.end(), verdict.pair)) {
      evidence_.add(verdict.pair, 1, 1);  // Visited in its period, though not in this window.
    }
  }
  const auto items = evidence_.relevant(state_->paths);
  const auto accusations =
      state_->paper() ? published_vote(vote_, items) : late_links(search_, items, state_->options);
  const auto votes = vote_.raw_vote(items);
  for (const Accusation& accusation : accusations) {
    const bool one_of_mine = std::any_of(verdicts_.begin(), verdicts_.end(), [&](const auto& v) {
      return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), v.pair);
    });
    if (!one_of_mine || (!state_->paper() && state_->distinct_pairs(accusation.pairs) < 2)) {
      continue;
    }
    Suspicion suspicion{.worst = worst_of(accusation),
                        .accusation = accusation,
                        .raw = {votes.begin(), votes.end()}};
    std::erase_if(verdicts_, [&](const Verdict& v) {
      return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), v.pair);
    });
    if (!state_->paper() && state_->share_an_end(accusation.pairs)) {
      waiting_.push_back(std::move(suspicion));  // Its tables explain it as well as its link.
    } else {
      open_link(now, suspicion);
    }
  }
  const auto whole =
      std::stable_partition(verdicts_.begin(), verdicts_.end(), [&](const Verdict& verdict) {
        return !drift_.with_its_class(verdict.pair);
      });
  if (whole != verdicts_.end()) {
    open_class(now, {whole, verdicts_.end()});
  }
  verdicts_.erase(whole, verdicts_.end());
  for (const Verdict& verdict : verdicts_) {
    waiting_.push_back({.worst = verdict, .accusation = {}, .raw = {}});
  }
}

const Verdict& DriftStage::worst_of(const Accusation& accusation) const {
  const auto worst = std::find_if(verdicts_.begin(), verdicts_.end(), [&](const Verdict& verdict) {
    return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), verdict.pair);
  });
  BONESCAN_CHECK(worst != verdicts_.end());
  return *worst;
}

void DriftStage::open_link(Time now, const Suspicion& suspicion) {
  const IncidentIndex index =
      state_->open_accused(now, Symptom::kLatency, kLatencyDrift, suspicion.accusation);
  describe(now, index, suspicion.worst);
  state_->explain_walk(index, now, suspicion.worst.pair);
  state_->explain_vote(index, now, suspicion.accusation, suspicion.raw, "drifting levels");
  for (const PairId pair : suspicion.accusation.pairs) {
    state_->incidents.attribute(index, now, pair);
  }
}

void DriftStage::open_rnic(Time now, const Suspicion& suspicion, const TableFinding& tables) {
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kRnic, Symptom::kLatency, kTableMismatch);
  state_->place_table_mismatch(index, tables);
  describe(now, index, suspicion.worst);
  state_->explain_walk(index, now, suspicion.worst.pair);
  state_->incidents.add_evidence(index, {now, "flow-table-diff", false, tables.text});
  state_->incidents.attribute(index, now, suspicion.worst.pair);
  for (const PairId pair : suspicion.accusation.pairs) {
    state_->incidents.attribute(index, now, pair);
  }
}

void DriftStage::open_alone(Time now, const Suspicion& suspicion, const TableFinding& tables) {
  const PairId pair = suspicion.worst.pair;
  IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUndetermined, Symptom::kLatency, kLatencyDrift);
  describe(now, index, suspicion.worst);
  const auto walk = state_->inspector.overlay(state_->flow(pair), now);
  if (walk) {
    state_->incidents.add_evidence(index, {now, "overlay-walk", walk->clear, walk->text});
  }
  state_->incidents.add_evidence(
      index, {now, "underlay-vote", true, "no link explains the pairs that drift"});
  state_->incidents.add_evidence(index, {now, "flow-table-diff", tables.available, tables.text});
  if (tables.available && walk && walk->clear) {
    // By elimination it is one of the links that only this pair crosses.
    const auto scores = vote_.score(evidence_.relevant(state_->paths), Symptom::kLatency);
    std::vector<LinkScore> mine;
    for (const LinkScore& suspect : ties(scores, state_->options.localize.tie_nats)) {
      if (state_->crosses_link(pair, suspect.link)) {
        mine.push_back(suspect);
      }
    }
    index = state_->place_on_links(now, index, kLatencyDrift, mine);
  }
  state_->incidents.attribute(index, now, pair);
}

void DriftStage::open_class(Time now, std::span<const Verdict> members) {
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUndetermined, Symptom::kLatency, kLatencyDrift);
  describe(now, index, members.front());
  state_->incidents.add_evidence(
      index,
      {now,
       "long-term",
       false,
       fmt::format("{} pairs of a class rose together against the same time of earlier days: a "
                   "change of load, or a fault of something that all of them share",
                   members.size())});
  for (const Verdict& verdict : members) {
    state_->incidents.attribute(index, now, verdict.pair);
  }
}

void DriftStage::describe(Time now, IncidentIndex index, const Verdict& verdict) {
  state_->incidents.add_evidence(
      index,
      {now,
       "long-term",
       false,
       fmt::format("{}: level {:.3f} times its {}, z {:.1f}, ln p {:.1f}",
                   state_->pair_name(verdict.pair),
                   verdict.factor,
                   state_->paper() ? "earlier fit" : "reference",
                   verdict.score,
                   verdict.log_p)});
}

}  // namespace bonescan
