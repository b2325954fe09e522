#include "model/host/gid_table.h"

#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

const Gid kLocal = link_local_gid(0x0200'5eff'fe00'5301);
const Gid kMapped = ipv4_mapped_gid({10, 0, 0, 1});

std::vector<int> indexes(const GidTable& table) {
  std::vector<int> found;
  for (const GidEntry& entry : table.entries()) {
    found.push_back(entry.index);
  }
  return found;
}

TEST(GidTable, GivesEveryAddressBothTypesFromItsFirstIndexOn) {
  for (const int index : {4, 6, 12}) {
    const auto first = static_cast<std::uint16_t>(index);
    GidTable table(first);
    table.add(kLocal);
    table.add(kMapped);
    EXPECT_EQ(indexes(table), (std::vector<int>{first, first + 1, first + 2, first + 3}));
    EXPECT_EQ(table.find(kLocal, GidType::kRoceV1), first);
    EXPECT_EQ(table.find(kLocal, GidType::kRoceV2), first + 1);
    EXPECT_EQ(table.find(kMapped, GidType::kRoceV2), first + 3);
    EXPECT_FALSE(table.find(link_local_gid(7), GidType::kRoceV2));
  }
}

TEST(GidTable, HasTheSameAddressesWhereverTheyStand) {
  GidTable one(4);
  one.add(kLocal);
  one.add(kMapped);
  GidTable other(12);
  other.add(kMapped);
  EXPECT_FALSE(same_addresses(one, other));
  other.add(kLocal);
  EXPECT_TRUE(same_addresses(one, other));
  EXPECT_NE(one.find(kMapped, GidType::kRoceV2), other.find(kMapped, GidType::kRoceV2));
}

TEST(GidTable, ShiftsIndexesWhenAddressesAreRegisteredAgain) {
  struct Case {
    const char* name;
    std::vector<Gid> order;
    std::size_t held;
    std::vector<int> expected;
    int mapped_v2;
  };

  const Case cases[] = {
      {"same order, nothing held", {kLocal, kMapped}, 0, {4, 5, 6, 7}, 7},
      {"other order, nothing held", {kMapped, kLocal}, 0, {4, 5, 6, 7}, 5},
      {"one held at the front", {kLocal, kMapped}, 1, {5, 6, 7, 8}, 8},
      {"all held", {kLocal, kMapped}, 4, {8, 9, 10, 11}, 11},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    GidTable table(4);
    table.add(kLocal);
    table.add(kMapped);
    const GidTable before = table;
    table.register_again(c.order, c.held);
    EXPECT_EQ(indexes(table), c.expected);
    EXPECT_EQ(table.find(kMapped, GidType::kRoceV2), c.mapped_v2);
    EXPECT_TRUE(same_addresses(before, table));
    table.release_held();
    table.register_again({kLocal, kMapped}, 0);
    EXPECT_EQ(indexes(table), (std::vector<int>{4, 5, 6, 7})) << "holes close again";
  }
}

/// "6:l1": at index 6 the link-local address as RoCE v1.
std::vector<std::string> rows(const GidTable& table) {
  std::vector<std::string> found;
  for (const GidEntry& entry : table.entries()) {
    found.push_back(std::to_string(entry.index) + ":" + (entry.value == kLocal ? "l" : "m") +
                    (entry.type == GidType::kRoceV1 ? "1" : "2"));
  }
  return found;
}

TEST(GidTable, IsLeftByEachTroubleAsReportsTell) {
  struct Case {
    const char* name;
    GidTrouble trouble;
    std::vector<Gid> order;
    std::vector<std::string> expected;
  };

  const Case cases[] = {
      {"none", {}, {kMapped, kLocal}, {"4:m1", "5:m2", "6:l1", "7:l2"}},
      {"a live queue pair holds 5, link-local comes first",
       {.registered_again = 1},
       {kMapped, kLocal},
       {"4:l1", "6:l2", "7:m1", "8:m2"}},
      {"... or 7", {.registered_again = 2}, {kLocal, kMapped}, {"4:l1", "5:l2", "6:m1", "8:m2"}},
      {"others between", {.sparse = 1}, {kMapped, kLocal}, {"4:m1", "5:m2", "8:l1", "9:l2"}},
      {"version 1 alone", {.no_v2 = 1}, {kMapped, kLocal}, {"4:m1", "5:l1"}},
      {"link-local alone", {.no_ipv4 = 1}, {kMapped, kLocal}, {"4:l1", "5:l2"}},
      {"no table", {.registered_again = 1, .sparse = 1, .no_v2 = 1}, {}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    GidTable table(4);
    for (const Gid& gid : c.order) {
      table.add(gid);
    }
    EXPECT_EQ(rows(troubled(table, kMapped, c.trouble)), c.expected);
  }
}

TEST(GidTable, WritesAddressesAsTheyAreKnown) {
  EXPECT_EQ(kMapped.bytes,
            (std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}));
  EXPECT_EQ(kLocal.bytes,
            (std::array<std::uint8_t, 16>{
                0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 1}));
}

}  // namespace
}  // namespace bonescan
