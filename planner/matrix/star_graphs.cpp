#include "planner/matrix/star_graphs.h"

#include <algorithm>

namespace bonescan {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Edges complete(std::uint32_t leaves) {
  Edges edges;
  for (std::uint32_t a = 0; a < leaves; ++a) {
    for (std::uint32_t b = a + 1; b < leaves; ++b) {
      edges.emplace_back(a, b);
    }
  }
  return edges;
}

void add_chain(std::uint32_t first, std::uint32_t leaves, Edges& edges) {
  for (std::uint32_t i = 0; i + 1 < leaves; ++i) {
    edges.emplace_back(first + i, first + i + 1);
  }
}

/// Chains of three, and longer ones at the end.
Edges chains(std::uint32_t leaves) {
  Edges edges;
  std::uint32_t next = 0;
  while (leaves - next >= 6) {
    add_chain(next, 3, edges);
    next += 3;
  }
  add_chain(next, leaves - next, edges);
  return edges;
}

/// Every leaf has `degree` neighbours, or one of them has one more.  REQUIRES: leaves > degree
Edges circulant(std::uint32_t leaves, std::uint32_t degree) {
  Edges edges;
  for (std::uint32_t step = 1; step <= degree / 2; ++step) {
    for (std::uint32_t a = 0; a < leaves; ++a) {
      edges.emplace_back(a, (a + step) % leaves);
    }
  }
  const std::uint32_t half = leaves / 2;
  for (std::uint32_t a = 0; degree % 2 == 1 && a < leaves - half; ++a) {
    edges.emplace_back(a, a + half);
  }
  return edges;
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> star_graph(std::uint32_t leaves,
                                                                const PmcGoal& goal) {
  if (leaves < 2) {
    return {};
  }
  if (goal.beta == 1 && goal.alpha <= 1) {
    return chains(leaves);
  }
  if (leaves == 4 && goal.beta == 2 && goal.alpha <= 2) {
    return {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}};  // All pairs but one, found by trying.
  }
  std::uint32_t degree = std::max(goal.alpha, goal.beta);
  const bool tight = degree == goal.beta;
  if ((goal.beta == 2 && tight && leaves < 5) || (goal.beta == 3 && tight && leaves < 8)) {
    ++degree;
  }
  return leaves > degree ? circulant(leaves, degree) : complete(leaves);
}

}  // namespace bonescan
