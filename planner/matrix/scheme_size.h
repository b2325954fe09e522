// How large the lists of a scheme are, by closed forms: 4 million rows are not worth making.
//
// The paper counts "probes per round" and does not say what it counts: 60,430 for the full mesh and
// 2,593 for the skeleton, both of 2,048 RNICs, fit no one definition.  Three readings are given,
// each under its name; none is the paper's.
#pragma once

#include "planner/matrix/probe_matrix.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

struct SchemeSize {
  std::uint64_t probing_rnics = 0;     ///< with a list that is not empty
  std::uint64_t pairs = 0;             ///< different directed pairs of RNICs
  std::uint64_t probes_per_sweep = 0;  ///< entries of all lists, five-tuples and ways one by one
  double mean_list = 0.0;              ///< entries per probing RNIC
  std::uint64_t longest_list = 0;      ///< entries
  /// Longest list x visit period: all RNICs go through their lists side by side.
  Duration sweep{};

  /// Reading 1: every RNIC with a list sends one probe in each visit period of a round.
  double probes_by_time = 0.0;
  /// Reading 2: ordered pairs of RNICs, each probed once.  Equal to `pairs`.
  std::uint64_t probes_by_rnic_pair = 0;
  /// Reading 3: ordered pairs of containers, each probed once.  A container is what one task has on
  /// one host; for schemes that know no tasks, a host.
  std::uint64_t probes_by_container_pair = 0;
};

/// Without making the lists, but for detector and skeleton-repaired.
/// @errors as probe_matrix(), but for the limit of rows
/// Complexity: O(RNICs) and, for r-pingmesh, O(ToRs^2 x hosts below a ToR)
Expected<SchemeSize> scheme_size(ProbeScheme scheme,
                                 const MatrixInput& input,
                                 const MatrixOptions& options = {});

/// The same by counting rows.
/// Complexity: O(rows log rows)
SchemeSize matrix_size(const ProbeMatrix& matrix,
                       const MatrixInput& input,
                       const MatrixOptions& options = {});

}  // namespace bonescan
