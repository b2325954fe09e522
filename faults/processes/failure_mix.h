// Which kinds arise, and how often: the mix of a world, resolved.
//
// Production-like: no source publishes counts by type, so shares are built in two steps.  Classes
// (cables, ToRs, RNICs, software) by their rates and by how many of each the jobs use; kinds within
// a class by shares of ours, after public reports (METHODS.md has the table).
// Thread-safe.
#pragma once

#include "faults/kinds/fault_kind.h"
#include "faults/kinds/fault_site.h"
#include "faults/processes/failure_options.h"
#include "sim/base/error.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct MixedKind {
  const FaultKind* kind = nullptr;
  double share = 0.0;  ///< of all; they sum to 1
};

/// A row of the production-like mix.
struct ProductionShare {
  std::string_view kind;
  std::string_view entity;  ///< "link", "tor", "rnic", "software": whose rate it takes part in
  double share = 0.0;       ///< within its class; they sum to 1
};

std::span<const ProductionShare> production_shares();

/// Failures a second of all that the jobs use, by the rates.
double total_rate(const FailureOptions& options, const FaultSite& site);

/// Kinds with shares above 0, in the order of fault_kinds() or of the list.
/// @errors kInvalid for a listed kind that does not exist, or if no kind has a place
Expected<std::vector<MixedKind>> resolve_mix(const FailureOptions& options, const FaultSite& site);

/// Does the kind have a place in this world?
bool has_place(const FaultKind& kind, const FaultSite& site);

}  // namespace bonescan
