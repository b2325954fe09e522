// From how failures arise to the failures of one run.
//
// Invariants: 1. equal (options, world, seed) give equal failures; 2. names are "drawn-0",
// "drawn-1", ... in order of beginning; 3. everything ends within the run or lasts to its end.
#pragma once

#include "faults/fault_spec.h"
#include "faults/kinds/fault_site.h"
#include "faults/processes/failure_options.h"
#include "sim/base/error.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// @errors kInvalid if a kind has no place in this world; the detail names it and what it needs
Expected<std::vector<FaultSpec>> plan_failures(const FailureOptions& options,
                                               const FaultSite& site,
                                               std::uint64_t seed,
                                               Duration run);

}  // namespace bonescan
