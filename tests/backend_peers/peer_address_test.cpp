#include "detectors/backend_peers/peer_address.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace bonescan {
namespace {

TEST(Gid, IsPrintedAndReadInTheFormsThatToolsUse) {
  const struct {
    const char* text;
    const char* printed;  ///< nullptr: refused
  } cases[] = {
      {"::ffff:10.9.0.3", "::ffff:10.9.0.3"},
      {"10.9.0.3", "::ffff:10.9.0.3"},
      {"0000:0000:0000:0000:0000:ffff:0a09:0003", "::ffff:10.9.0.3"},
      {"fe80:0000:0000:0000:5054:00ff:fe00:0001", "fe80::5054:ff:fe00:1"},
      {"fe80::1", "fe80::1"},
      {"", nullptr},
      {"10.9.0", nullptr},
      {"10.9.0.3/24", nullptr},
      {"fe80::1%e1", nullptr},
      {"not an address", nullptr},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const std::optional<GidBytes> gid = gid_from_text(c.text);
    ASSERT_EQ(gid.has_value(), c.printed != nullptr);
    if (gid) {
      EXPECT_EQ(gid_text(*gid), c.printed);
    }
  }
}

TEST(Gid, IsNotCutAtAByteThatEndsAString) {
  EXPECT_FALSE(gid_from_text(std::string("::1\0junk", 8)).has_value());
}

TEST(PeerBook, KeepsTheNewestAddressAndCountsChanges) {
  PeerBook book;
  EXPECT_FALSE(book.find(EndpointId(3)).has_value());
  const PeerAddress first{
      .gid = *gid_from_text("10.9.0.3"), .qpns = {17, 18}, .q_key = 5, .epoch = 1};
  PeerAddress second = first;
  second.epoch = 2;
  book.set(EndpointId(3), first);
  book.set(EndpointId(3), second);
  EXPECT_EQ(book.find(EndpointId(3)), second);
  EXPECT_EQ(book.version(), 2U);
  book.erase(EndpointId(3));
  book.erase(EndpointId(3));
  EXPECT_FALSE(book.find(EndpointId(3)).has_value());
  EXPECT_EQ(book.version(), 3U);
}

}  // namespace
}  // namespace bonescan
