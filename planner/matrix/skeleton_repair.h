// A skeleton with the few pairs more that make shared links distinguishable.
//
// link_cover.h chooses; this makes its inputs small.  Of the rows that are probed anyway only those
// are handed on that bring a shared link its first or second different way, which is all that the
// choice looks at.  Candidates are pairs of one rail and task: options.candidates_per_rnic targets
// are drawn for each RNIC (not all: there would be millions), and only those are handed on that
// help a link.  So a link may stay unrepaired that a pair outside of the draw would have repaired.
// @ours the bound and the draw
// Complexity: O(rows + RNICs x candidates) ways, and link_cover.h on at most four rows a link
#pragma once

#include "planner/matrix/probe_matrix.h"

#include <cstddef>
#include <cstdint>

namespace bonescan {

struct RepairedSkeleton {
  ProbeMatrix matrix;
  std::uint64_t extra_rows = 0;
  std::uint64_t candidates = 0;    ///< drawn
  std::size_t shared_links = 0;    ///< directed links between switches that any way crosses
  std::size_t repaired = 0;        ///< links that got their second different way by `extra_rows`
  std::size_t not_repairable = 0;  ///< by the candidates that were drawn
};

/// REQUIRES: input.router; `skeleton` is of input.tasks and not pinned.
RepairedSkeleton repair_skeleton(const ProbeMatrix& skeleton,
                                 const MatrixInput& input,
                                 const MatrixOptions& options);

}  // namespace bonescan
