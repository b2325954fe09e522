// Two readings of one table, held side by side: which entries carry traffic?
//
// Intuition: an entry that was used long ago still shows its bytes while probes keep it alive, so
// what counts is what came on top between two readings; of an entry that is new, or that started
// anew, everything did.  A rate is taken over ten seconds at least, which is how long an idle entry
// lives.
// Two signs say that a counter stands still and the entry must not be called quiet: it lives though
// it counted nothing for longer than an idle entry may, or it is older than a refresh and counted
// nothing at all.
// Pure functions.
#pragma once

#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// An entry without a packet is gone after this: Open vSwitch's max-idle of 10 s, a refresh of the
/// counters and a sweep of the revalidator.  Where max-idle is longer, more entries seem to stand
/// still, and more peers are named.  @ours
constexpr Duration kLongestIdle = std::chrono::seconds(12);

/// What probes leave in one entry: ten requests and ten answers of 130 bytes a second at most
/// (2.6 kB/s), three times that for larger or faster ones.  Beyond it is traffic; a pipeline, the
/// least of it, has some two million bytes a second.  @ours
constexpr double kProbeFloorBytesPerSecond = 8'000.0;

/// One answer, and when it was given.
struct FlowReading {
  Time at;
  std::vector<FlowCounter> flows;  ///< ascending by peer
};

enum class FlowVerdict : std::uint8_t {
  kQuiet,        ///< no more than probes
  kWasBusy,      ///< no more than probes now; more, on average, since it was installed
  kCarries,      ///< more than probes
  kStandsStill,  ///< its counter does not move: what it carries is not known
};

struct JudgedFlow {
  EndpointId peer;
  FlowVerdict verdict = FlowVerdict::kQuiet;
};

/// Every entry of either reading, ascending by peer.
/// REQUIRES: `earlier` is before `later`; kStandsStill needs kLongestIdle between them.
std::vector<JudgedFlow> judge(const FlowReading& earlier, const FlowReading& later);

}  // namespace bonescan
