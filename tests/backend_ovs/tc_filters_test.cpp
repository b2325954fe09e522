#include "detectors/backend_ovs/parse/tc_filters.h"

#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Filters = std::vector<TcFilter>;

Filters parsed(const std::string& text) {
  const Expected<Filters> filters = parse_tc_filters(text);
  EXPECT_TRUE(filters) << filters.error().detail;
  return filters.value_or(Filters{});
}

std::string text_of(const std::vector<MatchField>& fields) {
  std::vector<std::string> all;
  for (const MatchField& field : fields) {
    all.push_back(to_string(field));
  }
  return fmt::format("{}", fmt::join(all, " "));
}

std::string text_of(const TcAction& action) {
  return fmt::format("{} {} {}[{}] {} {}p {}b",
                     action.kind,
                     action.verb,
                     action.device,
                     text_of(action.parameters),
                     action.control,
                     action.packets,
                     action.bytes);
}

std::string summary(const TcFilter& filter) {
  const std::string hardware = filter.in_hw ? (*filter.in_hw ? " in_hw" : " not_in_hw") : "";
  return fmt::format("{} pref {} {} {:#x} [{}]{}{}{}",
                     filter.protocol,
                     filter.pref,
                     filter.kind,
                     filter.handle,
                     text_of(filter.keys),
                     filter.skip_sw ? " skip_sw" : "",
                     filter.skip_hw ? " skip_hw" : "",
                     hardware);
}

std::vector<std::string> summaries(const Filters& filters) {
  std::vector<std::string> all;
  for (const TcFilter& filter : filters) {
    all.push_back(summary(filter));
  }
  return all;
}

TEST(TcFilters, ReadsHardwareSoftwareAndStatisticsOfEachAction) {
  const Filters filters = parsed(fakes::tool_output("tc_filters.stats.txt"));
  EXPECT_THAT(summaries(filters),
              ElementsAre("arp pref 4 flower 0x1 [dst_mac=ff:ff:ff:ff:ff:ff "
                          "src_mac=02:c1:18:e6:f6:80 eth_type=arp] skip_sw in_hw",
                          "ip pref 2 flower 0x1 [dst_mac=02:00:aa:00:00:0c "
                          "src_mac=02:00:aa:00:00:0b eth_type=ipv4 ip_flags=nofrag] in_hw",
                          "ip pref 2 flower 0x2 [dst_mac=02:00:aa:00:00:0d "
                          "src_mac=02:00:aa:00:00:0b eth_type=ipv4 ip_flags=nofrag] not_in_hw"));
  const TcFilter& tunnel = filters[1];
  EXPECT_EQ(tunnel.line, 16U);
  EXPECT_EQ(tunnel.in_hw_count, 1U);
  ASSERT_THAT(tunnel.actions, SizeIs(2));
  EXPECT_EQ(text_of(tunnel.actions[0]),
            "tunnel_key set [src_ip=10.60.8.11 dst_ip=10.60.8.12 key_id=5001 dst_port=4789 csum "
            "ttl=64] pipe 764696p 94822310b");
  EXPECT_EQ(text_of(tunnel.actions[1]),
            "mirred redirect vxlan_sys_4789[] stolen 764696p 133056960b");
  EXPECT_EQ(tunnel.packets(), 764696U);
  EXPECT_EQ(tunnel.hardware_packets(), 764694U) << "of \"Sent hardware\"";
  EXPECT_EQ(tunnel.cookie(), "b1389f00d00000000000000000000001");
  EXPECT_EQ(filters[0].last_used_s(), 88U);
  EXPECT_EQ(filters[0].cookie(), "");
  EXPECT_EQ(text_of(filters[2].actions[0]), "gact drop [] drop 10p 1240b");
}

TEST(TcFilters, TakesTheLargestCountOfItsActions) {
  const Filters filters = parsed(fakes::tool_output("tc_filters.json.txt"));
  ASSERT_THAT(filters, SizeIs(2));
  EXPECT_EQ(filters[1].packets(), 764697U);
  EXPECT_EQ(filters[1].last_used_s(), 0U) << "the latest use of any action";
}

TEST(TcFilters, ReadsJson) {
  const Filters filters = parsed(fakes::tool_output("tc_filters.json.txt"));
  // The library hands keys out in the order of the alphabet.
  EXPECT_THAT(summaries(filters),
              ElementsAre("ip pref 1 flower 0x1 [dst_port=4791 eth_type=ipv4 ip_proto=udp] "
                          "skip_hw not_in_hw",
                          "ip pref 2 flower 0x1 [dst_mac=02:00:aa:00:00:0c eth_type=ipv4 "
                          "ip_flags=nofrag src_ip=10.9.0.0/24 src_mac=02:00:aa:00:00:0b] in_hw"));
  EXPECT_EQ(text_of(filters[0].actions.at(0)), "gact drop [] drop 23p 1932b");
  ASSERT_THAT(filters[1].actions, SizeIs(2));
  EXPECT_EQ(text_of(filters[1].actions[0]),
            "tunnel_key set [csum dst_ip=10.60.8.12 dst_port=4789 key_id=5001 src_ip=10.60.8.11 "
            "ttl=64] pipe 764696p 94822310b");
  EXPECT_EQ(filters[1].actions[1].device, "vxlan_sys_4789");
  EXPECT_EQ(filters[1].hardware_packets(), 764694U);
}

