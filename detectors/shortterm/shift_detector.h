// "Is this visit later than this pair's visits are?", asked whenever a visit completes.
//
// Intuition: a window must close before it can be judged, which costs half a window; a visit of ten
// probes says enough at once.  A path that became slow moves the whole distribution, so the minimum
// and the median of a visit rise together; a queue leaves the minimum near its base, since some
// probe finds the queue short.  So a visit is scored by the smaller of two robust z values:
//
//   x_f  logarithm of the visit's median or minimum;  m_f  its median over the pair's last visits
//   d_f = x_f - m_f,   d = d_min - max(0, d_med - d_min) / 2      what waiting explains is taken
//   off z = min(d_med / s_med, d / s_min),   s_f^2 = (8 s_class^2 + n s_own^2) / (8 + n) run <-
//   max(0, run + clamp(z, -4, 4) - 0.75)                   small steps, in a few visits
//
// z and run have a null distribution per class that is learnt while running; one budget gives both
// their thresholds (null_threshold.h).  A visit that looks rare is looked at twice: it must also be
// an outlier of the pair's visits in four features (LOF), or a pair that switches between two
// levels would alarm at each switch.
//
// A late pair learns nothing: its history, its spread and the null stand still until it is back
// near its old level, or for `freeze`, after which it starts anew from where it is.  A pair that
// was back at its next visit or the one after was no failure that a job would notice: its score is
// told to the null after all, or what happens now and then would alarm for ever.
//
// Invariants: those of detector.h, and 1. a pair with fewer than least_history remembered visits,
// or of a class without a trusted spread, is not judged, and nobody before some
// class has a trusted null (a small class borrows the one with the highest threshold); 2. all that
// is shared between pairs moves at the end of a turn only and is made of integers or of sets, so
// the order of visits does not matter; 3. nothing is allocated once every pair and class was seen
// and buffers have grown. Rough model: some 100 ns a visit; 176 bytes a pair.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/records/verdict.h"
#include "detectors/shortterm/null_threshold.h"
#include "detectors/shortterm/shift_options.h"
#include "detectors/shortterm/visit_levels.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// Upper quartiles that grew by less are common and are not told. @ours
constexpr float kLeastUpper = 2.0F;

/// What was found about one visit.
struct JudgedVisit {
  PairId pair;
  Time start;
  VerdictKind kind = VerdictKind::kInsufficientData;
  float score = 0.0F;           ///< z
  float factor = 1.0F;          ///< median over that of the history; 1 without a history
  float minimum_factor = 1.0F;  ///< the same of the minimum
  float upper_factor = 1.0F;    ///< the same of the upper quartile; 1 below kLeastUpper
  float log_p = 0.0F;           ///< of the rarer of both statistics, doubled for having two
};

class ShiftDetector final : public Detector {
 public:
  /// REQUIRES: 1 <= least_history <= history <= kMostVisits.
  explicit ShiftDetector(const ShiftOptions& options);

  std::string_view name() const override { return "bonescan-shift"; }

  void resize(std::size_t pairs) override;
  void set_class(PairId pair, std::uint8_t pair_class) override;
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

  /// All visits of the last evaluate(), by (pair, start) where a pair had several.
  std::span<const JudgedVisit> judged() const { return judged_; }

  /// Null distributions of one visit's z and of the run of visits.
  const NullThreshold& visit_null() const { return visit_null_; }
  const NullThreshold& run_null() const { return run_null_; }

  /// Judges by these from now on and learns no null any more: a study fits with some seeds and
  /// checks with others.
  void hold_nulls(const NullThreshold& visit, const NullThreshold& run);

  /// The probability per evaluation that stands for the budget now; 0 before the first evaluation.
  double probability() const;

  /// Bytes that go with pairs, and bytes that stay.
  std::size_t held_size() const { return ring_.held_size() + states_.held_size(); }
  std::size_t kept_size() const { return ring_.kept_size() + states_.kept_size(); }

 private:
  struct PairState {
    Time late_since;
    std::array<float, 2> own_variance{};  ///< of median and minimum, levels squared
    float run = 0.0F;
    float late_shift = 0.0F;  ///< levels; of the visit that was the first late one
    float shift = 0.0F;       ///< smoothed while late
    /// Rare scores are kept from the nulls until it is known whether the pair is late.
    std::array<float, 2> held_scores{};
    float held_run = 0.0F;
    std::uint8_t count = 0;  ///< remembered visits
    std::uint8_t next = 0;   ///< where the next one goes
    std::uint8_t pair_class = 0;
    std::uint8_t own_count = 0;    ///< visits that own_variance is of, saturating
    std::uint8_t late_visits = 0;  ///< in a row, saturating; frozen while it is not 0
    std::uint8_t held = 0;
    bool staged = false;  ///< a visit of this turn waits
  };

  struct Staged {
    PairId pair;
    Time start;
    VisitLevels levels{};
  };

  /// The pooled spread of a class, and what its pairs are compared with in this turn.
  struct Class {
    std::array<std::uint64_t, 2> squares{};
    std::uint64_t weight = 0;
    std::array<std::uint64_t, 2> new_squares{};
    std::uint64_t new_weight = 0;
    std::array<float, 2> variance{};
    bool trusted = false;         ///< the spread
    bool null_trusted = false;    ///< both nulls, the own ones or borrowed
    std::uint8_t null_class = 0;  ///< whose they are
    float candidate = 0.0F;
    float visit_threshold = 0.0F;
    float run_threshold = 0.0F;
  };

  /// A visit against its pair's history.
  struct Comparison {
    std::array<float, 2> shift{};  ///< levels, median and minimum
    std::array<float, 2> sd{};
    float least_shift = 0.0F;  ///< by which both moved together
    float upper_shift = 0.0F;  ///< levels, upper quartile
    float score = 0.0F;
    float run = 0.0F;
    bool late = false;
    bool shown = false;  ///< late by a threshold, not by eye
  };

  bool some_pair_twice();
  void open_turn();
  void close_turn();
  void judge(Time now, const Staged& visit, JudgedVisit& out);
  void compare(const Staged& visit, PairState& state, Comparison& found) const;
  bool lonely(const Staged& visit, const PairState& state, const Comparison& found) const;
  void decide(const PairState& state, Comparison& found) const;
  bool still_late(PairState& state, const Comparison& found) const;
  void learn(const Staged& visit, PairState& state, const Comparison& found);
  void freeze(Time now, PairState& state, const Comparison& found);
  void hold(PairState& state, const Comparison& found) const;
  void tell_held(PairState& state);
  void contribute(PairState& state, const Comparison& found);
  void remember(PairId pair, PairState& state, const VisitLevels& levels);
  float log_p(std::uint8_t null_class, const Comparison& found) const;
  void report(Time now, std::vector<Verdict>& verdicts);

  ShiftOptions options_;
  NullThreshold visit_null_;
  NullThreshold run_null_;
  bool learning_ = true;
  PagedColumn<PairId, VisitLevels> ring_;
  PagedColumn<PairId, PairState> states_;
  std::vector<Class> classes_;  ///< one per value of std::uint8_t
  std::vector<Staged> staged_;
  std::vector<JudgedVisit> judged_;
  Time first_;  ///< of the first turn that judged
  Time last_;
  std::uint64_t evaluations_ = 0;  ///< visits that had a score
  std::uint64_t scored_ = 0;       ///< of them, in this turn
};

}  // namespace bonescan
