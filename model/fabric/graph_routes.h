// Shortest ways through a network that is no preset, computed once.
//
// For every ToR the distance of every switch to it; at each switch a flow takes one of the cables
// that lead nearer, by the hash of that switch among those that are used (LinkTable::excluded).
// Distances do not change when cables go down: a switch all of whose cables towards a ToR are dead
// drops what comes for it, as a network does whose routing protocol has no better information.
// Memory: a byte per ToR and switch.  Thread-compatible.
#pragma once

#include "model/fabric/ecmp_hash.h"
#include "model/fabric/fabric.h"
#include "model/fabric/link_table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

class GraphRoutes final {
 public:
  /// REQUIRES: a graph that graph_fabric() has checked.
  explicit GraphRoutes(const Fabric& fabric);

  /// Appends the links from one ToR to another.
  void append_path(SwitchId from,
                   SwitchId to,
                   std::uint64_t flow,
                   std::span<const SwitchHash> hashes,
                   const LinkTable& links,
                   LinkPath& path) const;

  /// Cables between two switches on a shortest way; 255 if there is none.
  std::uint8_t distance(SwitchId from, SwitchId tor) const {
    return distances_[tor.index() * exits_.size() + from.index()];
  }

  static constexpr std::uint8_t kUnreachable = 255;
  /// Six links in all, less the two of access.
  static constexpr std::uint8_t kFarthest = 4;

 private:
  struct Exit {
    SwitchId to;
    LinkId link;
  };

  void measure(SwitchId tor);

  std::vector<std::vector<Exit>> exits_;  ///< by switch, in the order of cables
  std::vector<std::uint8_t> distances_;   ///< [ToR][switch]
};

}  // namespace bonescan
