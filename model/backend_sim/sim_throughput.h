// Byte counters of RNICs, read once a period: all at once, or by samplers that are out of step.
//
// Aligned samplers read on the full period, and RNICs of one traffic class are read together.  If
// samplers have phases, jitter, dither or miss readings, each RNIC's is on its own.  A counter goes
// on counting, so after a missed reading the next one covers two intervals.  Whoever compares RNICs
// second by second has to live with all of that: bursts move between the seconds, and a step time
// of a second or less vanishes in the sum, aligned or not, unless the readings are dithered or
// closer together.  What is read is the job's bytes times a log-normal error of the sensor, plus
// what goes on besides the job: white, its mean three deviations, never less than nothing.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/telemetry_channel_options.h"
#include "model/backend_sim/world_clock.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class SimThroughput final : public Throughput {
 public:
  SimThroughput(World& world,
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

  void collect_aligned(Time now, std::vector<ThroughputSample>& samples);
  void collect_each(Time now, std::vector<ThroughputSample>& samples);
  /// Samplers for the endpoints that have come since.
  void follow_directory();
  void sample(EndpointId endpoint, Time now, std::vector<ThroughputSample>& samples);
  /// When the tick happens, and whether it does.
  Time moment(EndpointId endpoint, std::int64_t tick, bool& missed) const;
  /// What the sensor of `rnic` says at `at` of `bytes` in `length`.
  std::uint64_t sensed(RnicId rnic, Time at, Duration length, double bytes) const;

  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  TelemetryChannelOptions options_;
  std::vector<std::vector<double>> class_bytes_;  ///< scratch of collect_aligned(), by job
  IdVector<EndpointId, Sampler> samplers_;        ///< of collect_each()
  Time collected_until_ = kStartOfRun;
};

}  // namespace bonescan
