// From counters to series that can be compared: gaps filled, rails averaged, outliers masked.
//
// Intuition: the rails of a host whose tensor parallelism fills it are one stage and one replica,
// so their mean shows the same burst with an eighth of the noise power (+9 dB).  Whether that is so
// is asked of the data: a rail must resemble its own host as much as it resembles its best match
// elsewhere, the match being chosen on one half of the record and judged on the other.  If not,
// every member stands for itself.
// A moment at which the whole job is far above its bursts (a checkpoint, an evaluation) says
// nothing about stages and is masked.
// Invariant: units are in an order that their traffic alone decides, so that nothing downstream can
// depend on names or on the order of hosts and members.
#pragma once

#include "skeleton/matrix.h"
#include "skeleton/traffic_record.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

struct TrafficUnits {
  std::vector<std::vector<std::uint32_t>> members{};  ///< by unit: indices into the record
  FloatMatrix series{};                               ///< by unit: bytes per second
  bool host_averaged = false;
  std::size_t unknown_members = 0;  ///< too little was reported of them
};

/// Share of a row that may be missing before its member is unknown. @ours
inline constexpr double kMissingLimit = 0.25;

TrafficUnits traffic_units(const TrafficRecord& record);

}  // namespace bonescan
