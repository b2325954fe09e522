// SR-IOV: the virtual functions of every RNIC, and who may have one.
//
// A physical function offers up to 128 virtual functions [quoted: SIGCOMM 2025, measured
// environment]; each has a representor on the host's bridge and a GID table of its own.  With
// virtual functions enabled the physical function runs no RDMA, which is why probes come from
// inside containers.  Allocation takes the lowest free number (ours).
// Invariants: 1. a function is allocated at most once at a time; 2. used() counts exactly those.
#pragma once

#include "model/fabric/fabric.h"
#include "model/host/gid_table.h"

#include <tl/expected.hpp>

#include <bitset>
#include <cstdint>
#include <string>

namespace bonescan {

constexpr std::uint32_t kMaxVirtualFunctions = 128;

enum class VfRefusal : std::uint8_t {
  kExhausted,  ///< every virtual function of the RNIC is in use
};

class VirtualFunctions final {
 public:
  /// REQUIRES: 1 <= functions_per_rnic <= kMaxVirtualFunctions.
  VirtualFunctions(std::uint32_t rnic_count, std::uint32_t functions_per_rnic);

  std::size_t used(RnicId rnic) const { return taken_[rnic].count(); }

  /// Of all RNICs.
  std::size_t used() const { return used_; }

  bool is_used(RnicId rnic, std::uint8_t function) const { return taken_[rnic].test(function); }

  /// The number of a function that was free.
  tl::expected<std::uint8_t, VfRefusal> allocate(RnicId rnic);

  /// REQUIRES: is_used(rnic, function).
  void release(RnicId rnic, std::uint8_t function);

 private:
  std::uint32_t functions_per_rnic_;
  std::size_t used_ = 0;
  IdVector<RnicId, std::bitset<kMaxVirtualFunctions>> taken_;
};

/// Port of the host's bridge that stands for a virtual function: "pf3vf17".
std::string representor_name(std::uint32_t rail, std::uint8_t function);

/// The GID table of a new virtual function: where it begins and in which order its addresses stand
/// is drawn per (seed, rnic, lease).
GidTable draw_gid_table(std::uint64_t seed,
                        RnicId rnic,
                        std::uint32_t lease,
                        std::array<std::uint8_t, 4> overlay_address);

}  // namespace bonescan
