#include "detectors/backend_ovs/parse/rdma_tools.h"

#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using fakes::expect_error;
using fakes::good;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> texts(const std::vector<RdmaLink>& links) {
  std::vector<std::string> all;
  for (const RdmaLink& link : links) {
    all.push_back(fmt::format(
        "{}/{} {} {} [{}]", link.device, link.port, link.state, link.physical_state, link.netdev));
  }
  return all;
}

std::vector<std::string> texts(const std::vector<GidEntry>& entries) {
  constexpr std::array<std::string_view, 3> kVersions = {"?", "v1", "v2"};
  std::vector<std::string> all;
  for (const GidEntry& entry : entries) {
    all.push_back(fmt::format("{}/{} {} {:02x}..{:02x}{:02x} {} {} {}",
                              entry.device,
                              entry.port,
                              entry.index,
                              entry.gid[0],
                              entry.gid[14],
                              entry.gid[15],
                              entry.ipv4.empty() ? "-" : entry.ipv4,
                              kVersions[static_cast<std::size_t>(entry.version)],
                              entry.netdev));
  }
  return all;
}

TEST(RdmaLinks, MayHaveNoNetdev) {
  EXPECT_THAT(texts(good(parse_rdma_links(fakes::tool_output("rdma_tools.link.txt")))),
              ElementsAre("mlx5_0/1 ACTIVE LINK_UP [p1p1]",
                          "mlx5_1/1 DOWN DISABLED [p1p2]",
                          "mlx5_9/1 ACTIVE LINK_UP []"));
  EXPECT_THAT(texts(good(parse_rdma_links(fakes::tool_lines("lab.rxe_netns.txt", 19, 19)))),
              ElementsAre("rxe_a/1 ACTIVE LINK_UP [va]"));
  EXPECT_THAT(good(parse_rdma_links("")), IsEmpty());
}

TEST(RdmaLinks, AreUnavailableWithoutTheSubsystem) {
  expect_error(parse_rdma_links(fakes::tool_lines("rdma_tools.no_device.txt", 12, 13)),
               ErrorCode::kUnavailable,
               "Failed to open NETLINK_RDMA socket");
  expect_error(parse_rdma_links("link mlx5_0 state"), ErrorCode::kInvalid, "1:1: expected");
}

TEST(RdmaStatistic, IsOneLinkAcrossWrappedLines) {
  const auto ports = good(parse_rdma_statistic(fakes::tool_output("rdma_tools.statistic.txt")));
  ASSERT_THAT(ports, SizeIs(2));
  EXPECT_EQ(ports[0].device, "mlx5_1");
  EXPECT_THAT(ports[0].counters, SizeIs(31));
  EXPECT_EQ(find_counter(ports[0].counters, "out_of_sequence"), 12U);
  EXPECT_EQ(find_counter(ports[0].counters, "duplicate_request"), 0U) << "first of a wrapped line";
  EXPECT_EQ(find_counter(ports[0].counters, "rx_icrc_encapsulated"), 0U);
  EXPECT_EQ(find_counter(ports[0].counters, "req_cqe_error"), 36090U);
  EXPECT_EQ(ports[1].device, "mlx5_0");
  EXPECT_EQ(find_counter(ports[1].counters, "rx_write_requests"), 9120331U);
  EXPECT_FALSE(find_counter(ports[1].counters, "req_cqe_error"));
}

TEST(RdmaStatistic, IsOneCounterALineWhenItIsPretty) {
  const auto ports =
      good(parse_rdma_statistic(fakes::tool_lines("lab.rxe_one_guest.txt", 189, 204)));
  ASSERT_THAT(ports, SizeIs(1));
  EXPECT_EQ(ports[0].device, "rxe_a");
  EXPECT_EQ(ports[0].port, 1U);
  EXPECT_THAT(ports[0].counters, SizeIs(15));
  EXPECT_EQ(find_counter(ports[0].counters, "rcvd_pkts"), 905U);
  EXPECT_EQ(find_counter(ports[0].counters, "link_downed"), 1U);
}

TEST(RdmaStatistic, SaysWhereAndWhatIsWrong) {
  expect_error(parse_rdma_statistic("a 1"), ErrorCode::kInvalid, "1:3: expected \"link");
  expect_error(
      parse_rdma_statistic("link a/1 b c"), ErrorCode::kInvalid, "1:12: expected the value");
  expect_error(parse_rdma_statistic("link a/x"), ErrorCode::kInvalid, "1:6: expected DEVICE/PORT");
  expect_error(parse_rdma_statistic("link a/1 b"), ErrorCode::kInvalid, "cut off");
}

TEST(ShowGids, TakesAnEmptyAddressColumn) {
  EXPECT_THAT(texts(good(parse_show_gids(fakes::tool_output("rdma_tools.gids_bare_metal.txt")))),
              ElementsAre("mlx5_0/1 0 fe..0001 - v1 ens3np0",
                          "mlx5_0/1 1 fe..0001 - v2 ens3np0",
                          "mlx5_0/1 2 00..0048 11.0.0.72 v1 ens3np0",
                          "mlx5_0/1 3 00..0048 11.0.0.72 v2 ens3np0"));
}

