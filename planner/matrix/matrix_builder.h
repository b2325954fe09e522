// Collects rows of a probe matrix in any order.
#pragma once

#include "planner/matrix/probe_matrix.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct ProbeRow {
  RnicId source;
  RnicId target;
  std::uint32_t variant = 0;

  constexpr auto operator<=>(const ProbeRow&) const = default;
};

/// Sorts, drops doubles, and compresses.  Complexity: O(rows log of the longest list).
ProbeMatrix compress_rows(ProbeScheme scheme,
                          const Fabric& fabric,
                          const std::vector<ProbeRow>& rows);

/// The rows of a matrix, by source.
std::vector<ProbeRow> rows_of(const ProbeMatrix& matrix);

}  // namespace bonescan
