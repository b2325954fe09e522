// The clocks of the hosts: how far each is off, as a closed form of time.
//
//   offset(host, t) = standing offset + wander(t) + drift * (t - start of holdover) + step(t)
//
// A host that is disciplined by PTP stands a little off and wanders slowly around that; one in
// holdover (its grandmaster or its port is gone) runs away at the error of its oscillator.  Now and
// then a clock steps, and PTP takes the step back a while later.
// What an offset does: it shifts the times in the records of that host, so visits move to another
// window, samples and events to another second.  What it does not do: an agent measures round trips
// with a clock that is never set (CLOCK_MONOTONIC, or the RNIC's free-running one), each difference
// on one clock, so a step inside a round trip is not in it, and none is ever negative.  Only the
// oscillator's error is: 50 ppm of 20 us are 1 ps.
// With the host's clock in place of the RNIC's, the time until the agent runs is part of it.
// All numbers are ours; the published system says only that its clocks are PTP-synchronised.
// Invariants: 1. the same seed gives the same clocks; 2. options that are not set change nothing.
// Thread-safe (immutable).
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

/// What takes the timestamps of probes.
enum class TimestampTaker : std::uint8_t {
  kModel,  ///< ideal, and the records do not say
  kHost,
  kRnic
};

struct HostClockOptions {
  Duration offset{};                                   ///< standard deviation of standing offsets
  Duration wander{};                                   ///< amplitude of the slow wander
  Duration wander_period = std::chrono::seconds(100);  ///< its mean period
  double drift_ppm = 0.0;                              ///< standard deviation of oscillators
  double holdover_share = 0.0;                         ///< hosts without PTP
  Duration holdover_from{};                            ///< since then
  Duration step{};                                     ///< largest step, either way
  Duration step_period = std::chrono::minutes(10);     ///< one in each such period of a host
  Duration step_lasts = std::chrono::seconds(20);      ///< until PTP takes it back
  TimestampTaker timestamps = TimestampTaker::kModel;
  Duration scheduling = std::chrono::microseconds(3);  ///< mean wait of an agent for a processor

  /// Are the times in records those of the run?
  bool exact() const {
    return offset == Duration::zero() && wander == Duration::zero() && holdover_share == 0.0 &&
           step == Duration::zero();
  }
};

class HostClocks final {
 public:
  HostClocks(const HostClockOptions& options, std::uint64_t seed)
      : options_(options), seed_(seed) {}

  const HostClockOptions& options() const { return options_; }

  /// What the host's clock shows at `t`, minus `t`.
  Duration offset(HostId host, Time t) const;

  Time shown(HostId host, Time t) const { return t + offset(host, t); }

  /// Seconds that the host's oscillator gains in a second, whoever disciplines its clock.
  double rate_error(HostId host) const;

  bool in_holdover(HostId host) const;

  /// A true duration as the host's free-running clock measures it.  Never negative.
  Duration measured(HostId host, Duration true_duration) const;

 private:
  Duration step_at(HostId host, Time t) const;

  HostClockOptions options_;
  std::uint64_t seed_;
};

}  // namespace bonescan
