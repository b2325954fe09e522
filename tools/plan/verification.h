// Predicted delays beside simulated ones.
//
// Predictions are handed out before the first world is simulated, so nothing can be fitted to what
// comes.  Every point has worlds of its own, whose seeds follow from its place in the list and the
// first seed; parity of seeds is kept.
#pragma once

#include "tools/plan/plan_file.h"
#include "tools/plan/verify_world.h"

#include <functional>
#include <string>
#include <vector>

namespace bonescan {

/// Every objective of the plan at every visit period of `verify`, with what is predicted of it.
/// @throws ConfigError if the scenario cannot be used
std::vector<VerifyPoint> verify_points(const PlanFile& plan);

/// Simulates one point until it has `faults` of them.
VerifyOutcome verify_point(const PlanFile& plan, const VerifyPoint& point, std::size_t number);

/// One row of Markdown; the header and what is predicted are rows as well.
std::string verify_header();
std::string verify_row(const VerifyPoint& point, const VerifyOutcome& outcome);
/// What is said before anything is simulated.
std::string predicted_row(const VerifyPoint& point);

}  // namespace bonescan
