// Switches that spread what they send over some of their uplinks alone.
//
// A switch that hashes as the tier before it did chooses among what that tier left to choose from:
// some of its uplinks get everything, the others nothing.  Nothing is lost, and nobody is late
// before the few cannot carry it; but paths show it.  Upwards none crosses the idle uplinks, though
// packets still come down over them, so these are in service.  Under a sound hash n choices all
// miss m of k uplinks with probability C(k, m) (1 - m/k)^n.
//
// Invariants: 1. nothing is said before all paths over the switch were traced anew, twice, some
// time apart: routing that has left a link at one end has not yet done so at the other; 2. an
// uplink that was never seen in use upwards is not judged.  Not in the paper's configuration.
// Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bonescan {

class SpreadWatch final {
 public:
  explicit SpreadWatch(PipelineState& state) : state_(&state) {}

  /// Once a turn, when it is known which links are out of service.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

 private:
  /// What a switch sends, when some of its uplinks get nothing of it.
  struct Spread {
    std::vector<ComponentId> idle;  ///< uplinks over which packets come down and none goes up
    std::uint32_t uplinks = 0;      ///< in service, the idle ones included
    std::uint32_t choices = 0;
    double nats = 0.0;         ///< against chance
    std::vector<PairId> left;  ///< pairs that went up over an idle one lately; ascending
  };

  struct Kept {
    IncidentIndex index = 0;
    DeviceId device;
    std::vector<ComponentId> idle;
    std::vector<PairId> left;
    std::size_t next = 0;  ///< of these, to be traced
  };

  /// Traces anew.  nullopt: it uses all of its uplinks, or too little is known.
  std::optional<Spread> look(Time now, DeviceId device);
  void report(Time now, DeviceId device, const Spread& spread);
  void watch_kept(Time now);

  PipelineState* state_;
  std::map<DeviceId, Time> suspected_;  ///< since when
  std::vector<Kept> kept_;
};

}  // namespace bonescan
