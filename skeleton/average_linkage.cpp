#include "skeleton/average_linkage.h"

#include "sim/base/check.h"
#include "skeleton/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bonescan {
namespace {

DoubleMatrix distances_of(const DoubleMatrix& points) {
  const std::size_t n = points.rows;
  DoubleMatrix distances(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      distances.row(i)[j] = std::sqrt(square_distance(points.row(i), points.row(j)));
      distances.row(j)[i] = distances.row(i)[j];
    }
  }
  return distances;
}

std::uint32_t root(std::vector<std::uint32_t>& parents, std::uint32_t point) {
  while (parents[point] != point) {
    parents[point] = parents[parents[point]];
    point = parents[point];
  }
  return point;
}

}  // namespace

std::vector<Merge> average_linkage(const DoubleMatrix& points) {
  const std::size_t n = points.rows;
  DoubleMatrix distances = distances_of(points);
  std::vector<double> sizes(n, 1.0);
  std::vector<std::uint32_t> alive(n);
  std::iota(alive.begin(), alive.end(), 0U);
  std::vector<std::uint32_t> chain;
  std::vector<Merge> tree;
  tree.reserve(n);
  while (tree.size() + 1 < n) {
    if (chain.empty()) {
      chain.push_back(alive.front());
    }
    const std::uint32_t tip = chain.back();
    const std::uint32_t before = chain.size() > 1 ? chain[chain.size() - 2] : tip;
    // The one before wins ties, or chains would go round.
    std::uint32_t nearest = before;
    double least =
        before == tip ? std::numeric_limits<double>::infinity() : distances.row(tip)[before];
    for (const std::uint32_t other : alive) {
      if (other != tip && distances.row(tip)[other] < least) {
        least = distances.row(tip)[other];
        nearest = other;
      }
    }
    if (nearest != before || before == tip) {
      chain.push_back(nearest);
      continue;
    }
    chain.resize(chain.size() - 2);
    const std::uint32_t kept = std::min(tip, before);
    const std::uint32_t gone = std::max(tip, before);
    tree.push_back({kept, gone, least});
    const double total = sizes[kept] + sizes[gone];
    alive.erase(std::lower_bound(alive.begin(), alive.end(), gone));
    for (const std::uint32_t other : alive) {
      const double mean =
          (sizes[kept] * distances.row(kept)[other] + sizes[gone] * distances.row(gone)[other]) /
          total;
      distances.row(kept)[other] = mean;
      distances.row(other)[kept] = mean;
    }
    sizes[kept] = total;
  }
  std::stable_sort(
      tree.begin(), tree.end(), [](const Merge& a, const Merge& b) { return a.height < b.height; });
  return tree;
}

std::vector<std::uint32_t> cut(const std::vector<Merge>& tree, std::size_t count) {
  const std::size_t n = tree.size() + 1;
  BONESCAN_CHECK(count >= 1 && count <= n);
  std::vector<std::uint32_t> parents(n);
  std::iota(parents.begin(), parents.end(), 0U);
  for (std::size_t i = 0; i + count < n; ++i) {
    parents[root(parents, tree[i].b)] = root(parents, tree[i].a);
  }
  std::vector<std::uint32_t> names(n, std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> labels(n);
  std::uint32_t next = 0;
  for (std::uint32_t point = 0; point < n; ++point) {
    std::uint32_t& name = names[root(parents, point)];
    if (name == std::numeric_limits<std::uint32_t>::max()) {
      name = next++;
    }
    labels[point] = name;
  }
  return labels;
}

}  // namespace bonescan
