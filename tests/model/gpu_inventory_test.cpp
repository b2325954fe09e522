#include "model/host/gpu_inventory.h"

#include <vector>

namespace bonescan {
namespace {

GpuInventory four_hosts() {
  GpuInventory inventory(4, 8);
  for (std::uint32_t h = 0; h < 4; ++h) {
    inventory.offer(HostId(h));
  }
  return inventory;
}

TEST(GpuInventory, TakesWholeHostsInOrderAndGivesThemBack) {
  GpuInventory inventory = four_hosts();
  EXPECT_EQ(inventory.total(), 32u);
  const auto blocks = inventory.take(8, 2);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(*blocks, (std::vector<GpuBlock>{{HostId(0), 0, 8}, {HostId(1), 0, 8}}));
  EXPECT_EQ(inventory.used(), 16u);
  EXPECT_FALSE(inventory.take(8, 3)) << "all or nothing";
  EXPECT_EQ(inventory.used(), 16u);
  for (const GpuBlock& block : *blocks) {
    inventory.give_back(block);
  }
  EXPECT_EQ(inventory.free(), 32u);
  EXPECT_EQ(inventory.take(8, 4)->size(), 4u);
}

TEST(GpuInventory, FillsTheFullestHostThatHasRoom) {
  GpuInventory inventory = four_hosts();
  EXPECT_EQ(*inventory.take(4, 1), (std::vector<GpuBlock>{{HostId(0), 0, 4}}));
  EXPECT_EQ(*inventory.take(2, 1), (std::vector<GpuBlock>{{HostId(0), 4, 2}}));
  EXPECT_EQ(*inventory.take(4, 1), (std::vector<GpuBlock>{{HostId(1), 0, 4}}));
  EXPECT_EQ(*inventory.take(1, 3),
            (std::vector<GpuBlock>{{HostId(0), 6, 1}, {HostId(0), 7, 1}, {HostId(1), 4, 1}}));
  EXPECT_EQ(*inventory.take(8, 2), (std::vector<GpuBlock>{{HostId(2), 0, 8}, {HostId(3), 0, 8}}));
}

TEST(GpuInventory, TakesAlignedBlocksOnly) {
  GpuInventory inventory(1, 8);
  inventory.offer(HostId(0));
  const auto first = inventory.take(1, 8);
  ASSERT_TRUE(first);
  inventory.give_back((*first)[3]);
  inventory.give_back((*first)[4]);
  EXPECT_EQ(inventory.free(), 2u);
  EXPECT_FALSE(inventory.take(2, 1)) << "rails 3 and 4 are below two switches";
  inventory.give_back((*first)[5]);
  EXPECT_EQ(*inventory.take(2, 1), (std::vector<GpuBlock>{{HostId(0), 4, 2}}));
}

TEST(GpuInventory, HasNothingBeforeItIsOffered) {
  GpuInventory inventory(4, 8);
  EXPECT_EQ(inventory.total(), 0u);
  EXPECT_FALSE(inventory.take(1, 1));
}

}  // namespace
}  // namespace bonescan
