// Things that look like failures and are not.  Placed by seed, on in every accuracy run.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

struct ConfounderOptions {
  double late_start_share = 0.0;  ///< share of containers that become ready late
  Duration late_start_delay = std::chrono::minutes(4);
  std::uint32_t agent_crashes = 0;  ///< agents that die and come back, spread over the run
  Duration agent_down = std::chrono::seconds(40);
  double congestion_per_minute =
      0.0;  ///< congestion bursts, each on one ToR-aggregation link, one way
  Duration congestion_length = std::chrono::seconds(4);
  Duration congestion_queue = std::chrono::microseconds(15);  ///< mean extra queueing
};

}  // namespace bonescan
