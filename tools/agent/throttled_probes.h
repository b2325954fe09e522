// Probes within a rate: what is beyond it is not sent, and recorded as throttled.
//
// Stands between the pipeline and the device.  A visit is sent whole or not at all; those that are
// left out change from turn to turn, so that no pair is starved.  A visit that is due in the past,
// because the agent was held up for longer than a visit period, is left out as well: probing what
// was missed in a burst would measure the burst.
// Invariants: 1. over any second at most probes_per_second * rate_ratio probes and one burst are
// passed on, the burst being one turn's share and one visit; 2. every submitted visit is
// collected once, in the order of the seam. Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "tools/agent/agent_clock.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class ThrottledProbes final : public Probes {
 public:
  /// REQUIRES: both outlive it.
  /// @param period of the calls of submit()
  ThrottledProbes(Probes& inner, const AgentClock& clock, Duration period)
      : inner_(inner), clock_(clock), period_(period) {}

  /// @units probes per second of all endpoints together
  void set_rate(double probes_per_second) { rate_ = probes_per_second; }

  /// From now on nothing is sent, and what is submitted is forgotten.
  void close() { closed_ = true; }

  std::uint64_t throttled() const { return throttled_; }

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

 private:
  /// Whether the visit may go out now; takes its probes from the budget.
  bool admit(const ProbeRequest& request, Time now);

  Probes& inner_;
  const AgentClock& clock_;
  Duration period_;
  double rate_ = 1e9;
  double budget_ = 0.0;
  bool closed_ = false;
  std::size_t first_ = 0;  ///< where the next turn begins to hand out its budget
  std::uint64_t throttled_ = 0;
  std::vector<ProbeRequest> passed_;
  std::vector<ProbeRequest> left_out_;  ///< not yet collected, by start
};

}  // namespace bonescan
