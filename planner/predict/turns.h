// Parts of a delay that several rules share: turns, and cells of their periods.  Internal to
// planner/predict; pure.
#pragma once

#include "planner/predict/delay_prediction.h"
#include "planner/predict/schedule.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

/// What is longer than this many turns is never.
constexpr std::uint64_t kMostTurns = 200'000;

/// A pair that fails alone and is not silent is reported after this. @source loss_lone_pairs.cpp
constexpr Duration kLonePatience = std::chrono::seconds(3);

/// Directions of one pair.
constexpr std::uint32_t kBothWays = 2;

/// Whole turns that hold a time.
constexpr std::uint64_t turns_of(Duration time, Duration visit) {
  return time <= Duration::zero()
             ? 0
             : static_cast<std::uint64_t>((time.count() + visit.count() - 1) / visit.count());
}

/// P(T = turn) for one number of visits that count in period 0.
using Turns = std::vector<double>;

/// Gathers (turn, place of the onset in its period) into delays.
class Gatherer final {
 public:
  Gatherer(const PlannedSchedule& schedule, std::size_t cells)
      : schedule_(&schedule), cells_(cells) {}

  std::size_t cells() const { return cells_; }

  /// Middle of a cell: how far into period 0 the failure began, in periods.
  double into(std::size_t cell) const {
    return (static_cast<double>(cell) + 0.5) / static_cast<double>(cells_);
  }

  void add(std::size_t cell, const Turns& turns, double share) {
    const double mass = share / static_cast<double>(cells_);
    if (masses_.size() < turns.size() * cells_) {
      masses_.resize(turns.size() * cells_, 0.0);
    }
    for (std::size_t turn = 1; turn < turns.size(); ++turn) {
      masses_[turn * cells_ - cell - 1] += mass * turns[turn];
    }
  }

  /// @param sooner turns before those that were added
  DelayPrediction finish(std::int64_t sooner = 0) {
    return {schedule_->timeout - sooner * schedule_->visit,
            from_seconds(seconds(schedule_->visit) / static_cast<double>(cells_)),
            std::move(masses_)};
  }

 private:
  const PlannedSchedule* schedule_;
  std::size_t cells_;
  std::vector<double> masses_;
};

/// Probabilities of 0, 1, ... of `visits` if each counts with this one; the last is "so many or
/// more".
std::vector<double> counted_visits(std::uint64_t visits, double each, std::uint64_t most);

}  // namespace bonescan
