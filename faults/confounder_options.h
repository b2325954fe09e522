// Things that look like failures and are not.  Placed by seed, on in every accuracy run.
//
// Rates count per entity and time, so that one file fits networks of any size and runs of any
// length: a run of minutes sees few of them, a campaign of days all.  Months have 30 days.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Uniform between the two.
template <class V>
struct Between {
  V least;
  V most;
};

struct ConfounderOptions {
  double late_start_share = 0.0;  ///< share of containers that become ready late
  Duration late_start_delay = std::chrono::minutes(4);
  std::uint32_t agent_crashes = 0;  ///< agents that die and come back, spread over the run
  double agent_crashes_per_host_day = 0.0;
  Duration agent_down = std::chrono::seconds(40);
  double congestion_per_minute =
      0.0;  ///< congestion bursts, each on one ToR-aggregation link, one way
  double congestion_per_link_hour = 0.0;  ///< the same, of each direction of each cable
  Duration congestion_length = std::chrono::seconds(4);
  Duration congestion_queue = std::chrono::microseconds(15);  ///< mean extra queueing

  double times = 1.0;  ///< all rates per entity are so many times as high

  Duration upgrade_first{};  ///< zero: by seed, anywhere in the first `upgrade_every`
  Duration upgrade_every{};  ///< zero: never again, or never at all without a first one
  Duration upgrade_over = std::chrono::minutes(10);  ///< each agent once in this time
  Duration upgrade_down = std::chrono::seconds(5);

  double rehashes_per_switch_day = 0.0;  ///< a switch hashes in another way from then on

  double work_per_host_month = 0.0;  ///< planned: the host is down
  double work_per_cable_month = 0.0;
  Duration work_length = std::chrono::minutes(10);
  Duration work_margin = std::chrono::minutes(1);  ///< declared before and after it

  double slow_code_per_container_day = 0.0;
  Between<double> slow_code_slowdown{.least = 0.1, .most = 0.6};  ///< of a step
  Between<Duration> slow_code_length{.least = std::chrono::minutes(10),
                                     .most = std::chrono::minutes(72)};

  double gpu_faults_per_gpu_day = 0.0;  ///< the whole job stands still
  Duration gpu_fault_silence = std::chrono::minutes(5);
  std::vector<Duration> gpu_fault_moments{};  ///< of the first job, ascending: of a recorded trace

  double task_stops_per_job_day = 0.0;  ///< of jobs after the first one
};

}  // namespace bonescan
