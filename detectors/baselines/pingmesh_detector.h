// Pingmesh's alarm: a pair's loss ratio and its 99th percentile against constants.
//
// Rough model: counts of one tumbling window; a verdict at its end, so the delay is half a window
// and one window at worst.
// As published (@paper Guo et al., SIGCOMM 2015; quoted from memory, unverified): loss ratio above
// 1e-3 or P99 above 5 ms is a problem, looked at every 5 min for near-real-time alarms.  `roce()`
// takes the constants of an open R-Pingmesh implementation for RoCE instead: 2 % and 500 us, 30 s.
// Our reading: published thresholds are applied to a service's servers together; here the unit is a
// pair.  A lost probe is one without an answer; there are no TCP retransmissions to count.
#pragma once

#include "detectors/baselines/pair_tallies.h"

#include <string_view>
#include <vector>

namespace bonescan {

struct PingmeshOptions {
  Duration window = std::chrono::minutes(5);
  double loss_ratio = 1e-3;                     ///< above it: anomalous
  Duration p99 = std::chrono::milliseconds(5);  ///< above it: anomalous
  std::uint32_t least_probes = 10;              ///< fewer say nothing  @ours
  std::string_view name = "pingmesh";

  static PingmeshOptions roce() {
    return {.window = std::chrono::seconds(30),
            .loss_ratio = 0.02,
            .p99 = std::chrono::microseconds(500),
            .least_probes = 10,
            .name = "pingmesh-roce"};
  }
};

class PingmeshDetector final : public Detector {
 public:
  explicit PingmeshDetector(const PingmeshOptions& options = {});

  std::string_view name() const override { return options_.name; }

  void resize(std::size_t pairs) override { tallies_.resize(pairs); }
  void set_class(PairId, std::uint8_t) override {}
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override { tallies_.release(pairs); }

 private:
  PingmeshOptions options_;
  PairTallies tallies_;
  TumblingClock clock_;
};

}  // namespace bonescan
