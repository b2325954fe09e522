#include "detectors/shortterm/shift_detector.h"

#include "detectors/shortterm/lof.h"
#include "sim/base/check.h"
#include "sim/base/prefetch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace bonescan {
namespace {

constexpr std::size_t kMedian = 0;
constexpr std::size_t kMinimum = 1;

/// The variance of a median of n values is about 1.4 / n of theirs, from n = 5 on.
constexpr float kMedianVariance = 1.4F;

/// One contribution to a spread counts at most so many standard deviations. @ours
constexpr float kPooledBound = 5.0F;
constexpr float kOwnBound = 4.0F;

/// An exponential wait of mean q moves the minimum of ten probes by q / 10 and their median by
/// 0.69 q; a path moves both alike.  Where the minimum rose half as much, nothing is left. @ours
constexpr float kWaiting = 1.0F;

/// Rates of the first moments say little about a day.
constexpr Duration kLeastSpan = std::chrono::seconds(10);
constexpr double kSecondsPerDay = 86400.0;

constexpr LofOptions kLof{.neighbours = 5, .distance_floor = 0.05};

float levels_of_factor(double factor) {
  return static_cast<float>(std::log(factor) * kLevelsPerNat);
}

float factor_of_levels(float levels) {
  return static_cast<float>(std::exp(static_cast<double>(levels) / kLevelsPerNat));
}

}  // namespace

ShiftDetector::ShiftDetector(const ShiftOptions& options)
    : options_(options),
      visit_null_(options.null),
      run_null_(options.null),
      ring_(options.history),
      classes_(std::numeric_limits<std::uint8_t>::max() + std::size_t{1}) {
  BONESCAN_CHECK(options.least_history >= 1);
  BONESCAN_CHECK(options.least_history <= options.history);
  BONESCAN_CHECK(options.history <= kMostVisits);
}

void ShiftDetector::resize(std::size_t pairs) {
  ring_.grow(pairs);
  states_.grow(pairs);
}

void ShiftDetector::set_class(PairId pair, std::uint8_t pair_class) {
  states_[pair].pair_class = pair_class;
}

void ShiftDetector::release(PairRange pairs) {
  std::erase_if(staged_, [&](const Staged& visit) { return pairs.holds(visit.pair); });
  ring_.release(pairs.first, pairs.count);
  states_.release(pairs.first, pairs.count);
}

void ShiftDetector::hold_nulls(const NullThreshold& visit, const NullThreshold& run) {
  visit_null_ = visit;
  run_null_ = run;
  learning_ = false;
}

double ShiftDetector::probability() const {
  if (options_.probability > 0.0) {
    return options_.probability;
  }
  if (evaluations_ == 0) {
    return 0.0;
  }
  const double span_s = seconds(std::max(last_ - first_, kLeastSpan));
  const double per_day = static_cast<double>(evaluations_) * (kSecondsPerDay / span_s);
  return std::min(options_.false_alarms_per_day / per_day, options_.candidate_probability);
}

void ShiftDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  const auto floor_ns = static_cast<std::uint32_t>(options_.feature_floor.count());
  for (const ObservedVisit& visit : visits) {
    auto rtts = visit.rtts_ns;
    if (visit.cold && !rtts.empty()) {
      rtts = rtts.subspan(1);
    }
    Staged one{.pair = visit.pair, .start = visit.start};
    // Half of the answers are missing: what is left is no sample of the path.
    if (2 * visit_levels(rtts, floor_ns, one.levels) < std::max<std::size_t>(rtts.size(), 1)) {
      continue;
    }
    staged_.push_back(one);
  }
}

void ShiftDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  if (some_pair_twice()) {
    std::sort(staged_.begin(), staged_.end(), [](const Staged& a, const Staged& b) {
      return std::tie(a.pair, a.start, a.levels) < std::tie(b.pair, b.start, b.levels);
    });
  }
  open_turn();
  judged_.resize(staged_.size());
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    if (i + kPrefetchAhead < staged_.size()) {
      prefetch_row(ring_, staged_[i + kPrefetchAhead].pair, options_.history);
    }
    judge(now, staged_[i], judged_[i]);
  }
  const bool some = !staged_.empty();
  staged_.clear();
  close_turn();
  if (some) {
    first_ = evaluations_ == 0 ? now : first_;
    last_ = now;
    evaluations_ += scored_;
    scored_ = 0;
  }
  report(now, verdicts);
}

