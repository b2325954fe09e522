#include "model/fabric/component_ref.h"

#include "tests/support/fabrics.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

Fabric small_fabric() {
  return Fabric({.segments = 2, .hosts_per_segment = 3, .rails = 4, .aggregation_switches = 2});
}

std::vector<test::NamedFabric> all_fabrics() {
  std::vector<test::NamedFabric> fabrics = test::small_fabrics();
  fabrics.push_back({"small", small_fabric().options()});
  return fabrics;
}

TEST(ComponentName, RoundTripsForEveryComponent) {
  for (const auto& [preset, options] : all_fabrics()) {
    const Fabric fabric(options);
    struct Kind {
      RefKind kind;
      std::uint32_t count;
    };
    const std::vector<Kind> kinds = {
        {RefKind::kHost, fabric.host_count()},
        {RefKind::kOvs, fabric.host_count()},
        {RefKind::kAgent, fabric.host_count()},
        {RefKind::kRnic, fabric.rnic_count()},
        {RefKind::kSwitch, fabric.switch_count()},
        {RefKind::kCable, fabric.cable_count()},
        {RefKind::kPort, fabric.ports() > 1 ? fabric.access_count() : 0}};
    for (const Kind& kind : kinds) {
      for (std::uint32_t i = 0; i < kind.count; ++i) {
        const ComponentRef ref{kind.kind, i};
        const std::string name = component_name(fabric, ref);
        SCOPED_TRACE(preset + " " + name);
        const auto parsed = parse_component(fabric, name);
        ASSERT_TRUE(parsed) << parsed.error().detail;
        EXPECT_EQ(*parsed, ref);
      }
    }
  }
}

Fabric small_fabric(const std::string& name) {
  for (const auto& [preset, options] : test::small_fabrics()) {
    if (preset == name) {
      return Fabric(options);
    }
  }
  ADD_FAILURE() << name;
  return small_fabric();
}

TEST(ParseComponent, AcceptsTheNamesOfEveryPreset) {
  struct Case {
    std::string preset;
    std::string text;
    std::string name;  ///< as we write it
  };
  const std::vector<Case> cases = {
      {"hpn", "tor-2.1.0", "tor-2.1.0"},
      {"hpn", "agg-1.3", "agg-1.3"},
      {"hpn", "host-0.2/rnic-1/port-1", "host-0.02/rnic-1/port-1"},
      {"hpn", "link(host-0.2/rnic-1, tor-0.1.1)", "link(host-0.02/rnic-1/port-1, tor-0.1.1)"},
      {"hpn", "link(tor-0.1.1,agg-1.0)", "link(tor-0.1.1, agg-1.0)"},
      {"rail-only", "link(tor-0.1, agg-1.3)", "link(tor-0.1, agg-1.3)"},
      {"three-tier", "core-7", "core-7"},
      {"three-tier", "link(agg-1.3, core-7)", "link(agg-1.3, core-7)"},
      {"bonds", "link(host-0.0/rnic-1/port-1, tor-0.1)", "link(host-0.00/rnic-1/port-1, tor-0.1)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.preset + " " + c.text);
    const Fabric fabric = small_fabric(c.preset);
    const auto parsed = parse_component(fabric, c.text);
    ASSERT_TRUE(parsed) << parsed.error().detail;
    EXPECT_EQ(component_name(fabric, *parsed), c.name);
  }
}

TEST(ParseComponent, TellsWhatEveryPresetHas) {
  struct Case {
    std::string preset;
    std::string text;
    ErrorCode code;
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"hpn", "tor-0.1", ErrorCode::kInvalid, "tor-S.R.P, agg-G.A"},
      {"hpn", "tor-0.1.2", ErrorCode::kNotFound, "ToRs are tor-0.0.0 to tor-2.1.1"},
      {"hpn", "host-0.0/rnic-1/port-2", ErrorCode::kNotFound, "port-0 to port-1"},
      {"hpn",
       "link(host-0.0/rnic-1/port-0, tor-0.1.1)",
       ErrorCode::kNotFound,
       "the cables of host-0.00/rnic-1 are link(host-0.00/rnic-1/port-0, tor-0.1.0) and "},
      {"hpn",
       "link(tor-0.1.1, agg-0.0)",
       ErrorCode::kNotFound,
       "tor-0.1.1 is cabled to agg-1.0 to"},
      {"rail-only",
       "link(tor-0.1, agg-0.3)",
       ErrorCode::kNotFound,
       "is cabled to agg-1.0 to agg-1.3"},
      {"rail-only", "core-0", ErrorCode::kInvalid, "write"},
      {"rail-only", "host-0.0/rnic-1/port-0", ErrorCode::kInvalid, "write"},
      {"three-tier", "core-8", ErrorCode::kNotFound, "core switches are core-0 to core-7"},
      {"three-tier",
       "agg-2.0",
       ErrorCode::kNotFound,
       "aggregation switches are agg-0.0 to agg-1.3"},
      {"three-tier",
       "link(agg-0.1, core-0)",
       ErrorCode::kNotFound,
       "agg-0.1 is cabled to core-2 to core-3"},
      {"bonds",
       "link(host-0.0/rnic-1, tor-0.1)",
       ErrorCode::kNotFound,
       "which of link(host-0.00/rnic-1/port-0, tor-0.1) and "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.preset + " " + c.text);
    const auto parsed = parse_component(small_fabric(c.preset), c.text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, c.code);
    EXPECT_THAT(parsed.error().detail, testing::HasSubstr(c.detail));
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