TEST(TcFilters, SkipsPrioritiesThatHaveNoFilterLeft) {
  EXPECT_THAT(parsed("filter protocol ip pref 2 flower chain 0 \n"
                     "filter protocol ipv6 pref 3 flower chain 0 \n"),
              IsEmpty());
  EXPECT_THAT(parsed(R"([{"protocol":"ip","pref":2,"kind":"flower","chain":0}])"), IsEmpty());
  EXPECT_THAT(parsed("[ ]\n"), IsEmpty());
  EXPECT_THAT(parsed(""), IsEmpty());
}

TEST(TcFilters, ReadsWhatOpenVswitchPutIntoTheKernel) {
  const auto tail = {std::pair("lab.kernel_tc_none.txt", 86),
                     std::pair("lab.kernel_tc_skip_hw.txt", 89)};
  for (const auto& [session, last] : tail) {
    SCOPED_TRACE(session);
    const Filters filters = parsed(fakes::tool_lines(session, 49, static_cast<std::size_t>(last)));
    ASSERT_THAT(filters, SizeIs(3));
    EXPECT_EQ(filters[0].pref, 2U);
    EXPECT_EQ(filters[0].packets(), 30U);
    EXPECT_EQ(filters[0].in_hw, false);
    EXPECT_EQ(filters[0].skip_hw, std::string(session) == "lab.kernel_tc_skip_hw.txt");
    EXPECT_EQ(filters[0].actions.at(0).device, "p2");
    EXPECT_EQ(filters[1].last_used_s(), 1U);
    EXPECT_EQ(filters[2].protocol, "arp");
  }
}

TEST(TcFilters, ReadsAForeignFilterListedByItsPriority) {
  const Filters filters = parsed(fakes::tool_lines("lab.kernel_tc_none.txt", 108, 118));
  EXPECT_THAT(summaries(filters),
              ElementsAre("ip pref 0 flower 0x1 [eth_type=ipv4 ip_proto=icmp] skip_hw not_in_hw"));
  EXPECT_EQ(text_of(filters[0].actions.at(0)), "gact drop [] drop 23p 1932b");
  EXPECT_EQ(filters[0].cookie(), "") << "Open vSwitch gives each of its filters a cookie";
}

TEST(TcFilters, SayNothingAboutHardwareOnOldKernels) {
  const Filters filters = parsed("filter protocol ip pref 2 flower handle 0x1 \n  eth_type ipv4\n");
  ASSERT_THAT(filters, SizeIs(1));
  EXPECT_FALSE(filters[0].in_hw);
}

TEST(TcFilters, ReadsU32WithoutItsHashTable) {
  const Filters filters = parsed(
      "filter protocol ip pref 1 u32 chain 0 \n"
      "filter protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1 \n"
      "filter protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 terminal "
      "flowid not_in_hw \n  match 00000000/00000000 at 0\n"
      "\taction order 1: gact action drop\n\t index 1 ref 1 bind 1\n");
  EXPECT_THAT(summaries(filters),
              ElementsAre("ip pref 1 u32 0x320 [match=00000000/00000000 at 0] not_in_hw"));
}

TEST(TcFilters, TurnsAUfidIntoTheBytesThatTcPrints) {
  struct Case {
    const char* ufid;
    const char* cookie;
  };

  const Case cases[] = {
      {"d0e96370-2769-4529-80e9-9a34b4443a68", "7063e9d029456927349ae980683a44b4"},
      {"7a8b63bb-4b3a-4d3e-8e33-9a3e60ae3804", "bb638b7a3e4d3a4b3e9a338e0438ae60"},
      {"36384b01-96c5-4bef-972f-b2f496c47a09", "014b3836ef4bc596f4b22f97097ac496"},
      {"", ""},
      {"36384b01", ""},
      {"zz384b01-96c5-4bef-972f-b2f496c47a09", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(cookie_of_ufid(c.ufid), c.cookie) << c.ufid;
  }
  const Filters filters = parsed(fakes::tool_lines("lab.kernel_tc_none.txt", 49, 86));
  EXPECT_EQ(filters.at(0).cookie(), cases[0].cookie);
}

TEST(TcFilters, SayWhereAndWhatIsWrong) {
  struct Case {
    const char* name;
    std::string text;
    const char* error;
  };

  const Case cases[] = {
      {"stranger", "\nhello\n", "2:1: expected \"filter protocol P pref N KIND ...\""},
      {"pref", "filter protocol ip pref x flower\n", "1:25: expected a whole number"},
      {"sent", "filter pref 1 flower handle 1\n action order 1: gact\n Sent x\n", "3:1: expected"},
      {"json", "[{\"pref\":1},\n {\"pref\":}]", "2:10: expected JSON"},
      {"json cut off", "[{\"pref\":1},\n", "expected JSON"},
      {"json of something else", "[1, 2]", "1:1: expected every element"},
      {"json too deep", std::string(40, '['), "1:33: expected JSON with fewer brackets"},
      {"json number", "[{\"pref\":1e999}]", "1:1: expected JSON with numbers of 64 bits"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Expected<Filters> filters = parse_tc_filters(c.text);
    ASSERT_FALSE(filters);
    EXPECT_EQ(filters.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(filters.error().detail, HasSubstr(c.error));
  }
  const Expected<Filters> refused = parse_tc_filters("Cannot find device \"p9\"\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace bonescan::backend_ovs
