// The published long-term test as a detector: each half hour's log-normal fit is checked half an
// hour, one hour and two hours later.
//
// Intuition: whatever the half-hour windows of LOF cannot see moves slowly, so compare further
// apart.  What it cannot see by construction: a drift that is small over its longest lag (10 % a
// day is 0.8 % in two hours), and everything that is older than that lag, since the fault is then
// in both samples.
// Two forms (lognormal_z.h): as published, on single probes, the fit taken for the truth; and with
// baseline error, Welch, on the medians of visits, which is ours and still believes that visits are
// independent.
// One-sided: only increases count.
// A pair costs 104 bytes with the paper's lags.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/longterm/lognormal_z.h"
#include "detectors/longterm/long_term_options.h"
#include "detectors/longterm/period_levels.h"
#include "sim/base/paged_column.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

struct LongTermZOptions {
  Duration period = std::chrono::minutes(30);  ///< @paper
  /// Multiples of the period, at most 16 of it; zero is no lag.  @paper: half an hour, one hour and
  /// two (one of its two wordings says one and a half).
  std::array<Duration, 3> lags = {
      std::chrono::minutes(30), std::chrono::minutes(60), std::chrono::minutes(120)};
  ZForm form = ZForm::kPublished;
  std::uint32_t least_samples = 30;  ///< of each of the two periods @ours
  /// ln p below which a pair is anomalous: 1.16e-9, one test in a day of 300,000 pairs and 2,880
  /// tests each.  @ours; the paper gives none
  double log_p = -20.575;
  double least_factor = 1.0;  ///< medians must differ by this much as well; the paper has none
  Duration settle = std::chrono::seconds(10);  ///< a visit is complete so long after its start
};

class LongTermZ final : public Detector {
 public:
  /// REQUIRES: a lag, each of which is a multiple of the period and at most 16 of it.
  explicit LongTermZ(const LongTermZOptions& options);

  std::string_view name() const override { return "skeletonhunter-z"; }

  std::size_t held_size() const { return sums_.held_size() + fits_.held_size(); }

  std::size_t kept_size() const { return sums_.kept_size() + fits_.kept_size(); }

  void resize(std::size_t pairs) override;

  /// A pair is only compared with itself.
  void set_class(PairId, std::uint8_t) override {}

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  struct Sums {
    std::array<std::int64_t, 2> levels{};   ///< ln(us) in units of 2^-16
    std::array<std::int64_t, 2> squares{};  ///< of these
    std::array<std::uint32_t, 2> count{};
  };

  struct Fit {
    float mean = 0.0F;
    float sd = 0.0F;
    std::uint32_t count = 0;
    std::int32_t period = -1;
  };

  void add(Sums& sums, std::size_t slot, double us);
  void close_due(Time now);
  void close_period(std::int64_t period);
  LogMoments take(Sums& sums, std::size_t slot) const;
  void compare(PairId pair, const Fit* ring, std::int64_t period, const LogMoments& later);
  const Fit* fit_of(const Fit* ring, std::int64_t period) const;
  double z_of(const LogMoments& base, const LogMoments& later) const;

  LongTermZOptions options_;
  PeriodClock clock_;
  std::array<std::int64_t, 3> lag_periods_{};
  std::size_t ring_ = 1;
  PagedColumn<PairId, Sums> sums_;
  PagedColumn<PairId, Fit> fits_;
  std::vector<Verdict> fresh_;  ///< of the last closed period, until evaluate() hands them out
  std::vector<std::uint32_t> scratch_;
};

}  // namespace bonescan
