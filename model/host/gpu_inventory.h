// Which GPUs of which host are free, and where a task's containers go.
//
// One GPU belongs to one RNIC.  A container takes an aligned block of 1, 2, 4 or 8 of them (those
// below one PCIe switch; the alignment is ours), so one host serves several tenants.  Blocks come
// from the fullest hosts first, hosts of equal room in the order of their ids: best fit keeps
// whole hosts free for containers that need one.
// Invariants: 1. free + used = total; 2. no GPU is in two blocks.
// Complexity: take() walks the hosts with room once; rare (a task is admitted), never per probe.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace bonescan {

/// RNICs [first_rail, first_rail + width) of a host, each with its GPU.
struct GpuBlock {
  HostId host;
  std::uint8_t first_rail = 0;
  std::uint8_t width = 0;

  auto operator<=>(const GpuBlock&) const = default;
};

class GpuInventory final {
 public:
  /// Nothing is offered yet.  REQUIRES: rails <= 16.
  GpuInventory(std::uint32_t host_count, std::uint32_t rails);

  /// All GPUs of a host are free from now on.  REQUIRES: called once a host.
  void offer(HostId host);

  std::uint32_t total() const { return total_; }

  std::uint32_t free() const { return free_; }

  std::uint32_t used() const { return total_ - free_; }

  /// Would that many blocks fit if everything were free?
  bool could_hold(std::uint32_t width, std::uint32_t count) const {
    return width <= rails_ && count <= std::uint64_t{total_ / rails_} * (rails_ / width);
  }

  /// `count` blocks, or nothing and no change if there are fewer.  Blocks of one host follow each
  /// other.  REQUIRES: width <= rails.
  std::optional<std::vector<GpuBlock>> take(std::uint32_t width, std::uint32_t count);

  /// REQUIRES: what take() gave and nobody gave back.
  void give_back(const GpuBlock& block);

 private:
  void set_mask(HostId host, std::uint16_t mask);

  std::uint32_t rails_;
  std::uint32_t total_ = 0;
  std::uint32_t free_ = 0;
  IdVector<HostId, std::uint16_t> free_masks_;
  std::vector<std::set<HostId>> hosts_by_free_;  ///< [number of free GPUs]
};

}  // namespace bonescan
