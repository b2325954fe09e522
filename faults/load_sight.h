// What the load of links does to a pair now, beside what it would do if nothing were wrong.
//
// The truth's prober is a closed form of loss and RTT that leaves load out; this adds it, for
// worlds whose links have one (LoadModel::kLinks): the same flows once on the ways, rates and
// queues that are, and once on those that were planned.  Both are looked at in one moment, so that
// what load does by itself is in both. Invariants: 1. in a world where nothing is wrong both are
// equal, bit for bit; 2. looking changes nothing.  Thread-compatible.
#pragma once

#include "faults/planned_routes.h"
#include "model/probe_path.h"
#include "model/workload/link_loads.h"
#include "model/world.h"

namespace bonescan {

struct MeanLoad {
  double pass_ratio = 1.0;  ///< round trip
  double wait_ns = 0.0;     ///< in the mean
};

struct LoadDifference {
  MeanLoad is;
  MeanLoad was;
};

class LoadSight final {
 public:
  /// REQUIRES: both outlive this.
  LoadSight(const World& world, const PlannedRoutes& planned);

  LoadSight(const LoadSight&) = delete;
  LoadSight& operator=(const LoadSight&) = delete;

  /// Before compare(): brings both to `now`.
  void look(Time now);

  /// REQUIRES: look() at this moment.
  LoadDifference compare(const ProbeSpec& spec) const;

 private:
  const World* world_;
  const PlannedRoutes* planned_;
  LinkLoads is_;
  LinkLoads was_;
  Time now_{};
};

}  // namespace bonescan
