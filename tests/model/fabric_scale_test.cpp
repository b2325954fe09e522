// Fabrics of real size: what they cost to build, and the figures that their publications give.
#include "model/world.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <sys/resource.h>

namespace bonescan {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Most memory that the process has ever used.
double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

FabricOptions four_thousand_hosts() {
  FabricOptions options;
  options.segments = 32;
  options.hosts_per_segment = 128;
  return options;
}

TEST(FabricScale, BuildsThousandsOfHostsInTwoSecondsAndAGibibyte) {
  struct Case {
    std::string name;
    FabricOptions options;
    std::uint32_t rnics;
  };
  const std::vector<Case> cases = {
      {"rail-optimized, 4,096 hosts x 8", four_thousand_hosts(), 32'768},
      {"hpn pod, 15 x (128 + 8) hosts x 8", preset_options(FabricPreset::kHpn), 16'320}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto start = std::chrono::steady_clock::now();
    Engine engine;
    WorldOptions options;
    options.fabric = c.options;
    const World world(options, engine);
    const double build_s = seconds_since(start);
    const Fabric& fabric = world.fabric();
    EXPECT_EQ(fabric.rnic_count(), c.rnics);
    std::printf("%s: %u RNICs, %u switches, %u cables: built in %.3f s, peak %.0f MiB\n",
                c.name.c_str(),
                fabric.rnic_count(),
                fabric.switch_count(),
                fabric.cable_count(),
                build_s,
                peak_mebibytes());
    // Instrumented builds are slower; the reference build takes a tenth of this.
    EXPECT_LT(build_s, 2.0);
    EXPECT_LT(peak_mebibytes(), 1024.0);
  }
}

/// @paper HPN: 15,360 GPUs, 16 ToRs a segment, 1.067:1 at the ToR (quoted)
TEST(FabricScale, HpnHasThePublishedFigures) {
  const Fabric fabric(preset_options(FabricPreset::kHpn));
  EXPECT_EQ(15u * 128u * 8u, 15'360u);
  EXPECT_EQ(fabric.rnic_count(), 15'360u + 15u * 8u * 8u) << "with 8 spare hosts a segment";
  EXPECT_EQ(fabric.tor_count(), 15u * 16u);
  EXPECT_EQ(fabric.aggregation_count(), 120u);
  EXPECT_NEAR(fabric.tor_oversubscription(), 1.067, 0.001);
  EXPECT_EQ(fabric.rate(fabric.access_cable(RnicId(0), 1)), BitsPerSecond(200'000'000'000));
  EXPECT_EQ(fabric.rate(fabric.fabric_cable(SwitchId(0), 59)), BitsPerSecond(400'000'000'000));
}

TEST(FabricScale, OversubscriptionFollowsFromCountsAndRates) {
  FabricOptions options;
  options.preset = FabricPreset::kThreeTier;
  options.hosts_per_segment = 32;
  options.rails = 4;
  options.segments_per_pod = 2;
  options.aggregation_switches = 8;
  options.core_switches = 32;
  options.fabric.rate = BitsPerSecond(800'000'000'000);
  const Fabric fabric(options);
  EXPECT_DOUBLE_EQ(fabric.tor_oversubscription(), 32 * 400.0 / (8 * 800.0));
  EXPECT_DOUBLE_EQ(fabric.aggregation_oversubscription(), 8 * 800.0 / (4 * 400.0));
  EXPECT_EQ(Fabric(FabricOptions{}).aggregation_oversubscription(), 0.0);
}

}  // namespace
}  // namespace bonescan
