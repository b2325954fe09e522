#include "detectors/backend_verbs/round_trip.h"

#include <algorithm>

namespace bonescan::verbs {
namespace {

/// Two oscillators differ by less than this, and reading the host's clock takes less than that.
constexpr std::int64_t kClockToleranceDivisor = 1000;
constexpr Duration kReadTolerance = std::chrono::microseconds(2);

std::optional<Duration> on_the_way(const DeviceClock& clock, const ProbeStamps& stamps) {
  const Duration host = stamps.handled - stamps.posted;
  if (host < Duration::zero()) {
    return std::nullopt;
  }
  if (!clock.device) {
    return host;
  }
  if (!stamps.sent.has_value()) {
    return std::nullopt;
  }
  const std::optional<Duration> device = elapsed(clock, *stamps.sent, stamps.received);
  // T2 and T5 lie between T1 and T6.
  if (!device.has_value() || *device > host + host / kClockToleranceDivisor + kReadTolerance) {
    return std::nullopt;
  }
  return device;
}

}  // namespace

std::optional<RoundTrip> round_trip(const DeviceClock& clock, const ProbeStamps& stamps) {
  const std::optional<Duration> away = on_the_way(clock, stamps);
  if (!away.has_value()) {
    return std::nullopt;
  }
  RoundTrip trip{.network = *away, .prober_delay = std::nullopt, .responder_delay = std::nullopt};
  if (clock.device) {
    const Duration host = stamps.handled - stamps.posted;
    trip.prober_delay = std::max(host - *away, Duration::zero());
  }
  if (stamps.responder_delay_ns.has_value()) {
    // Unsigned: a delay that no Duration can hold is refused as well.
    if (*stamps.responder_delay_ns > static_cast<std::uint64_t>(away->count())) {
      return std::nullopt;
    }
    trip.responder_delay = Duration(static_cast<std::int64_t>(*stamps.responder_delay_ns));
    trip.network -= *trip.responder_delay;
  }
  return trip;
}

}  // namespace bonescan::verbs
