#include "model/fabric/component_ref.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

Fabric small_fabric() {
  return Fabric({.segments = 2, .hosts_per_segment = 3, .rails = 4, .aggregation_switches = 2});
}

TEST(ComponentName, RoundTripsForEveryComponent) {
  const Fabric fabric = small_fabric();
  struct Kind {
    RefKind kind;
    std::uint32_t count;
  };
  const std::vector<Kind> kinds = {{RefKind::kHost, fabric.host_count()},
                                   {RefKind::kOvs, fabric.host_count()},
                                   {RefKind::kAgent, fabric.host_count()},
                                   {RefKind::kRnic, fabric.rnic_count()},
                                   {RefKind::kSwitch, fabric.switch_count()},
                                   {RefKind::kCable, fabric.cable_count()}};
  for (const Kind& kind : kinds) {
    for (std::uint32_t i = 0; i < kind.count; ++i) {
      const ComponentRef ref{kind.kind, i};
      const std::string name = component_name(fabric, ref);
      SCOPED_TRACE(name);
      const auto parsed = parse_component(fabric, name);
      ASSERT_TRUE(parsed) << parsed.error().detail;
      EXPECT_EQ(*parsed, ref);
    }
  }
}

TEST(ParseComponent, AcceptsEveryForm) {
  const Fabric fabric = small_fabric();
  struct Case {
    std::string text;
    ComponentRef expected;
  };
  const std::vector<Case> cases = {
      {"host-1.2", {RefKind::kHost, 5}},
      {"host-1.02", {RefKind::kHost, 5}},
      {"host-0.01/rnic-3", {RefKind::kRnic, 7}},
      {"host-0.01/ovs", {RefKind::kOvs, 1}},
      {"host-0.01/agent", {RefKind::kAgent, 1}},
      {"tor-1.3", {RefKind::kSwitch, 7}},
      {"agg-1", {RefKind::kSwitch, 9}},
      {"link(host-0.01/rnic-3, tor-0.3)", {RefKind::kCable, 7}},
      {"link(tor-1.3,agg-1)", {RefKind::kCable, 24 + 15}},
      {"link(tor-0.0,   agg-0)", {RefKind::kCable, 24}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto parsed = parse_component(fabric, c.text);
    ASSERT_TRUE(parsed) << parsed.error().detail;
    EXPECT_EQ(*parsed, c.expected);
  }
}

TEST(ParseComponent, TellsMalformedNames) {
  const Fabric fabric = small_fabric();
  for (const std::string text : {"",
                                 "host",
                                 "host-",
                                 "host-1",
                                 "host-1.",
                                 "host-1.2/",
                                 "host-1.2/rnic",
                                 "host-1.2/rnic-",
                                 "host-1.2/ovs2",
                                 "host-1.2 ",
                                 " host-1.2",
                                 "Host-1.2",
                                 "host--1.2",
                                 "host-1.2.3",
                                 "tor-1",
                                 "tor-1.2/x",
                                 "agg-",
                                 "agg-0.1",
                                 "link(",
                                 "link(tor-1.3)",
                                 "link(tor-1.3, agg-1",
                                 "link(agg-1, tor-1.3)",
                                 "link(host-1.2, tor-1.2)",
                                 "link(tor-1.3, tor-0.3)",
                                 "link(tor-1.3; agg-1)",
                                 "link(tor-1.3, agg-1)x",
                                 "host-1.99999999999",
                                 "agg-+1",
                                 "spine-3"}) {
    SCOPED_TRACE(text);
    const auto parsed = parse_component(fabric, text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(parsed.error().detail, testing::HasSubstr("link(tor-S.R, agg-A)"));
  }
}

TEST(ParseComponent, TellsWhatTheFabricHas) {
  const Fabric fabric = small_fabric();
  struct Case {
    std::string text;
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"host-2.0", "hosts are host-0.00 to host-1.02"},
      {"host-0.3/ovs", "hosts are host-0.00 to host-1.02"},
      {"host-0.0/rnic-4", "RNICs of a host are rnic-0 to rnic-3"},
      {"tor-0.4", "ToRs are tor-0.0 to tor-1.3"},
      {"agg-2", "aggregation switches are agg-0 to agg-1"},
      {"link(tor-2.0, agg-0)", "ToRs are tor-0.0 to tor-1.3"},
      {"link(tor-1.0, agg-2)", "aggregation switches are agg-0 to agg-1"},
      {"link(host-1.0/rnic-2, tor-1.3)", "host-1.00/rnic-2 has one cable, to tor-1.2"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto parsed = parse_component(fabric, c.text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(parsed.error().detail, c.detail);
  }
}

}  // namespace
}  // namespace bonescan
