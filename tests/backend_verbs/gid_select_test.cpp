#include "detectors/backend_verbs/gid_select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::verbs {
namespace {

using testing::HasSubstr;

GidBytes gid(std::string_view text) {
  return *gid_from_text(text);
}

/// Starts at 2, has holes, is not in order: as adapters have them.
std::vector<GidEntry> sparse_table() {
  return {{.index = 12, .type = GidType::kRoceV2, .gid = gid("::ffff:10.2.0.7")},
          {.index = 2, .type = GidType::kRoceV1, .gid = gid("fe80::1")},
          {.index = 3, .type = GidType::kRoceV2, .gid = gid("fe80::1")},
          {.index = 9, .type = GidType::kRoceV2, .gid = gid("fd00::7")},
          {.index = 5, .type = GidType::kRoceV2, .gid = gid("::")},
          {.index = 6, .type = GidType::kRoceV2, .gid = gid("::ffff:10.1.0.7")},
          {.index = 4, .type = GidType::kRoceV1, .gid = gid("::ffff:10.1.0.7")}};
}

TEST(GidSelect, FindsWhatWasWishedInASparseTable) {
  struct Case {
    std::string name;
    GidWish wish;
    std::uint32_t index;
  };
  const std::vector<Case> cases = {
      {"anything: routable, IPv4, lowest", {}, 6},
      {"by index", {.index = 12}, 12},
      {"IPv6: routable before link-local", {.family = GidFamily::kIpv6}, 9},
      {"by address", {.address = gid("fe80::1")}, 3},
      {"of type RoCE v1", {.type = GidType::kRoceV1}, 4},
      {"v1 and IPv6", {.type = GidType::kRoceV1, .family = GidFamily::kIpv6}, 2},
      {"plain IPv4 notation", {.address = gid("10.2.0.7")}, 12},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto found = select_gid(sparse_table(), c.wish);
    ASSERT_TRUE(found.has_value()) << found.error().detail;
    EXPECT_EQ(found->index, c.index);
  }
}

TEST(GidSelect, SaysWhatIsThereWhenNothingFits) {
  struct Case {
    std::string name;
    GidWish wish;
    std::string wanted;
  };
  const std::vector<Case> cases = {
      {"hole", {.index = 7}, "index 7"},
      {"index of another type", {.index = 2}, "RoCE v2, index 2"},
      {"zero entry", {.index = 5}, "index 5"},
      {"gone address", {.address = gid("10.9.9.9")}, "address ::ffff:10.9.9.9"},
      {"index and family disagree", {.index = 9, .family = GidFamily::kIpv4}, "IPv4, index 9"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto found = select_gid(sparse_table(), c.wish);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(found.error().detail, HasSubstr(c.wanted));
    EXPECT_THAT(found.error().detail, HasSubstr("6 ::ffff:10.1.0.7 (RoCE v2)"));
  }
  EXPECT_THAT(select_gid({}, {}).error().detail, HasSubstr("nothing"));
}

TEST(GidSelect, KeepsItsSentenceShortWhenTheTableIsLong) {
  std::vector<GidEntry> table;
  for (std::uint32_t i = 0; i < 200; ++i) {
    table.push_back({.index = i, .type = GidType::kRoceV1, .gid = gid("10.0.0.1")});
  }
  const auto found = select_gid(table, {});
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().detail, HasSubstr("and 192 more"));
}

TEST(GidSelect, TellsFamiliesApart) {
  EXPECT_TRUE(is_ipv4(gid("10.1.2.3")));
  EXPECT_FALSE(is_ipv4(gid("fd00::a01:203")));
  EXPECT_FALSE(is_ipv4(gid("::a01:203"))) << "compatible, not mapped";
  EXPECT_TRUE(is_link_local(gid("fe80::1")));
  EXPECT_TRUE(is_link_local(gid("169.254.0.1")));
  EXPECT_FALSE(is_link_local(gid("fec0::1")));
}

}  // namespace
}  // namespace bonescan::verbs
