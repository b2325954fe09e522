// The revalidator of a host under pressure: how long a sweep takes, how many flows may be there.
//
// On an idle host sweeps are instant compared to their period and limits are far away: nothing of
// this file runs, and sweeps tick on a fixed grid (periodic_clock.h).  A host with many flows, a
// busy processor or a limit that somebody lowered is pressed: the world then runs one event per
// sweep of that host, which
//   1. counts the flows: those of pairs in the model and the `background_flows` of others,
//   2. computes how long this sweep takes, flows * dump_cost, longer on a busy processor; the next
//      begins after it, or after the period, whichever comes later,
//   3. sets the limit by that duration: > 2,000 ms: divided by the seconds; > 1,300 ms: times 3/4;
//      < 1,000 ms and fewer than flows * 1,000 ms / duration: plus 1,000; within [1,000,
//      flow-limit],
//   4. sees whether the flows exceed the limit: then flows idle for 100 ms go, beyond twice the
//      limit all flows go; while flows and those that ask to be installed exceed it no new one is
//      installed and each of its packets is an upcall,
//   5. after a change of rules and if the last sweep took half of max-revalidator or more, deletes
//      flows too slow to be worth a translation (should_revalidate()).
// Between two sweeps all that is constant.  The rules are quoted from Open vSwitch, in our words;
// dump_cost, the effect of the processor and the background are ours.
#pragma once

#include "model/overlay/overlay_options.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

/// What sweeps do to flows that are in nobody's way, and what handlers do to new ones.
struct HostPressure {
  /// In place of max-idle; zero: max-idle.
  Duration max_idle{};
  bool installs = true;  ///< handlers put new flows into the datapath

  bool operator==(const HostPressure&) const = default;
};

constexpr std::uint32_t kSmallestFlowLimit = 1'000;
constexpr std::uint32_t kFirstFlowLimit = 10'000;
constexpr Duration kPressedIdle = std::chrono::milliseconds(100);

/// How much slower software works on a processor that is busy to this share: 1 / (1 - load), as in
/// an M/M/1 queue, and no more than 20.  @source ours
double slowdown(double load);

/// Time of a sweep over `flows`.
Duration sweep_time(std::uint64_t flows, Duration dump_cost, double slowdown);

/// The limit after a sweep.  `most` is other_config:flow-limit.
std::uint32_t next_flow_limit(std::uint32_t limit,
                              std::uint64_t flows,
                              Duration sweep,
                              std::uint32_t most);

HostPressure pressure_of(std::uint64_t flows, std::uint64_t limit);

/// Beyond twice the limit a sweep deletes everything.
constexpr bool purges(std::uint64_t flows, std::uint64_t limit) {
  return flows > 2 * limit;
}

/// A flow as a sweep finds it.
struct SweptFlow {
  Duration unused{};          ///< since its last use that Open vSwitch knows of
  std::uint64_t packets = 0;  ///< since the sweep before
  bool offloaded = false;
};

/// After a change: is it worth a translation, or is it deleted?
bool should_revalidate(const SweptFlow& flow, Duration last_sweep, const OverlayOptions& options);

/// What a pressed host knows from one sweep to the next.
struct RevalidatorState {
  std::uint32_t limit = kFirstFlowLimit;
  std::uint32_t pinned_limit = 0;  ///< a limit that never grows; 0: none
  Duration last_sweep{};
  bool changed = false;   ///< rules or tunnels, since the last sweep
  bool running = false;   ///< its sweeps are events
  double load = 0.0;      ///< of the processor, in [0, 1]
  double slowdown = 1.0;  ///< of software, by that load
  HostPressure pressure;

  std::uint32_t effective_limit() const { return pinned_limit > 0 ? pinned_limit : limit; }
};

}  // namespace bonescan
