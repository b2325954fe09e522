// Whoever brings the world forward: the probes, which must be evaluated on the way.
#pragma once

#include "sim/base/units.h"

namespace bonescan {

class WorldClock {
 public:
  WorldClock() = default;
  WorldClock(const WorldClock&) = delete;
  WorldClock& operator=(const WorldClock&) = delete;
  virtual ~WorldClock() = default;

  /// Brings the world to `now`; nothing happens if it is there already.
  virtual void advance(Time now) = 0;
};

}  // namespace bonescan
