#include "sim/base/strong_id.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace bonescan {
namespace {

struct ShelfTag {};

struct BookTag {};

using ShelfId = StrongId<ShelfTag>;
using BookId = StrongId<BookTag>;

static_assert(!std::is_convertible_v<ShelfId, BookId>);
static_assert(!std::is_constructible_v<BookId, ShelfId>);
static_assert(!std::is_convertible_v<std::uint32_t, BookId>);
static_assert(!std::equality_comparable_with<ShelfId, BookId>);

TEST(StrongId, IsInvalidUntilGivenAnIndex) {
  EXPECT_FALSE(BookId().valid());
  EXPECT_TRUE(BookId(0).valid());
  EXPECT_EQ(BookId(7).index(), 7u);
}

TEST(StrongId, OrdersByIndex) {
  EXPECT_LT(BookId(1), BookId(2));
  EXPECT_EQ(BookId(3), BookId(3));
  EXPECT_LT(BookId(3), BookId()) << "an invalid id sorts last";
}

TEST(IdVector, IsIndexedByItsOwnId) {
  IdVector<BookId, int> pages;
  EXPECT_TRUE(pages.empty());
  const BookId first = pages.push_back(5);
  const BookId second = pages.push_back(6);
  EXPECT_EQ(first.index(), 0u);
  EXPECT_EQ(pages[second], 6);
  EXPECT_TRUE(pages.contains(second));
  EXPECT_FALSE(pages.contains(BookId(2)));
  EXPECT_FALSE(pages.contains(BookId()));
}

}  // namespace
}  // namespace bonescan