// Has some pair two visits in this turn?
bool ShiftDetector::some_pair_twice() {
  bool twice = false;
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    if (i + kPrefetchAhead < staged_.size()) {
      prefetch_row(states_, staged_[i + kPrefetchAhead].pair);
    }
    PairState& state = states_[staged_[i].pair];
    twice = twice || state.staged;
    state.staged = true;
  }
  return twice;
}

// One verdict a pair, the rarest; the sort is over the few that are late.
void ShiftDetector::report(Time now, std::vector<Verdict>& verdicts) {
  const auto first = static_cast<std::ptrdiff_t>(verdicts.size());
  for (const JudgedVisit& visit : judged_) {
    if (visit.kind == VerdictKind::kAnomalous) {
      verdicts.push_back({.at = now,
                          .pair = visit.pair,
                          .kind = visit.kind,
                          .rule = VerdictRule::kShift,
                          .score = visit.score,
                          .factor = visit.factor,
                          .log_p = visit.log_p});
    }
  }
  std::sort(verdicts.begin() + first, verdicts.end(), [](const Verdict& a, const Verdict& b) {
    return std::tie(a.pair, a.log_p, b.score) < std::tie(b.pair, b.log_p, a.score);
  });
  const auto same_pair = [](const Verdict& a, const Verdict& b) { return a.pair == b.pair; };
  verdicts.erase(std::unique(verdicts.begin() + first, verdicts.end(), same_pair), verdicts.end());
}

void ShiftDetector::open_turn() {
  // Two statistics share the budget.
  const double probability = this->probability() / 2.0;
  const Class* strictest = nullptr;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    Class& one = classes_[c];
    const auto id = static_cast<std::uint8_t>(c);
    one.null_trusted = probability > 0.0 && visit_null_.trusted(id) && run_null_.trusted(id);
    if (one.null_trusted) {
      one.null_class = id;
      one.candidate = static_cast<float>(visit_null_.threshold(id, options_.candidate_probability));
      one.visit_threshold = static_cast<float>(visit_null_.threshold(id, probability));
      one.run_threshold = static_cast<float>(run_null_.threshold(id, probability));
      if (strictest == nullptr || one.visit_threshold > strictest->visit_threshold) {
        strictest = &one;
      }
    }
  }
  if (strictest == nullptr) {
    return;
  }
  // A class of a few pairs would wait for hours; scores are in units of the pair's own spread.
  for (Class& one : classes_) {
    if (!one.null_trusted) {
      one.null_trusted = true;
      one.null_class = strictest->null_class;
      one.candidate = strictest->candidate;
      one.visit_threshold = strictest->visit_threshold;
      one.run_threshold = strictest->run_threshold;
    }
  }
}

void ShiftDetector::close_turn() {
  if (learning_) {
    visit_null_.close();
    run_null_.close();
  }
  const double least = options_.least_sd * kLevelsPerNat;
  for (Class& one : classes_) {
    if (one.new_weight == 0) {
      continue;
    }
    one.weight += one.new_weight;
    one.trusted = one.trusted || one.weight >= options_.least_scale;
    for (std::size_t f = 0; f < one.squares.size(); ++f) {
      one.squares[f] += one.new_squares[f];
      const double variance = static_cast<double>(one.squares[f]) / static_cast<double>(one.weight);
      one.variance[f] = static_cast<float>(std::max(variance, least * least));
    }
    if (one.weight >= options_.scale_memory) {
      one.weight /= 2;
      one.squares = {one.squares[0] / 2, one.squares[1] / 2};
    }
    one.new_squares = {};
    one.new_weight = 0;
  }
}

