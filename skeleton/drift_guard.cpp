#include "skeleton/drift_guard.h"

#include "sim/base/check.h"
#include "sim/base/median.h"
#include "skeleton/drift_statistics.h"
#include "skeleton/stage_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

/// Noise is never taken for less than this share of a burst: edges move by a part of a column.
/// @ours chosen on even seeds
constexpr double kFloorShare = 0.15;
/// As above, of a stage's median.
constexpr double kStageFloorShare = 0.08;
/// Outliers of a member are frequent, those of a median are not. @ours
constexpr double kMostOfMember = 3.5;
constexpr double kMostOfStage = 4.5;
/// Kinds of statistics that share the price of false alarms.
constexpr double kKinds = 3.0;
constexpr double kStepsOfSilence = 2.5;  ///< a shorter pause of everybody is no drift @ours

/// Parts of a reference.
constexpr std::size_t kFirstHalf = 0;
constexpr std::size_t kSecondHalf = 1;
constexpr std::size_t kWhole = 2;

/// What a member or a stage did beyond what was expected, column by column.
struct Residuals {
  std::vector<double> values;
  std::vector<double> expected;

  /// Nothing where something is NaN.
  void add(double value, double says) {
    if (!std::isnan(value)) {
      values.push_back(value);
      expected.push_back(says);
    }
  }

  /// The half that a column does not belong to: peaks are measured with noise that was learnt on
  /// other columns, as they will be met.
  std::size_t other_half(std::size_t i) const {
    return 2 * i < values.size() ? kSecondHalf : kFirstHalf;
  }

  /// Root of the mean square; 0 of nothing.
  double spread(std::size_t part) const {
    const std::size_t middle = (values.size() + 1) / 2;
    const std::size_t from = part == kSecondHalf ? middle : 0;
    const std::size_t to = part == kFirstHalf ? middle : values.size();
    double sum = 0.0;
    for (std::size_t i = from; i < to; ++i) {
      sum += values[i] * values[i];
    }
    return to > from ? std::sqrt(sum / static_cast<double>(to - from)) : 0.0;
  }
};

}  // namespace

class DriftGuard::Impl final {
 public:
  Impl(const TaskSkeleton& skeleton, const TrafficRecord& reference, const DriftOptions& options)
      : pattern_(skeleton, reference), members_(reference.members), streams_(members_.size()) {
    const double columns = kKinds * seconds(options.false_alarm_every) / seconds(reference.period);
    learn_members(reference, columns);
    learn_stages(columns);
    learn_runs();
    pattern_.forget();
  }

  DriftState observe(std::span<const float> rates) {
    BONESCAN_CHECK(rates.size() == members_.size());
    if (!why_.empty()) {
      return DriftState::kDrifted;
    }
    const bool known = pattern_.push(rates);
    const std::size_t silent = test_members(rates);
    test_stages();
    if (known) {
      test_runs();
    }
    if (!why_.empty()) {
      return DriftState::kDrifted;
    }
    return known && silent == 0 ? DriftState::kFits : DriftState::kUnknown;
  }

  std::string why() const { return why_; }

 private:
  struct Stream {
    double noise = 0.0;  ///< 0: not tested
    std::uint32_t unheard = 0;
    Cusum missing;
    Cusum spread;
  };

  struct StageStream {
    double noise = 0.0;
    Cusum spread;
  };