TEST(ShowGids, TakesSparseTablesInAnyOrderWithTabs) {
  EXPECT_THAT(texts(good(parse_show_gids(fakes::tool_output("rdma_tools.gids_sparse.txt")))),
              ElementsAre("mlx5_0/1 4 fe..0001 - v1 net1",
                          "mlx5_0/1 5 fe..0001 - v2 net1",
                          "mlx5_0/1 6 00..000c 10.152.0.12 v1 net1",
                          "mlx5_0/1 7 00..000c 10.152.0.12 v2 net1",
                          "mlx5_1/1 6 00..0401 11.0.4.1 v1 net2",
                          "mlx5_1/1 7 00..0401 11.0.4.1 v2 net2",
                          "mlx5_1/1 8 fe..0001 - v1 net2",
                          "mlx5_1/1 9 fe..0001 - v2 net2"));
  expect_error(parse_show_gids("mlx5_0 1 x fe80::1 v1"), ErrorCode::kInvalid, "1:1: expected");
}

TEST(SysfsGids, JoinsAddressTypeAndNetdevAndLeavesUnusedEntriesOut) {
  const std::string ports = "/sys/class/infiniband/rxe_a/ports/1/";
  const auto entries = good(parse_sysfs_gids(
      ports + "gids/0:fe80:0000:0000:0000:80ac:31ff:fe72:abbd\n" + ports +
      "gids/1:0000:0000:0000:0000:0000:ffff:0a09:0001\n" + ports +
      "gids/2:0000:0000:0000:0000:0000:0000:0000:0000\n" + ports + "gid_attrs/types/0:RoCE v2\n" +
      ports + "gid_attrs/types/1:IB/RoCE v1\n" + ports + "gid_attrs/ndevs/1:va\n"));
  EXPECT_THAT(texts(entries),
              ElementsAre("rxe_a/1 0 fe..abbd - v2 ", "rxe_a/1 1 00..0001 10.9.0.1 v1 va"));
  expect_error(
      parse_sysfs_gids(ports + "pkeys/0:0xffff"), ErrorCode::kInvalid, "1:1: expected gids");
}

TEST(Gid, MayBeSpelledInManyWays) {
  const auto mapped = parse_gid("::ffff:10.9.0.1");
  ASSERT_TRUE(mapped);
  EXPECT_EQ(parse_gid("0000:0000:0000:0000:0000:ffff:0a09:0001"), mapped);
  EXPECT_EQ((*mapped)[12], 10);
  for (const char* bad : {"", "10.9.0.1", "fe80", ":::", "fe80::1%eth0"}) {
    EXPECT_FALSE(parse_gid(bad)) << bad;
  }
}

TEST(SysfsCounters, TakeLifespanForARefreshPeriod) {
  const auto ports = good(parse_sysfs_counters(fakes::tool_output("rdma_tools.hw_counters.txt")));
  ASSERT_THAT(ports, SizeIs(1));
  EXPECT_EQ(ports[0].device, "mlx5_0");
  EXPECT_EQ(ports[0].refresh_period_ms, 12U);
  EXPECT_THAT(ports[0].counters, SizeIs(7));
  EXPECT_FALSE(find_counter(ports[0].counters, "lifespan"));
  EXPECT_EQ(find_counter(ports[0].counters, "local_ack_timeout_err"), 2705U);
  const auto lab = good(parse_sysfs_counters(fakes::tool_lines("lab.rxe_one_guest.txt", 172, 187)));
  ASSERT_THAT(lab, SizeIs(1));
  EXPECT_THAT(lab[0].counters, SizeIs(15));
  expect_error(parse_sysfs_counters("/sys/class/net/x:1"), ErrorCode::kInvalid, "1:1: expected");
  expect_error(parse_sysfs_counters("/sys/class/infiniband/a/ports/1/counters/x:N/A"),
               ErrorCode::kInvalid,
               "a whole number");
}

TEST(EthtoolStatistics, HaveNoTransportCounters) {
  const auto counters =
      good(parse_ethtool_statistics(fakes::tool_output("rdma_tools.ethtool.txt")));
  ASSERT_THAT(counters, SizeIs(28));
  EXPECT_EQ(counters[0].name, "rx_packets");
  EXPECT_EQ(find_counter(counters, "rx_bytes"), 7321100200100U);
  EXPECT_EQ(find_counter(counters, "link_down_events_phy"), 2U);
  EXPECT_FALSE(find_counter(counters, "out_of_sequence")) << "it lives in hw_counters";
  expect_error(parse_ethtool_statistics("NIC statistics:\n  a: b"), ErrorCode::kInvalid, "2:1:");
  expect_error(parse_ethtool_statistics("no stats available"), ErrorCode::kUnavailable, "no stats");
}

}  // namespace
}  // namespace bonescan::backend_ovs
