#include "sim/base/paged_column.h"

#include "sim/base/strong_id.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using ThingId = StrongId<struct ThingTag>;
using Column = PagedColumn<ThingId, int>;

constexpr std::uint32_t kPage = Column::kPageIds;

TEST(PagedColumn, ReadsAsItsInitialValueUntilItIsWritten) {
  Column column(1, 7);
  EXPECT_EQ(column.find(ThingId(3)), nullptr);
  EXPECT_EQ(column.value(ThingId(3)), 7);
  EXPECT_EQ(column.held_size(), 0U);
  column.at(ThingId(3)) = 9;
  EXPECT_EQ(column.value(ThingId(3)), 9);
  EXPECT_EQ(column[ThingId(3)], 9);
  EXPECT_EQ(column.value(ThingId(4)), 7);
  EXPECT_EQ(column.find(ThingId(kPage)), nullptr);
  EXPECT_EQ(column.held_size(), kPage * sizeof(int));
}

TEST(PagedColumn, RowsDoNotMoveAndHaveTheirWidth) {
  PagedColumn<ThingId, int> column(3, -1);
  int* const row = &column.at(ThingId(5));
  row[0] = 1;
  row[2] = 3;
  column.at(ThingId(1000)) = 4;
  EXPECT_EQ(&column.at(ThingId(5)), row);
  EXPECT_EQ(row[1], -1);
  EXPECT_EQ(&column[ThingId(6)], row + 3);
  EXPECT_EQ(row[3], -1);
}

TEST(PagedColumn, APageGoesWithTheLastOfItsIds) {
  PagedColumn<ThingId, std::shared_ptr<int>> column;
  const auto shared = std::make_shared<int>(1);
  for (std::uint32_t i = 0; i < 3 * kPage; ++i) {
    column.at(ThingId(i)) = shared;
  }
  const std::size_t held = column.held_size();
  column.release(ThingId(10), kPage);
  EXPECT_EQ(column.value(ThingId(10)), nullptr);
  EXPECT_EQ(column.value(ThingId(9 + kPage)), nullptr);
  EXPECT_EQ(column.value(ThingId(9)), shared);
  EXPECT_EQ(column.value(ThingId(10 + kPage)), shared);
  EXPECT_EQ(shared.use_count(), 1 + 2 * static_cast<long>(kPage));
  EXPECT_EQ(column.held_size(), held);
  column.release(ThingId(0), 10);
  EXPECT_EQ(column.held_size(), held / 3 * 2);
  EXPECT_FALSE(column.contains(ThingId(0)));
  column.release(ThingId(10 + kPage), 2 * kPage - 10);
  EXPECT_EQ(column.held_size(), 0U);
  EXPECT_EQ(column.kept_size(), 3U * 16U);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(PagedColumn, ReleasesWhatWasNeverWritten) {
  Column column(1, 5);
  column.release(ThingId(0), kPage - 1);
  column.at(ThingId(kPage - 1)) = 6;
  EXPECT_EQ(column.value(ThingId(0)), 5);
  column.release(ThingId(kPage - 1), 1);
  EXPECT_EQ(column.held_size(), 0U);
  EXPECT_EQ(column.value(ThingId(kPage - 1)), 5);
}

TEST(PagedColumn, GrowingMakesNothingAnewThatIsGone) {
  Column column;
  column.grow(kPage + 1);
  EXPECT_EQ(column.held_size(), 2 * kPage * sizeof(int));
  column.release(ThingId(0), kPage);
  column.grow(2 * kPage);
  EXPECT_FALSE(column.contains(ThingId(0)));
  EXPECT_EQ(column.held_size(), kPage * sizeof(int));
  column.grow(2 * kPage + 1);
  EXPECT_TRUE(column.contains(ThingId(2 * kPage)));
}

TEST(PagedColumn, VisitsTheRowsThatAreHeldInOrder) {
  Column column;
  column.at(ThingId(2 * kPage + 1)) = 8;
  column.at(ThingId(2)) = 4;
  std::vector<std::pair<std::uint32_t, int>> written;
  std::size_t rows = 0;
  column.for_each([&](ThingId id, int value) {
    ++rows;
    if (value != 0) {
      written.emplace_back(id.index(), value);
    }
  });
  EXPECT_EQ(rows, 2U * kPage);
  EXPECT_EQ(written, (std::vector<std::pair<std::uint32_t, int>>{{2, 4}, {2 * kPage + 1, 8}}));
}

}  // namespace
}  // namespace bonescan
