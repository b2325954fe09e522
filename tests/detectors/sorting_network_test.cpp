// Differential: the network against std::sort, in every lane and for every length.
#include "detectors/shortterm/sorting_network.h"

#include "tests/support/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kLanes = 4;
using Lanes = FourFloats;

TEST(SortingNetwork, LeavesTheMiddleOfEveryLaneInTheMiddle) {
  test::Dice dice(1, 31);
  for (std::size_t count = 1; count <= kNetworkRows; ++count) {
    for (int trial = 0; trial < 300; ++trial) {
      SCOPED_TRACE(testing::Message() << count << " rows, trial " << trial);
      const std::uint32_t values = trial % 3 == 0 ? 3 : 1'000'000;  // ties, or hardly any
      std::array<Lanes, kNetworkRows> rows{};
      std::array<std::vector<float>, kLanes> columns;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const float value = static_cast<float>(dice.below(values)) - 1.0F;
          rows[i][lane] = value;
          columns[lane].push_back(value);
        }
      }
      fill_rest<float>(rows, count);
      sort_rows(rows);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::sort(columns[lane].begin(), columns[lane].end());
        ASSERT_EQ(rows[kNetworkRows / 2 - 1][lane], columns[lane][(count - 1) / 2]);
        if (count % 2 == 0) {
          ASSERT_EQ(rows[kNetworkRows / 2][lane], columns[lane][count / 2]);
        }
      }
    }
  }
}

TEST(SortingNetwork, SortsFullColumns) {
  test::Dice dice(1, 32);
  for (int trial = 0; trial < 300; ++trial) {
    std::array<Lanes, kNetworkRows> rows{};
    for (Lanes& row : rows) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        row[lane] = static_cast<float>(dice.below(1000));
      }
    }
    sort_rows(rows);
    for (std::size_t i = 1; i < kNetworkRows; ++i) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        ASSERT_LE(rows[i - 1][lane], rows[i][lane]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
