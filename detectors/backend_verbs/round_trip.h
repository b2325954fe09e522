// From the six timestamps of a probe to its round trip.
//
//   T1 posted, T2 on the wire        host, prober's device
//   T3 received, T4 answered         responder's device
//   T5 answer received, T6 handled   prober's device, host
//
// The network took (T5 - T2) - (T4 - T3); each difference is taken on one clock, so neither offset
// nor drift between clocks matters.  Without a device clock T2 is T1 and T5 is T6: a host cannot
// know when a packet left, and the time before the post is the one that can never make the round
// trip too short.  What the host spent is then inside, and the prober's delay is unknown.
// Timestamps that contradict each other are an error of this machine, never a small or negative
// round trip.
// @paper R-Pingmesh; @ours the bounds of the check
#pragma once

#include "detectors/backend_verbs/device_clock.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>

namespace bonescan::verbs {

struct ProbeStamps {
  Time posted{};                                                   ///< T1
  Time handled{};                                                  ///< T6
  std::optional<std::uint64_t> sent = std::nullopt;                ///< T2, device clocks only
  std::uint64_t received = 0;                                      ///< T5, device clocks only
  std::optional<std::uint64_t> responder_delay_ns = std::nullopt;  ///< T4 - T3
};

struct RoundTrip {
  Duration network{};  ///< with the responder's delay inside if that is unknown
  std::optional<Duration> prober_delay;
  std::optional<Duration> responder_delay;
};

/// @errors nullopt: the stamps contradict each other
std::optional<RoundTrip> round_trip(const DeviceClock& clock, const ProbeStamps& stamps);

}  // namespace bonescan::verbs
