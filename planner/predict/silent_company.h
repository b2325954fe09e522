// Full loss of a component that several pairs share: who opens the incident, and when.
//
// Intuition: a silent pair without company is reported in the turn that hears of it, since
// something is wrong for sure.  Two that fall silent in the same turn and share a link keep each
// other waiting for the search to name that link, and the search wants its share of evidence: of an
// RNIC's access link, crossed by a hundred healthy visits in the last minute, two silent visits are
// not enough, as they may as well be two other links.  So two silent pairs can take a turn longer
// than one.
//
// Model of the search (localize/METHODS.md), a trial being a visit: k lossy of t trials that cross
// the link have the likelihood ratio
//   k ln(r / s0) + (t - k) ln(1 - r),     r = k / t,  s0 = hops times the least noise of a link
// and the worth of that less Laplace's share and the prior.  Beside it stand, for each lossy path,
// the links that only its pair crosses, with one lossy trial of their few.  It is accused if
// e^worth is `posterior_least` of 1 and all of these together.
// @ours  the rivals are kRivalsOfAPath links, crossed by this pair alone: a fabric with many ways;
// where ways are few, rivals are healthier and two silent visits do at once
#pragma once

#include "planner/predict/schedule.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Hops of a round trip over two tiers, and cables of it above the ToRs.
constexpr double kHopsOfAPath = 8.0;
constexpr double kRivalsOfAPath = 4.0;

/// Lossy visits until the search accuses the component, one of them silent; at least 2.
std::uint32_t lossy_visits_to_accuse(const PlannedSchedule& schedule,
                                     const PlannedNoise& noise,
                                     std::uint32_t pairs);

/// What one visit of period 0 turns out to be.
struct FirstVisits {
  double silent = 0.0;  ///< probability that its last `consecutive` probes are lost
  double lossy = 0.0;   ///< that it loses something and is not silent
};

class VisitPattern;
struct ReportDelay;

/// P(the incident opens in turn 0, 1, 2, ...) of full loss that begins in period 0 of the pattern.
std::vector<double> turns_of_company(const VisitPattern& pattern,
                                     const ReportDelay& reports,
                                     const FirstVisits& first,
                                     std::uint32_t to_accuse);

}  // namespace bonescan
