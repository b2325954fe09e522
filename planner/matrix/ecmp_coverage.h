// What the rows of a probe matrix cover and tell apart, with the ways that ECMP really chooses.
//
// Each row is traced, there and back, by its five-tuple (or by its pinned way).  Two links are told
// apart if different rows cross them.  Which rows cross a link is kept as two sums of 64-bit hashes
// of row numbers, not as a list: equal sets have equal sums, and different sets have different ones
// up to a chance of 2^-128 a pair.
// A round trip crosses the access cables of both ends in both directions, so the two directed links
// of an access cable are never told apart, nor those of any cable by pinned probes: cables are the
// figure to compare schemes by.
// Complexity: O(rows x 12 links) time, 32 bytes a link; no memory by row.
#pragma once

#include "planner/matrix/probe_matrix.h"

#include <cstdint>

namespace bonescan {

struct EcmpCoverage {
  std::uint64_t rows = 0;
  std::uint64_t unroutable = 0;  ///< rows between RNICs that nothing connects
  std::uint64_t links = 0;       ///< directed; but for access links of spare hosts
  std::uint64_t links_covered = 0;
  std::uint64_t links_distinguishable = 0;  ///< covered, and by rows that no other link has
  std::uint64_t cables = 0;                 ///< either direction counts
  std::uint64_t cables_covered = 0;
  std::uint64_t cables_distinguishable = 0;
};

/// @param source_port  of rows that are not pinned
EcmpCoverage coverage_of(const Fabric& fabric,
                         const Router& router,
                         const ProbeMatrix& matrix,
                         SourcePort source_port = &hashed_source_port);

}  // namespace bonescan
