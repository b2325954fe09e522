#include "model/host/virtual_functions.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

namespace bonescan {

VirtualFunctions::VirtualFunctions(std::uint32_t rnic_count, std::uint32_t functions_per_rnic)
    : functions_per_rnic_(functions_per_rnic), taken_(rnic_count) {
  BONESCAN_CHECK(functions_per_rnic >= 1);
  BONESCAN_CHECK(functions_per_rnic <= kMaxVirtualFunctions);
}

tl::expected<std::uint8_t, VfRefusal> VirtualFunctions::allocate(RnicId rnic) {
  auto& taken = taken_[rnic];
  for (std::uint32_t function = 0; function < functions_per_rnic_; ++function) {
    if (!taken.test(function)) {
      taken.set(function);
      ++used_;
      return static_cast<std::uint8_t>(function);
    }
  }
  return tl::unexpected<VfRefusal>(VfRefusal::kExhausted);
}

void VirtualFunctions::release(RnicId rnic, std::uint8_t function) {
  BONESCAN_CHECK(is_used(rnic, function));
  taken_[rnic].reset(function);
  --used_;
}

std::string representor_name(std::uint32_t rail, std::uint8_t function) {
  return fmt::format("pf{}vf{}", rail, function);
}

GidTable draw_gid_table(std::uint64_t seed,
                        RnicId rnic,
                        std::uint32_t lease,
                        std::array<std::uint8_t, 4> overlay_address) {
  // First indexes that public reports of pods name.
  constexpr std::array<std::uint16_t, 3> kFirstIndexes = {4, 6, 12};
  const PhiloxCounter bits = RngStream(seed, Purpose::kGidLayout, rnic.index()).block(lease);
  GidTable table(kFirstIndexes[bits[0] % kFirstIndexes.size()]);
  const Gid mapped = ipv4_mapped_gid(overlay_address);
  const Gid local = link_local_gid(std::uint64_t{bits[2]} << 32 | bits[3]);
  const bool local_first = bits[1] % 2 == 0;
  table.add(local_first ? local : mapped);
  table.add(local_first ? mapped : local);
  return table;
}

}  // namespace bonescan