void ShiftDetector::judge(Time now, const Staged& visit, JudgedVisit& out) {
  PairState& state = states_[visit.pair];
  const Class& mine = classes_[state.pair_class];
  state.staged = false;
  out = {.pair = visit.pair, .start = visit.start};
  if (state.late_visits != 0 && now - state.late_since >= options_.freeze) {
    state.late_visits = 0;
    state.count = 0;
    state.next = 0;
    state.run = 0.0F;
  }
  if (state.count < options_.least_history) {
    remember(visit.pair, state, visit.levels);
    return;
  }
  Comparison found;
  compare(visit, state, found);
  if (!mine.trusted) {
    if (found.least_shift < levels_of_factor(options_.suspect_factor)) {
      contribute(state, found);
    }
    remember(visit.pair, state, visit.levels);
    return;
  }
  ++scored_;
  if (state.late_visits == 0) {
    decide(state, found);
  } else {
    found.late = still_late(state, found);
    found.shown = found.late && mine.null_trusted;
  }
  if (mine.null_trusted) {
    out.kind = found.shown ? VerdictKind::kAnomalous : VerdictKind::kHealthy;
    out.score = found.score;
    if (found.shown || found.score > mine.candidate) {
      out.log_p = log_p(mine.null_class, found);
    }
    if (found.late || out.log_p < 0.0F) {
      out.factor = factor_of_levels(found.shift[kMedian]);
      out.minimum_factor = factor_of_levels(found.shift[kMinimum]);
    }
    if (found.upper_shift >= levels_of_factor(kLeastUpper)) {
      out.upper_factor = factor_of_levels(found.upper_shift);
    }
  }
  if (found.late) {
    freeze(now, state, found);
  } else {
    learn(visit, state, found);
  }
}

void ShiftDetector::compare(const Staged& visit, PairState& state, Comparison& found) const {
  const Class& mine = classes_[state.pair_class];
  const VisitLevels* const ring = ring_.find(visit.pair);
  const auto doubled = doubled_medians(std::span(ring, state.count));
  const auto own = static_cast<float>(state.own_count);
  const auto prior = static_cast<float>(options_.prior_visits);
  const float median_error = 1.0F + kMedianVariance / static_cast<float>(state.count);
  const auto least = static_cast<float>(options_.least_sd * kLevelsPerNat);
  static_assert(kLevelMedian == kMedian && kLevelMin == kMinimum);
  for (std::size_t f = 0; f < found.shift.size(); ++f) {
    found.shift[f] = static_cast<float>(2 * visit.levels[f] - doubled[f]) * 0.5F;
    const float shrunk = (prior * mine.variance[f] + own * state.own_variance[f]) / (prior + own);
    found.sd[f] = std::sqrt(std::max(shrunk, least * least) * median_error);
  }
  found.upper_shift = static_cast<float>(2 * visit.levels[kLevelP75] - doubled[kLevelP75]) * 0.5F;
  // What the median rose by more than the minimum is waiting, and is taken off.
  const float apart = std::max(0.0F, found.shift[kMedian] - found.shift[kMinimum]);
  const float as_one = found.shift[kMinimum] - kWaiting * apart;
  found.least_shift = std::min(found.shift[kMedian], as_one);
  found.score = std::min(found.shift[kMedian] / found.sd[kMedian], as_one / found.sd[kMinimum]);
  if (mine.null_trusted && found.score > mine.candidate && !lonely(visit, state, found)) {
    found.score = mine.candidate;
  }
  const auto clip = static_cast<float>(options_.run_clip);
  const float step = std::clamp(found.score, -clip, clip) - static_cast<float>(options_.run_drift);
  found.run = std::max(0.0F, state.run + step);
}

// Is the visit an outlier of the pair's own visits, or has the pair been there before?
bool ShiftDetector::lonely(const Staged& visit,
                           const PairState& state,
                           const Comparison& found) const {
  if (state.count <= kLof.neighbours) {
    return true;
  }
  const auto scaled = [&](const VisitLevels& levels) {
    FeatureVector features{};
    for (std::size_t f = 0; f < kLevelFeatures; ++f) {
      const float sd = found.sd[f == kLevelMin ? kMinimum : kMedian];
      features[f] = static_cast<double>(levels[f]) / static_cast<double>(sd);
    }
    return features;
  };
  const VisitLevels* const ring = ring_.find(visit.pair);
  std::array<FeatureVector, kMaxHistory> history{};
  static_assert(kMaxHistory >= kMostVisits);
  for (std::size_t i = 0; i < state.count; ++i) {
    history[i] = scaled(ring[i]);
  }
  const auto factor =
      local_outlier_factor(std::span(history).first(state.count), scaled(visit.levels), kLof);
  return factor && *factor >= options_.least_lof;
}

void ShiftDetector::decide(const PairState& state, Comparison& found) const {
  const Class& mine = classes_[state.pair_class];
  if (!mine.null_trusted) {
    found.late = found.score >= static_cast<float>(options_.suspect_score) &&
                 found.least_shift >= levels_of_factor(options_.suspect_factor);
    return;
  }
  found.late = (found.score > mine.visit_threshold &&
                found.least_shift >= levels_of_factor(options_.least_factor)) ||
               (found.run > mine.run_threshold &&
                found.least_shift >= levels_of_factor(options_.least_run_factor));
  found.shown = found.late;
}

