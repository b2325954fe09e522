// How the stages of a task burst: each stage's median over its members, and each stage as a copy of
// the one before it that comes a little later.
//
// The median of what members say is the rhythm of a stage, whatever a few of them do.  Each member
// has a gain, since shares and samplers differ; stage k is a sum of the last columns of stage
// k - 1, with weights that fit the reference best: a shift by a fraction of a column.
// Invariant: a column of which half a stage's members or more said nothing is NaN for that stage.
// Thread-compatible.
#pragma once

#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_record.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// A member that has less than this share of its stage's bursts says nothing about the stage. @ours
inline constexpr double kLeastGain = 0.2;

class StagePattern final {
 public:
  /// Learns from the record, whose columns can be asked for until forget().
  /// REQUIRES: skeleton.stages has one entry a member of the record.
  StagePattern(const TaskSkeleton& skeleton, const TrafficRecord& reference);

  std::size_t stage_count() const { return members_.size(); }

  std::size_t columns() const { return columns_; }

  /// Share of its stage's bursts that a member has; 1 for most.
  double gain(std::size_t member) const { return gains_[member]; }

  /// Rate in a burst.
  double level(std::size_t member) const { return gains_[member] * levels_[stages_[member]]; }

  double stage_level(std::size_t stage) const { return levels_[stage]; }

  /// Rate that the stage predicts for the member in a column; NaN if unknown.
  double expected(std::size_t member, std::size_t column) const {
    return gains_[member] * at(stages_[member], column);
  }

  /// As above, of a column of the reference, with the gain that the other half of the reference
  /// has: residuals of columns that a fit has not seen.
  double expected_elsewhere(std::size_t member, std::size_t column) const {
    return gains_of_half_[2 * column < columns_ ? 1 : 0][member] * at(stages_[member], column);
  }

  /// What stage k does beyond what stage k - 1 said before.  REQUIRES: stage > 0.
  double stage_residual(std::size_t stage, std::size_t column) const;

  /// Times that the stage rose above two fifths of its level, in the columns held.
  std::size_t burst_count(std::size_t stage) const;

  /// Some stage is above two fifths of its level; every stage is.
  bool anybody_bursts(std::size_t column) const;
  bool everybody_bursts(std::size_t column) const;

  /// Forgets the columns of the reference.
  void forget();

  /// The next column; false if some stage is not known in it.
  bool push(std::span<const float> rates);

  /// As above, of the newest column.
  double expected_now(std::size_t member) const { return expected(member, columns_ - 1); }

  double stage_residual_now(std::size_t stage) const { return stage_residual(stage, columns_ - 1); }

  bool anybody_bursts_now() const { return anybody_bursts(columns_ - 1); }

  bool everybody_bursts_now() const { return everybody_bursts(columns_ - 1); }

 private:
  static constexpr std::size_t kTaps = 4;

  /// Weights of the columns first, first + 1, ... ago of the stage before.
  struct Follow {
    std::size_t first = 0;
    std::array<double, kTaps> weights{};
    double offset = 0.0;
  };

  double at(std::size_t stage, std::size_t column) const {
    return medians_[(column % held_) * members_.size() + stage];
  }

  double median_of(std::size_t stage, std::span<const float> rates);
  void learn_gains(const TrafficRecord& reference);
  void learn_levels();
  void learn_follows(const TaskSkeleton& skeleton, double period_s);

  std::vector<std::uint32_t> stages_;                ///< by member
  std::vector<std::vector<std::uint32_t>> members_;  ///< by stage
  std::vector<double> gains_;                        ///< by member
  std::array<std::vector<double>, 2> gains_of_half_;
  std::vector<double> levels_;   ///< by stage
  std::vector<Follow> follows_;  ///< by stage
  std::size_t columns_ = 0;      ///< that have come
  std::size_t held_ = 1;         ///< columns of medians_
  std::vector<double> medians_;  ///< ring of columns, by stage
  std::vector<double> scratch_;
};

}  // namespace bonescan
