// Tunnels and ports between bridges and wire, by themselves.
#include "model/overlay/tunnel_state.h"

#include <gtest/gtest.h>

namespace bonescan {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kMtu = 1'600;
constexpr RnicId kSource(1);
constexpr RnicId kTarget(6);
constexpr RnicId kOther(4);

struct Bench {
  Fabric fabric{{.segments = 2, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 2}};
  TunnelState tunnels{fabric, kMtu};
  HostId host = fabric.host_of(kSource);
};

constexpr Time kWhen = kStartOfRun + seconds(10);

TEST(TunnelState, HasItsVersionsFromTheMomentOfTheirChange) {
  Bench bench;
  EXPECT_FALSE(bench.tunnels.changed(bench.host));
  bench.tunnels.change({bench.host, TunnelPart::kRoute, kTarget}, TunnelFault::kNoRoute, kWhen);
  bench.tunnels.change(
      {bench.host, TunnelPart::kRoute, kTarget}, TunnelFault::kNone, kWhen + seconds(5));
  EXPECT_TRUE(bench.tunnels.changed(bench.host));
  struct Case {
    Time at;
    TunnelFault fault;
  };
  for (const Case& c : {Case{kWhen - Duration(1), TunnelFault::kNone},
                        Case{kWhen, TunnelFault::kNoRoute},
                        Case{kWhen + seconds(5) - Duration(1), TunnelFault::kNoRoute},
                        Case{kWhen + seconds(5), TunnelFault::kNone}}) {
    EXPECT_EQ(bench.tunnels.fault(kSource, kTarget, c.at), c.fault) << nanoseconds(c.at);
    EXPECT_EQ(bench.tunnels.fault(kTarget, kSource, c.at), TunnelFault::kNone) << "the way back";
    EXPECT_EQ(bench.tunnels.fault(kSource, kOther, c.at), TunnelFault::kNone) << "another VTEP";
  }
}

TEST(TunnelState, MissesTheFirstThingOnTheWay) {
  Bench bench;
  const auto fault = [&] { return bench.tunnels.fault(kSource, kTarget, kWhen); };
  bench.tunnels.change({bench.host, TunnelPart::kVni, kSource}, TunnelFault::kWrongVni, kWhen);
  EXPECT_EQ(fault(), TunnelFault::kWrongVni);
  bench.tunnels.change(
      {bench.host, TunnelPart::kNeighbour, kTarget}, TunnelFault::kNoNeighbour, kWhen);
  EXPECT_EQ(fault(), TunnelFault::kNoNeighbour);
  bench.tunnels.change({bench.host, TunnelPart::kRoute, kTarget}, TunnelFault::kNoRoute, kWhen);
  EXPECT_EQ(fault(), TunnelFault::kNoRoute);
}

// 102 bytes of headers: 52 of the probe's own (IPv4, UDP, BTH, DETH, ICRC) and 50 of the tunnel's.
TEST(TunnelState, PassesPacketsUpToTheSmallerMtu) {
  EXPECT_EQ(kProbeHeaderBytes + kTunnelHeaderBytes, 102u);
  struct Case {
    std::uint32_t source_mtu;  // 0: that of all
    std::uint32_t target_mtu;
    std::uint32_t largest;
  };
  for (const Case& c : {Case{0, 0, kMtu - 102},
                        Case{1'500, 0, 1'398},
                        Case{0, 1'500, 1'398},
                        Case{1'500, 1'450, 1'348},
                        Case{9'000, 0, kMtu - 102}}) {
    Bench bench;
    bench.tunnels.set_mtu(kSource, c.source_mtu);
    bench.tunnels.set_mtu(kTarget, c.target_mtu);
    for (const auto& [from, to] : {std::pair{kSource, kTarget}, std::pair{kTarget, kSource}}) {
      EXPECT_TRUE(bench.tunnels.passes(from, to, c.largest)) << c.source_mtu;
      EXPECT_FALSE(bench.tunnels.passes(from, to, c.largest + 1)) << c.source_mtu;
    }
    EXPECT_TRUE(bench.tunnels.passes(kOther, RnicId(0), kMtu - 102));
    bench.tunnels.set_mtu(kSource, 0);
    bench.tunnels.set_mtu(kTarget, 0);
    EXPECT_TRUE(bench.tunnels.passes(kSource, kTarget, kMtu - 102));
  }
}

TEST(TunnelState, BadChecksumsLoseWhatTheRnicSendsAndNothingElse) {
  Bench bench;
  bench.tunnels.begin_bad_checksums(kSource);
  bench.tunnels.begin_bad_checksums(kSource);
  EXPECT_FALSE(bench.tunnels.passes(kSource, kTarget, 64));
  EXPECT_TRUE(bench.tunnels.passes(kTarget, kSource, 64));
  bench.tunnels.end_bad_checksums(kSource);
  EXPECT_FALSE(bench.tunnels.passes(kSource, kTarget, 64)) << "two asked for it";
  bench.tunnels.end_bad_checksums(kSource);
  EXPECT_TRUE(bench.tunnels.passes(kSource, kTarget, 64));
}

TEST(TunnelState, SaysInATracesWordsWhatATraceSays) {
  for (const TunnelFault silent : {TunnelFault::kNone, TunnelFault::kWrongMac}) {
    EXPECT_EQ(trace_words(silent), "");
  }
  EXPECT_EQ(trace_words(TunnelFault::kNoRoute), "native tunnel routing failed");
  EXPECT_NE(trace_words(TunnelFault::kNoNeighbour).find("neighbor cache miss"), std::string::npos);
}

}  // namespace
}  // namespace bonescan
