#include "model/host/gpu_inventory.h"

#include "sim/base/check.h"

#include <bit>

namespace bonescan {
namespace {

std::uint16_t mask_of(std::uint32_t first_rail, std::uint32_t width) {
  return static_cast<std::uint16_t>(((1u << width) - 1) << first_rail);
}

}  // namespace

GpuInventory::GpuInventory(std::uint32_t host_count, std::uint32_t rails)
    : rails_(rails), free_masks_(host_count), hosts_by_free_(rails + 1) {
  BONESCAN_CHECK(rails <= 16);
}

void GpuInventory::set_mask(HostId host, std::uint16_t mask) {
  const auto before = static_cast<std::size_t>(std::popcount(free_masks_[host]));
  const auto after = static_cast<std::size_t>(std::popcount(mask));
  hosts_by_free_[before].erase(host);
  if (after > 0) {
    hosts_by_free_[after].insert(host);
  }
  free_masks_[host] = mask;
  free_ += static_cast<std::uint32_t>(after);
  free_ -= static_cast<std::uint32_t>(before);
}

void GpuInventory::offer(HostId host) {
  BONESCAN_CHECK(free_masks_[host] == 0);
  total_ += rails_;
  set_mask(host, mask_of(0, rails_));
}

std::optional<std::vector<GpuBlock>> GpuInventory::take(std::uint32_t width, std::uint32_t count) {
  BONESCAN_CHECK(width >= 1 && width <= rails_);
  std::vector<GpuBlock> blocks;
  if (free_ < std::uint64_t{width} * count) {
    return std::nullopt;
  }
  for (std::size_t room = width; room < hosts_by_free_.size() && blocks.size() < count; ++room) {
    for (const HostId host : hosts_by_free_[room]) {
      for (std::uint32_t rail = 0; rail + width <= rails_ && blocks.size() < count; rail += width) {
        const std::uint16_t mask = mask_of(rail, width);
        if ((free_masks_[host] & mask) == mask) {
          blocks.push_back(
              {host, static_cast<std::uint8_t>(rail), static_cast<std::uint8_t>(width)});
        }
      }
      if (blocks.size() == count) {
        break;
      }
    }
  }
  if (blocks.size() < count) {
    return std::nullopt;
  }
  for (const GpuBlock& block : blocks) {
    const int left = free_masks_[block.host] & ~mask_of(block.first_rail, block.width);
    set_mask(block.host, static_cast<std::uint16_t>(left));
  }
  return blocks;
}

void GpuInventory::give_back(const GpuBlock& block) {
  const std::uint16_t mask = mask_of(block.first_rail, block.width);
  BONESCAN_CHECK((free_masks_[block.host] & mask) == 0);
  set_mask(block.host, static_cast<std::uint16_t>(free_masks_[block.host] | mask));
}

}  // namespace bonescan
