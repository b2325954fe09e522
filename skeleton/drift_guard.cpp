#include "skeleton/drift_guard.h"

#include "sim/base/check.h"
#include "skeleton/drift_statistics.h"
#include "skeleton/stage_pattern.h"

#include <algorithm>
#include <cmath>
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
/// A member that has less than this share of its stage's bursts in the reference is not tested.
constexpr double kLeastGain = 0.2;
/// Kinds of statistics that share the price of false alarms.
constexpr double kKinds = 3.0;
constexpr double kStepsOfSilence = 2.5;  ///< a shorter pause of everybody is no drift @ours

double root_mean_square(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value * value;
  }
  return values.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(values.size()));
}

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
    Excursions missing;
    Excursions spread;
    std::vector<double> residuals;
    std::vector<double> expected;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const double level = pattern_.level(m);
      if (pattern_.gain(m) < kLeastGain || level <= 0.0) {
        continue;
      }
      residuals.clear();
      expected.clear();
      for (std::size_t c = 0; c < reference.columns; ++c) {
        const double says = pattern_.expected_elsewhere(m, c);
        const double rate = static_cast<double>(reference.row(m)[c]);
        if (!std::isnan(says) && !std::isnan(rate)) {
          residuals.push_back(rate - says);
          expected.push_back(says);
        }
      }
      const double noise = std::max(root_mean_square(residuals), kFloorShare * level);
      streams_[m].noise = noise;
      std::vector<double> lost(residuals.size());
      std::vector<double> spreads(residuals.size());
      for (std::size_t i = 0; i < residuals.size(); ++i) {
        lost[i] = missing_increment(residuals[i] / noise, expected[i] / noise);
        spreads[i] = spread_increment(residuals[i] / noise, kMostOfMember);
      }
      missing.add(lost);
      spread.add(spreads);
    }
    most_missing_ = missing.threshold(columns);
    most_spread_ = spread.threshold(columns);
  }

  void learn_stages(double columns) {
    stages_.resize(pattern_.stage_count());
    Excursions spread;
    for (std::size_t k = 1; k < stages_.size(); ++k) {
      std::vector<double> residuals;
      for (std::size_t c = 0; c < pattern_.columns(); ++c) {
        const double residual = pattern_.stage_residual(k, c);
        if (!std::isnan(residual)) {
          residuals.push_back(residual);
        }
      }
      const double noise =
          std::max(root_mean_square(residuals), kStageFloorShare * pattern_.stage_level(k));
      stages_[k].noise = residuals.empty() ? 0.0 : noise;
      for (double& residual : residuals) {
        residual = noise > 0.0 ? spread_increment(residual / noise, kMostOfStage) : 0.0;
      }
      spread.add(residuals);
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
