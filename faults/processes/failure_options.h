// Failures that nobody lists: which kinds, how often, for how long.
//
// A scenario lists faults one by one, or says how they arise.  Arising ones are drawn by seed from
// the jobs of the world (kinds/fault_site.h), appended to the listed ones and injected like them.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

/// A kind and its share of all failures, relative to the others.
struct KindShare {
  std::string kind;
  double share = 1.0;
};

struct FailureOptions {
  std::vector<KindShare> kinds;  ///< empty: no failures arise
  std::uint32_t count = 0;       ///< so many, at uniform times in [from, until)
  Duration from{};
  Duration until{};
  Duration length = std::chrono::minutes(2);  ///< of each; zero: until the end of the run
};

}  // namespace bonescan
