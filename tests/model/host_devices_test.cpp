#include "model/host/host_devices.h"

#include <gtest/gtest.h>

namespace bonescan {
namespace {

// 16 x 32 GT/s x 128/130 x 256/282
TEST(HostDevices, KnowsWhatASlotCarries) {
  EXPECT_NEAR(pcie_bits_per_second(16, 32.0) / 1e9, 457.64, 0.01);
  EXPECT_NEAR(pcie_bits_per_second(8, 32.0) / pcie_bits_per_second(16, 32.0), 0.5, 1e-12);
}

TEST(HostDevices, TakesTheSlowestGenerationThatCarriesThePorts) {
  struct Case {
    std::int64_t gbps;
    double speed_gts;
  };
  for (const Case& c : {Case{25, 8.0},
                        Case{100, 8.0},
                        Case{200, 16.0},
                        Case{400, 32.0},
                        Case{800, 64.0},
                        Case{1'600, 128.0},
                        Case{6'400, 128.0}}) {
    EXPECT_EQ(pcie_speed_gts(BitsPerSecond(c.gbps * 1'000'000'000)), c.speed_gts) << c.gbps;
  }
}

TEST(HostDevices, BoundsThePortsByTheSlotOnlyWhereItIsSlower) {
  FabricOptions options;
  options.link_rate = BitsPerSecond(50'000'000'000);  // 114 Gb/s in 16 lanes
  const Fabric fabric(options);
  HostDevices devices(fabric);
  const RnicId rnic(1);
  EXPECT_EQ(devices.slot_ratio(rnic), 1.0);
  devices.begin_width(rnic, 8);
  EXPECT_EQ(devices.slot_ratio(rnic), 1.0) << "57 Gb/s are enough";
  devices.begin_width(rnic, 4);
  EXPECT_NEAR(devices.slot_ratio(rnic), 0.572, 0.001);
  EXPECT_EQ(devices.slot_ratio(RnicId(0)), 1.0);
}

}  // namespace
}  // namespace bonescan
