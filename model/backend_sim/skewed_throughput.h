// Byte counters that are not read on the full second: every RNIC's sampler has a phase of its own,
// its ticks jitter, and some do not happen.
//
// A counter goes on counting, so after a missed reading the next one covers two intervals.  Whoever
// compares RNICs second by second has to live with all of that: bursts move between the seconds,
// and a step time of a second or less vanishes in the sum, aligned or not. Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/telemetry_channel_options.h"
#include "model/backend_sim/world_clock.h"
#include "model/probe_path.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class SkewedThroughput final : public Throughput {
 public:
  SkewedThroughput(World& world,
                   const EndpointMap& endpoints,
                   WorldClock& clock,
                   const TelemetryChannelOptions& options);

  void collect(Time now, std::vector<ThroughputSample>& samples) override;

 private:
  struct Sampler {
    Duration phase{};
    std::int64_t next = 1;  ///< tick
    Time read = kStartOfRun;
  };

  /// Samplers for the endpoints that have come since.
  void follow_directory();
  void sample(EndpointId endpoint, Time now, std::vector<ThroughputSample>& samples);
  /// When the tick happens, and whether it does.
  Time moment(EndpointId endpoint, std::int64_t tick, bool& missed) const;

  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  TelemetryChannelOptions options_;
  IdVector<EndpointId, Sampler> samplers_;
  Time collected_until_ = kStartOfRun;
};

}  // namespace bonescan
