// How many visits over a component that loses a share of its probes until its loss is no accident.
//
// Intuition: a CUSUM test that has just alarmed saw n lossy visits, the oldest of which began its
// excursion, and so many clean ones between them.  Each lossy visit is worth J nats and each clean
// one costs c, so n lossy visits alarm if at most (n J - h) / c clean ones lie among them.  A bank
// of tests allows whatever its most patient member does:
//   allowed(n) = max over tests r of floor((n J_r - h_r) / c_r)
// The numbers are those of ComponentEvidence itself.  The paper's rule counts x lossy visits of t
// in a sliding window instead: allowed(n) = t - n from the x on that reaches its nats. Method: the
// gaps between lossy visits are geometric.  They are integrated over 4,096 points of a Kronecker
// sequence (square roots of primes) in as many dimensions as there are lossy visits until the
// alarm: no random numbers, the same answer always, and no grid of states of seven tests. Pure.
#pragma once

#include "planner/predict/schedule.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// What makes an alarm: allowed[n] clean visits among the last n lossy ones, or fewer; negative if
/// n lossy visits in a row are not enough.  allowed[0] means nothing.
struct LossRule {
  std::vector<std::int64_t> allowed;
};

/// @param visits_per_period that meet the component; the paper's window holds as many as that
/// @paper none; loss/METHODS.md (tests), LinkLedger (the paper's configuration)
LossRule loss_rule(const PlannedSchedule& schedule,
                   const PlannedNoise& noise,
                   double visits_per_period);

/// Visits from the onset on, the alarming one included.
struct VisitsToAlarm {
  struct Share {
    std::uint64_t visits = 0;
    double share = 0.0;
  };

  std::vector<Share> pooled;  ///< ascending; the tests alarm
  std::vector<Share> silent;  ///< ascending; a pair lost `consecutive` probes in a row first
  double never = 0.0;         ///< not within kMostVisits

  double mean() const;  ///< over those that alarm
};

constexpr std::uint64_t kMostLossVisits = 1'000'000;

/// REQUIRES: 0 < loss_ratio <= 1
VisitsToAlarm visits_to_alarm(const PlannedSchedule& schedule,
                              const LossRule& rule,
                              double loss_ratio);

}  // namespace bonescan
