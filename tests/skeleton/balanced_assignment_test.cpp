#include "skeleton/balanced_assignment.h"

#include "tests/support/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

/// Hungarian method on one slot for every place of every group: cubic, and from the textbook.
double hungarian_cost(const DoubleMatrix& costs) {
  const std::size_t n = costs.rows;
  const std::size_t capacity = n / costs.columns;
  std::vector<double> u(n + 1, 0.0);
  std::vector<double> v(n + 1, 0.0);
  std::vector<std::size_t> match(n + 1, 0);
  for (std::size_t i = 1; i <= n; ++i) {
    std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> used(n + 1, false);
    std::vector<std::size_t> way(n + 1, 0);
    std::size_t slot = 0;
    match[0] = i;
    do {
      used[slot] = true;
      const std::size_t row = match[slot];
      double delta = std::numeric_limits<double>::infinity();
      std::size_t next = 0;
      for (std::size_t j = 1; j <= n; ++j) {
        if (used[j]) {
          continue;
        }
        const double reduced = costs.row(row - 1)[(j - 1) / capacity] - u[row] - v[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          way[j] = slot;
        }
        if (least[j] < delta) {
          delta = least[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= n; ++j) {
        if (used[j]) {
          u[match[j]] += delta;
          v[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      slot = next;
    } while (match[slot] != 0);
    while (slot != 0) {
      match[slot] = match[way[slot]];
      slot = way[slot];
    }
  }
  double total = 0.0;
  for (std::size_t j = 1; j <= n; ++j) {
    total += costs.row(match[j] - 1)[(j - 1) / capacity];
  }
  return total;
}

double cost_of(const DoubleMatrix& costs, const std::vector<std::uint32_t>& groups) {
  double total = 0.0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    total += costs.row(i)[groups[i]];
  }
  return total;
}

TEST(BalancedAssignment, HandsOnAlongAChain) {
  // All three like the first group best; the cheapest way out leads through the second.
  DoubleMatrix costs(3, 3);
  costs.values = {0.0,
                  1.0,
                  9.0,  //
                  0.0,
                  5.0,
                  9.0,  //
                  3.0,
                  0.0,
                  0.5};  //
  const std::vector<std::uint32_t> expected{1, 0, 2};
  EXPECT_EQ(balanced_assignment(costs), expected);
}

TEST(BalancedAssignment, CostsWhatTheHungarianMethodCosts) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    test::Dice dice(seed, 2);
    const std::size_t groups = 1 + dice.below(8);
    const std::size_t capacity = 1 + dice.below(8);
    DoubleMatrix costs(groups * capacity, groups);
    // Every third table is full of ties, every third has a group that all like best.
    for (std::size_t i = 0; i < costs.values.size(); ++i) {
      costs.values[i] = seed % 3 == 0 ? dice.below(4) : dice.uniform(0.0, 1.0);
      if (seed % 3 == 1 && i % groups == 0) {
        costs.values[i] *= 0.1;
      }
    }
    const std::vector<std::uint32_t> found = balanced_assignment(costs);
    for (std::uint32_t group = 0; group < groups; ++group) {
      EXPECT_EQ(std::count(found.begin(), found.end(), group),
                static_cast<std::ptrdiff_t>(capacity));
    }
    EXPECT_NEAR(cost_of(costs, found), hungarian_cost(costs), 1e-9);
  }
}

}  // namespace
}  // namespace bonescan
