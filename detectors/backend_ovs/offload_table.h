// Which table is expected to hold active flows: a property of a host's configuration.
#pragma once

#include <cstdint>

namespace bonescan::backend_ovs {

enum class OffloadTable : std::uint8_t {
  kNone,      ///< the datapath's own megaflows
  kTc,        ///< tc filters, in hardware or not
  kHardware,  ///< entries that the RNIC holds
};

}  // namespace bonescan::backend_ovs
