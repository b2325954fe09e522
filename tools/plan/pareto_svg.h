// What more probes buy, as a picture: one curve a scheme, named where it ends.
#pragma once

#include "tools/plan/plan_result.h"

#include <string>

namespace bonescan {

/// Probes a second of an RNIC against GPU hours lost a day, both by decades.  Hollow points miss an
/// objective or a limit; the optimum is ringed and says what it is.
/// REQUIRES: the point has candidates.
std::string pareto_svg(const std::string& title, const PointResult& point);

}  // namespace bonescan
