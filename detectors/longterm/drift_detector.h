// A level that creeps away: each pair's half hours against its own first day.
//
// Intuition: 10 % a day is 0.2 % in half an hour, and no test that compares neighbouring windows
// can see it.  Compared with a reference that stays where it was, the deviation grows until it is
// beyond doubt.  Three things must be known for that: what the class does together (DriftClass),
// how far a healthy pair strays and for how long (pooled over the class, shrunk towards the pair's
// own), and how well the reference is known.
//
// Per pair and period, with a the mean of ln(median RTT) over its visits:
//   d = a - reference - common;   E = (1 - w) E + w d;   u = (d - phi d_before) / s
//   z = E / sqrt(var d (ewma_variance_factor + mean_variance_factor(reference)))
//   S = max(0, S + u - k)
// z is read with Student's tail for the degrees of freedom of s.  A pair drifts iff the smaller log
// p is within the budget AND the level has moved by 5 % or by 1 us AND half of the newest period's
// visits stand at least half of that above, so that a short burst is no drift.
// While it drifts a pair teaches nobody anything.  After `relearn_after` it starts anew from the
// level it is at; so does, silently, a pair that became faster.
//
// Invariants: 1. a pair without a reference, a class without a known spread, a period with too few
// visits: no verdict, and nothing is learnt; 2. sums are integers, so the order of visits never
// matters; 3. no allocation once pairs were seen and buffers have grown.
// A pair costs 88 bytes until it is released.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/longterm/drift_class.h"
#include "detectors/longterm/period_levels.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct LevelDriftOptions {
  Duration period = std::chrono::minutes(30);
  std::uint16_t least_samples = 10;                   ///< visits (or windows) in a period @ours
  Duration reference = std::chrono::hours(24);        ///< a reference is the mean of so long @ours
  Duration least_reference = std::chrono::hours(12);  ///< ... and is used from here on @ours
  double ewma_weight = 0.1;                           ///< @ours
  double cusum_slack = 1.0;                           ///< k, in s @ours
  std::size_t common_least = 5;  ///< pairs of a class, to take their median out @ours
  double least_factor = 1.05;    ///< a drift is at least this, or ... @ours
  double least_shift_us = 1.0;   ///< ... this @ours
  double pair_steps = 96.0;      ///< at most so many of a pair's own differences count @ours
  Duration relearn_after = std::chrono::hours(72);  ///< @ours
  /// False alarms a day of this rule in a fleet of `fleet_pairs` pairs: a tenth of the 0.48 that
  /// all rules together may have.
  double false_alarms_per_day = 0.048;
  double fleet_pairs = 300'000.0;
  Duration settle = std::chrono::seconds(10);  ///< a visit is complete so long after its start
};

class DriftDetector final : public Detector {
 public:
  /// REQUIRES: a day is a whole number of periods; least_reference holds two periods or more.
  explicit DriftDetector(const LevelDriftOptions& options);

  std::string_view name() const override { return "bonescan-drift"; }

  /// ln p at which one test alarms.
  double log_p_budget() const { return log_p_; }

  /// Since the pair's last period.
  bool drifting(PairId pair) const { return states_.value(pair).alarmed != 0; }

  /// Is it the class as a whole that drifts, the pair with it?
  bool with_its_class(PairId pair) const { return states_.value(pair).alarmed == kWithClass; }

  /// Does a level stand where the pair's drift has brought it, rather than where it was?  False of
  /// pairs that do not drift.
  bool still_high(PairId pair, double median_us) const;

  const DriftClass& of_class(std::uint8_t pair_class) const { return classes_[pair_class]; }

  std::size_t held_size() const { return states_.held_size(); }

  std::size_t kept_size() const { return states_.kept_size(); }

  void resize(std::size_t pairs) override { states_.grow(pairs); }

  void set_class(PairId pair, std::uint8_t pair_class) override;
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

  /// Asks for what add_level() will read.
  [[gnu::always_inline]] void prefetch_state(PairId pair) const { prefetch_row(states_, pair); }

  /// A level without its visits, for callers that have closed windows.  REQUIRES: median_us > 0.
  void add_level(PairId pair, Time at, double median_us);

 private:
  static constexpr std::uint8_t kAlone = 1;
  static constexpr std::uint8_t kWithClass = 2;

  struct PairState {
    std::array<std::int64_t, 2> levels{};
    std::array<std::uint16_t, 2> count{};
    std::array<std::uint16_t, 2> high{};  ///< of these, half an effect above the reference
    float reference = 0.0F;
    float common = 0.0F;  ///< of the last period
    float ewma = 0.0F;
    float cusum = 0.0F;
    float cusum_levels = 0.0F;      ///< sum of d since the sum was zero
    std::array<float, 3> before{};  ///< d of the last periods, newest first
    float ones = 0.0F;              ///< squares of differences over one period
    float threes = 0.0F;            ///< ... and over three
    float steps = 0.0F;             ///< behind each
    std::int32_t last_period = -1;
    std::uint16_t learned = 0;  ///< periods in the reference
    std::uint16_t cusum_steps = 0;
    std::uint16_t alarmed_periods = 0;
    std::uint8_t pair_class = 0;
    std::uint8_t alarmed = 0;
    std::uint8_t run = 0;  ///< periods in a row in before
    std::uint8_t suspect = 0;
  };

  static_assert(sizeof(PairState) == 88);

  /// One closed period of one pair.
  struct Aggregate {
    double level = 0.0;  ///< ln us
    double high_share = 0.0;
    bool heard = false;
  };

  /// What a healthy pair would do.
  struct Spread {
    double variance = 0.0;  ///< of d
    double sd = 0.0;        ///< of e
    double phi = 0.0;
    double degrees = 0.0;
  };

  /// How little the pair looks like a healthy one.
  struct Finding {
    double log_p = 0.0;
    double level = 0.0;
    double z = 0.0;
  };

  void close_due(Time now);
  void close_period(std::int64_t period);
  Aggregate aggregate(const PairState& state, std::size_t slot) const;
  double least_effect(const PairState& state) const;
  Spread spread(const PairState& state) const;
  void settle(PairId pair, PairState& state, std::int64_t period, const Aggregate& heard);
  /// Adds a period to a reference that is not complete.
  void learn(PairState& state, double deviation) const;
  void step(PairState& state, double deviation, const Spread& pair);
  void teach(PairState& state, double deviation);
  Finding finding(const PairState& state, const Spread& pair) const;
  void judge(
      PairId pair, PairState& state, std::int64_t period, const Aggregate& heard, double deviation);
  /// Of a pair that was found to drift.
  void follow(PairId pair, PairState& state, std::int64_t period, double deviation, double log_p);
  void report(PairId pair, std::int64_t period, double deviation, double log_p);
  static void forget(PairState& state);

  LevelDriftOptions options_;
  PeriodClock clock_;
  double log_p_;
  std::uint16_t reference_periods_;
  std::uint16_t least_reference_periods_;
  std::uint16_t relearn_periods_;
  std::vector<DriftClass> classes_;
  std::vector<std::uint8_t> used_classes_;  ///< 1 if a pair was ever in it
  PagedColumn<PairId, PairState> states_;
  std::vector<Verdict> fresh_;
  std::vector<std::uint32_t> scratch_;
};

}  // namespace bonescan
