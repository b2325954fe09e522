#include "model/host/virtual_functions.h"

#include <set>

namespace bonescan {
namespace {

TEST(VirtualFunctions, RefusesTheOneBeyondTheLastOfAnRnic) {
  VirtualFunctions functions(2, kMaxVirtualFunctions);
  std::set<int> given;
  for (std::uint32_t i = 0; i < kMaxVirtualFunctions; ++i) {
    const auto function = functions.allocate(RnicId(0));
    ASSERT_TRUE(function.has_value());
    given.insert(*function);
  }
  EXPECT_EQ(given.size(), kMaxVirtualFunctions);
  const auto refused = functions.allocate(RnicId(0));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), VfRefusal::kExhausted);
  EXPECT_TRUE(functions.allocate(RnicId(1)).has_value()) << "another RNIC has its own";
  EXPECT_EQ(functions.used(), kMaxVirtualFunctions + 1);
  functions.release(RnicId(0), 77);
  EXPECT_EQ(functions.allocate(RnicId(0)), 77);
}

TEST(VirtualFunctions, CountsWhatIsUsedByRnicAndInAll) {
  VirtualFunctions functions(2, 4);
  const auto function = functions.allocate(RnicId(1));
  EXPECT_TRUE(functions.is_used(RnicId(1), *function));
  EXPECT_EQ(functions.used(RnicId(1)), 1u);
  EXPECT_EQ(functions.used(RnicId(0)), 0u);
  functions.release(RnicId(1), *function);
  EXPECT_EQ(functions.used(), 0u);
}

TEST(VirtualFunctions, AreCalledAfterTheirRepresentor) {
  EXPECT_EQ(representor_name(3, 17), "pf3vf17");
}

TEST(VirtualFunctions, StartTheirGidTablesAtSeveralIndexesInBothOrders) {
  std::set<int> firsts;
  std::set<int> mapped_indexes;
  for (std::uint32_t r = 0; r < 200; ++r) {
    const GidTable table = draw_gid_table(1, RnicId(r), 1, {10, 0, 0, 1});
    EXPECT_EQ(table.entries().size(), 4u);
    firsts.insert(table.first_index());
    mapped_indexes.insert(*table.find(ipv4_mapped_gid({10, 0, 0, 1}), GidType::kRoceV2) -
                          table.first_index());
    EXPECT_TRUE(same_addresses(table, draw_gid_table(1, RnicId(r), 1, {10, 0, 0, 1})));
  }
  EXPECT_EQ(firsts, (std::set<int>{4, 6, 12}));
  EXPECT_EQ(mapped_indexes, (std::set<int>{1, 3}));
}

}  // namespace
}  // namespace bonescan
