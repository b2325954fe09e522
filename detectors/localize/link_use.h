// How many known paths cross each link, and which links they are leaving.
//
// Routing that takes a link out of service moves its paths elsewhere and nothing is lost any more:
// only the paths still tell.  A switch that hashes anew moves paths off a link and others onto it,
// so paths that leave one after the other while none comes are worth a look.  A port that is down
// carries neither direction; a switch that hashes badly sends nothing upwards over a link that
// still brings it packets.  Both are told. Invariant: the counts are those of the paths that were
// added and not removed.  Thread-compatible.
#pragma once

#include "detectors/telemetry/inspection.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class LinkUse final {
 public:
  void add(const TracedPath& path);

  void remove(const TracedPath& path);

  /// A pair goes another way now.
  void move(const TracedPath& from, const TracedPath& to);

  /// Crossings of known paths, there and back.
  std::uint32_t over(ComponentId link) const {
    return link.index() < links_.size() ? links_[link.index()].crossings : 0;
  }

  /// Of these, away from the hosts.
  std::uint32_t up(ComponentId link) const {
    return link.index() < links_.size() ? links_[link.index()].up : 0;
  }

  /// Links that lost kFewestLeft crossings by moves and gained none meanwhile, since the last call.
  std::vector<ComponentId> take_left();

  /// The same of crossings away from the hosts alone.
  std::vector<ComponentId> take_left_up();

 private:
  /// @ours
  static constexpr std::uint32_t kFewestLeft = 4;

  struct Link {
    std::uint32_t crossings = 0;
    std::uint32_t up = 0;
    std::uint32_t left = 0;  ///< since one came
    std::uint32_t left_up = 0;
  };

  Link& at(ComponentId link);

  std::vector<Link> links_;  ///< by component
  std::vector<ComponentId> left_;
  std::vector<ComponentId> left_up_;
};

}  // namespace bonescan
