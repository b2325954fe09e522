// The frame that an RNIC would send for a packet of the packet mode.
//
// Addresses are those of the world (overlay inside, tunnel outside); MAC addresses, queue pairs and
// keys are made up from ids, so equal worlds give equal bytes.  The outer source port is a hash of
// the inner flow: one flow, one path.  Immutable, so safe to share between threads.
#pragma once

#include "model/packet_mode/frames.h"
#include "model/packet_mode/packet.h"
#include "model/world.h"

#include <cstdint>

namespace bonescan {

class Framer final {
 public:
  explicit Framer(const World& world);

  FrameBytes frame(const Packet& packet) const;

 private:
  struct Addresses {
    MacAddress inner_mac{};
    MacAddress outer_mac{};
    std::uint32_t inner_ip = 0;
    std::uint32_t outer_ip = 0;
  };

  std::uint16_t vxlan_port_;
  std::uint32_t vni_;
  IdVector<RnicId, Addresses> addresses_;
};

}  // namespace bonescan
