// Who sends to whom in a collective operation, and which share of an RNIC's volume.
//
// Volumes are relative to those of a ring: a ring all-reduce of S bytes over n members sends
// 2 (n - 1) / n S from each to its next one (share 1).  Two binary trees (NCCL's) send S / 2 up and
// down each of their edges; a direct all-reduce sends 2 / n S to every other member.  Whatever the
// collective, all members together send the same.
// @paper Patarasuk and Yuan 2009 (ring); Sanders et al. 2009 (two trees)
#pragma once

#include <cstdint>
#include <vector>

namespace bonescan {

struct CollectiveEdge {
  std::uint32_t member = 0;  ///< index in the group
  double share = 0.0;

  constexpr auto operator<=>(const CollectiveEdge&) const = default;
};

/// REQUIRES of all: index < count.
std::vector<CollectiveEdge> ring_edges(std::uint32_t count, std::uint32_t index);

/// Neighbours in both trees; one entry a neighbour.
std::vector<CollectiveEdge> tree_edges(std::uint32_t count, std::uint32_t index);

/// Everybody else, an equal part each.
std::vector<CollectiveEdge> mesh_edges(std::uint32_t count, std::uint32_t index);

}  // namespace bonescan
