// What a world is like now, as numbers that can be compared.
//
// Two worlds of the same options and seed, at the same time, are alike exactly if their prints are
// equal; so an effect that was taken back must leave the print of a twin that never had it.  The
// parts are kept apart so that a difference says where it is.  History is left out: versions of
// rules that are present again, gaps of clocks that tick again, counters of packets.
// Whoever adds state to World that a fault can change adds it here; a property test applies every
// effect there is and fails for one that the print does not see.
#pragma once

#include "model/world.h"

#include <cstdint>

namespace bonescan {

struct WorldFingerprint {
  std::uint64_t links = 0;       ///< loss, delay, queues, ports and exclusions of every link
  std::uint64_t routing = 0;     ///< salt and algorithm of every switch
  std::uint64_t rules = 0;       ///< OpenFlow rules that are not as they should be
  std::uint64_t tunnels = 0;     ///< routes, neighbours, VNIs, ports and spoof checks
  std::uint64_t eswitches = 0;   ///< entries and order
  std::uint64_t queues = 0;      ///< which switches take part in congestion control
  std::uint64_t containers = 0;  ///< states, and who is ready
  std::uint64_t processes = 0;   ///< agents, bridges and counters that stand still, flow limits
  std::uint64_t devices = 0;     ///< GID tables, PCIe slots and huge pages of hosts
  std::uint64_t flows = 0;       ///< where every megaflow is: eswitch, software, nowhere

  constexpr bool operator==(const WorldFingerprint&) const = default;

  std::uint64_t value() const;
};

/// REQUIRES: `now` is the time of the world's engine.
/// Complexity: all links, RNICs and quads.
WorldFingerprint world_fingerprint(const World& world, Time now);

}  // namespace bonescan