  void learn_members(const TrafficRecord& reference, double columns) {
    std::vector<Residuals> all(members_.size());
    std::array<std::vector<double>, 3> shares;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const double level = pattern_.level(m);
      if (pattern_.gain(m) < kLeastGain || level <= 0.0) {
        continue;
      }
      for (std::size_t c = 0; c < reference.columns; ++c) {
        const double says = pattern_.expected_elsewhere(m, c);
        all[m].add(static_cast<double>(reference.row(m)[c]) - says, says);
      }
      for (std::size_t part = 0; part < shares.size(); ++part) {
        shares[part].push_back(all[m].spread(part) / level);
      }
    }
    // A member that happened to be quieter than most may be as loud as they are.
    std::array<double, 3> least{};
    for (std::size_t part = 0; part < shares.size(); ++part) {
      least[part] = std::max(kFloorShare, median(shares[part]));
    }
    Excursions missing;
    Excursions spread;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const double level = pattern_.level(m);
      if (all[m].values.empty()) {
        continue;
      }
      streams_[m].noise = std::max(all[m].spread(kWhole), least[kWhole] * level);
      std::vector<double> lost;
      std::vector<double> wide;
      for (std::size_t i = 0; i < all[m].values.size(); ++i) {
        const std::size_t other = all[m].other_half(i);
        const double noise = std::max(all[m].spread(other), least[other] * level);
        lost.push_back(missing_increment(all[m].values[i] / noise, all[m].expected[i] / noise));
        wide.push_back(spread_increment(all[m].values[i] / noise, kMostOfMember));
      }
      missing.add(lost);
      spread.add(wide);
    }
    most_missing_ = missing.threshold(columns);
    most_spread_ = spread.threshold(columns);
  }

  void learn_stages(double columns) {
    stages_.resize(pattern_.stage_count());
    Excursions spread;
    for (std::size_t k = 1; k < stages_.size(); ++k) {
      Residuals residuals;
      for (std::size_t c = 0; c < pattern_.columns(); ++c) {
        residuals.add(pattern_.stage_residual(k, c), 0.0);
      }
      const double least = kStageFloorShare * pattern_.stage_level(k);
      if (residuals.values.empty() || least <= 0.0) {
        continue;
      }
      stages_[k].noise = std::max(residuals.spread(kWhole), least);
      std::vector<double> wide;
      for (std::size_t i = 0; i < residuals.values.size(); ++i) {
        const double noise = std::max(residuals.spread(residuals.other_half(i)), least);
        wide.push_back(spread_increment(residuals.values[i] / noise, kMostOfStage));
      }
      spread.add(wide);
    }
    most_stage_spread_ = spread.threshold(columns);
  }

  /// The longest quiet and the longest busy time of everybody, and how often bursts begin.
  void learn_runs() {
    const std::size_t columns = pattern_.columns();
    std::size_t onsets = 0;
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      onsets = std::max(onsets, pattern_.burst_count(k));
    }
    std::size_t quiet = 0;
    std::size_t busy = 0;
    std::size_t longest_quiet = 0;
    std::size_t longest_busy = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const bool active = pattern_.anybody_bursts(c);
      quiet = active ? 0 : quiet + 1;
      busy = pattern_.everybody_bursts(c) ? busy + 1 : 0;
      longest_quiet = std::max(longest_quiet, quiet);
      longest_busy = std::max(longest_busy, busy);
    }
    const double step =
        static_cast<double>(columns) / static_cast<double>(std::max<std::size_t>(onsets, 1));
    const auto longest = static_cast<double>(longest_quiet);
    const double some_steps = kStepsOfSilence * step;
    // A longer pause that was seen is normal for this task.
    most_quiet_ = std::max(some_steps, longest + (longest < 1.5 * step ? 2.0 : some_steps));
    most_busy_ = 2.0 * static_cast<double>(longest_busy) + 2.0;
    if (onsets < 3) {  // No rhythm to miss.
      most_quiet_ = std::numeric_limits<double>::infinity();
      most_busy_ = most_quiet_;
    }
    patience_ = static_cast<std::uint32_t>(std::clamp(2.0 * step, 4.0, 60.0));
  }

  /// Returns how many members nobody has heard of for too long.
  std::size_t test_members(std::span<const float> rates) {
    std::size_t silent = 0;
    std::size_t drifted = 0;
    std::size_t first = 0;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      Stream& stream = streams_[m];
      const auto rate = static_cast<double>(rates[m]);
      const double says = pattern_.expected_now(m);
      stream.unheard = std::isnan(rate) ? stream.unheard + 1 : 0;
      silent += stream.unheard > patience_ ? 1 : 0;
      if (stream.noise == 0.0 || std::isnan(rate) || std::isnan(says)) {
        continue;
      }
      const double residual = (rate - says) / stream.noise;
      stream.missing.add(missing_increment(residual, says / stream.noise));
      stream.spread.add(spread_increment(residual, kMostOfMember));
      if (stream.missing.sum() > most_missing_ || stream.spread.sum() > most_spread_) {
        first = drifted++ == 0 ? m : first;
      }
    }
    if (drifted > 0) {
      why_ = streams_[first].missing.sum() > most_missing_ ? " no longer bursts with its stage"
                                                           : " sends differently from its stage";
      why_ = "endpoint " + std::to_string(members_[first].index()) + why_;
      if (drifted > 1) {
        why_ += ", and " + std::to_string(drifted - 1) + " more";
      }
    }
    return silent;
  }

  void test_stages() {
    for (std::size_t k = 1; k < stages_.size() && why_.empty(); ++k) {
      const double residual = pattern_.stage_residual_now(k);
      if (stages_[k].noise == 0.0 || std::isnan(residual)) {
        continue;
      }
      stages_[k].spread.add(spread_increment(residual / stages_[k].noise, kMostOfStage));
      if (stages_[k].spread.sum() > most_stage_spread_) {
        why_ = "stage " + std::to_string(k) + " no longer follows the stage before it";
      }
    }
  }

  void test_runs() {
    quiet_ = pattern_.anybody_bursts_now() ? 0.0 : quiet_ + 1.0;
    busy_ = pattern_.everybody_bursts_now() ? busy_ + 1.0 : 0.0;
    if (why_.empty() && quiet_ > most_quiet_) {
      why_ = "nobody bursts any more";
    } else if (why_.empty() && busy_ > most_busy_) {
      why_ = "traffic does not pause any more";
    }
  }

  StagePattern pattern_;
  std::vector<EndpointId> members_;
  std::vector<Stream> streams_;
  std::vector<StageStream> stages_;
  double most_missing_ = 0.0;
  double most_spread_ = 0.0;
  double most_stage_spread_ = 0.0;
  double most_quiet_ = 0.0;  ///< columns
  double most_busy_ = 0.0;
  std::uint32_t patience_ = 0;
  double quiet_ = 0.0;
  double busy_ = 0.0;
  std::string why_;
};

DriftGuard::DriftGuard(const TaskSkeleton& skeleton,
                       const TrafficRecord& reference,
                       const DriftOptions& options)
    : impl_(std::make_unique<Impl>(skeleton, reference, options)) {}

DriftGuard::~DriftGuard() = default;
DriftGuard::DriftGuard(DriftGuard&&) noexcept = default;
DriftGuard& DriftGuard::operator=(DriftGuard&&) noexcept = default;

DriftState DriftGuard::observe(std::span<const float> rates) {
  return impl_->observe(rates);
}

std::string DriftGuard::why() const {
  return impl_->why();
}

}  // namespace bonescan
