// How often a healthy fleet is called broken, as the rules are designed.
//
// Intuition: every rule has a budget.  The tests of loss allow each component so much in a visit;
// that of late visits is given for the whole fleet and a day, however large it is.  What was
// counted in a campaign says more than a design: tools/gates.  Pure.
#pragma once

#include "planner/predict/schedule.h"

namespace bonescan {

/// A day of all RNICs.  @units false incidents per day
struct FalseAlarms {
  double loss = 0.0;     ///< tests of components
  double silence = 0.0;  ///< `consecutive` probes of a pair lost by accident
  double latency = 0.0;  ///< late visits: an upper bound, since not each of them opens an incident

  double total() const { return loss + silence + latency; }
};

/// Components that one visit crosses and whose evidence is not the same over again: two RNICs, four
/// directed fabric links, the pair, and what cables and hosts add.  @ours loss/METHODS.md
constexpr double kComponentsOfAVisit = 8.0;

/// As designed, for schedule.rnics RNICs.  Losses are taken for independent; the paper's rules have
/// no budget, so theirs are 0 beside silence.
/// @paper none; loss/METHODS.md "Thresholds", shortterm/METHODS.md "Thresholds"
FalseAlarms designed_false_alarms(const PlannedSchedule& schedule, const PlannedNoise& noise);

}  // namespace bonescan