// The shift is smoothed, or a small step would be called over by the first visit that was lucky.
bool ShiftDetector::still_late(PairState& state, const Comparison& found) const {
  state.shift = (state.shift + found.least_shift) * 0.5F;
  return state.shift >= state.late_shift * 0.5F || found.least_shift >= state.late_shift;
}

float ShiftDetector::log_p(std::uint8_t null_class, const Comparison& found) const {
  const double rarer = std::min(visit_null_.log_p(null_class, static_cast<double>(found.score)),
                                run_null_.log_p(null_class, static_cast<double>(found.run)));
  return static_cast<float>(std::min(rarer + std::log(2.0), 0.0));
}

void ShiftDetector::freeze(Time now, PairState& state, const Comparison& found) {
  if (state.late_visits == 0) {
    state.late_since = now;
    state.late_shift = found.least_shift;
    state.shift = found.least_shift;
    hold(state, found);
  }
  if (state.late_visits < std::numeric_limits<std::uint8_t>::max()) {
    ++state.late_visits;
  }
}

void ShiftDetector::learn(const Staged& visit, PairState& state, const Comparison& found) {
  const Class& mine = classes_[state.pair_class];
  if (state.late_visits != 0) {
    // Over again at once: nothing that a job would call a failure.
    if (state.late_visits > options_.blip_visits) {
      state.held = 0;
    }
    state.late_visits = 0;
    state.run = 0.0F;
    tell_held(state);
  } else {
    state.run = found.run;
    if (mine.null_trusted && found.score >= mine.candidate) {
      hold(state, found);
    } else {
      tell_held(state);
      if (learning_) {
        visit_null_.add(state.pair_class, static_cast<double>(found.score));
        run_null_.add(state.pair_class, static_cast<double>(found.run));
      }
    }
    contribute(state, found);
  }
  remember(visit.pair, state, visit.levels);
}

// Whether a rare score was noise is known once the pair is calm again, or late.
void ShiftDetector::hold(PairState& state, const Comparison& found) const {
  if (state.held == state.held_scores.size()) {
    state.held_scores[0] = state.held_scores[1];
    --state.held;
  }
  state.held_run = state.held == 0 ? found.run : std::max(state.held_run, found.run);
  state.held_scores[state.held++] = found.score;
}

void ShiftDetector::tell_held(PairState& state) {
  for (std::size_t i = 0; i < state.held && learning_; ++i) {
    visit_null_.add(state.pair_class, static_cast<double>(state.held_scores[i]));
    run_null_.add(state.pair_class, static_cast<double>(state.held_run));
  }
  state.held = 0;
}

void ShiftDetector::contribute(PairState& state, const Comparison& found) {
  Class& mine = classes_[state.pair_class];
  const float median_error = 1.0F + kMedianVariance / static_cast<float>(state.count);
  const auto most = static_cast<float>(options_.own_visits_most);
  if (static_cast<float>(state.own_count) < most) {
    ++state.own_count;
  }
  for (std::size_t f = 0; f < found.shift.size(); ++f) {
    const float square = found.shift[f] * found.shift[f] / median_error;
    const float pooled_bound = mine.trusted ? kPooledBound * kPooledBound * mine.variance[f]
                                            : std::numeric_limits<float>::max();
    mine.new_squares[f] += static_cast<std::uint64_t>(std::min(square, pooled_bound));
    const float own_sd = found.sd[f];
    const float own_square =
        mine.trusted ? std::min(square, kOwnBound * kOwnBound * own_sd * own_sd) : square;
    state.own_variance[f] +=
        (own_square - state.own_variance[f]) / static_cast<float>(state.own_count);
  }
  ++mine.new_weight;
}

void ShiftDetector::remember(PairId pair, PairState& state, const VisitLevels& levels) {
  (&ring_[pair])[state.next] = levels;
  const std::size_t next = state.next + std::size_t{1};
  state.next = static_cast<std::uint8_t>(next == options_.history ? 0 : next);
  state.count = static_cast<std::uint8_t>(
      std::min<std::size_t>(state.count + std::size_t{1}, options_.history));
}

}  // namespace bonescan
