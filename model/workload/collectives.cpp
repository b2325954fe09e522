#include "model/workload/collectives.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace bonescan {
namespace {

/// In-order binary tree over [0, count): rank 0 is the root, odd ranks are leaves.
std::optional<std::uint32_t> tree_parent(std::uint32_t count, std::uint32_t rank) {
  if (rank == 0) {
    return std::nullopt;
  }
  const std::uint32_t low = rank & (~rank + 1);
  const std::uint32_t up = (rank ^ low) | (low << 1);
  return up >= count ? rank ^ low : up;
}

std::vector<std::uint32_t> tree_children(std::uint32_t count, std::uint32_t rank) {
  std::vector<std::uint32_t> children;
  std::uint32_t step = rank == 0 ? std::bit_ceil(count) : rank & (~rank + 1);
  step >>= 1;
  if (step == 0) {
    return children;
  }
  if (rank != 0) {
    children.push_back(rank - step);
  }
  for (; step > 0; step >>= 1) {
    if (rank + step < count) {
      children.push_back(rank + step);
      break;
    }
  }
  return children;
}

}  // namespace

std::vector<CollectiveEdge> ring_edges(std::uint32_t count, std::uint32_t index) {
  if (count < 2) {
    return {};
  }
  return {{(index + 1) % count, 1.0}};
}

std::vector<CollectiveEdge> tree_edges(std::uint32_t count, std::uint32_t index) {
  if (count < 2) {
    return {};
  }
  // The other tree is the first one seen in a mirror, or moved by one, so that leaves of one are
  // inside the other.
  const bool mirrored = count % 2 == 0;
  const auto there = [&](std::uint32_t rank) {
    return mirrored ? count - 1 - rank : (rank + count - 1) % count;
  };
  const auto back = [&](std::uint32_t rank) {
    return mirrored ? count - 1 - rank : (rank + 1) % count;
  };
  std::vector<std::uint32_t> neighbours = tree_children(count, index);
  if (const auto parent = tree_parent(count, index)) {
    neighbours.push_back(*parent);
  }
  for (const std::uint32_t child : tree_children(count, there(index))) {
    neighbours.push_back(back(child));
  }
  if (const auto parent = tree_parent(count, there(index))) {
    neighbours.push_back(back(*parent));
  }
  std::sort(neighbours.begin(), neighbours.end());
  // S / 2 over the 2 (count - 1) / count S of a ring.
  const double share = count / (4.0 * (count - 1));
  std::vector<CollectiveEdge> edges;
  for (const std::uint32_t neighbour : neighbours) {
    if (!edges.empty() && edges.back().member == neighbour) {
      edges.back().share += share;
    } else {
      edges.push_back({neighbour, share});
    }
  }
  return edges;
}

std::vector<CollectiveEdge> mesh_edges(std::uint32_t count, std::uint32_t index) {
  std::vector<CollectiveEdge> edges;
  for (std::uint32_t other = 0; other < count; ++other) {
    if (other != index) {
      edges.push_back({other, 1.0 / (count - 1)});
    }
  }
  return edges;
}

}  // namespace bonescan
