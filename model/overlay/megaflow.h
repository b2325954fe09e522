// One megaflow and its eswitch entry, as a closed form of its last hit.
//
// What a packet meets depends only on when the flow was hit before, on when the RNIC's counters
// were read, and on when the revalidator swept; none of that needs an event.  The state is the one
// after the last packet; settle() carries it forward to any later moment:
//
//   absent --packet--> upcall: installed and offloaded
//   offloaded --counters say idle for max_idle, at a sweep--> the eswitch entry is deleted.
//   Deleting
//       reads the counter a last time, so a hit that no refresh has reported yet keeps the entry.
//       Was the flow silent, the megaflow goes with it: absent.  If packets were still coming (the
//       counter is frozen, and the last read was stale too), they now meet the software megaflow:
//       reoffload = never:      it stays, and they take the slow path for as long as they come
//       reoffload = on_upcall:  it is deleted as well (stock OVS), and the next packet installs
//       anew
//   software --no packet for max_idle, at a sweep--> absent
//
// "Counters say" is the point: an offloaded flow is hit in hardware, and OVS learns of it only at
// the RNIC's next counter refresh.  If refreshes stop, an active flow looks idle (Figure 18).
// Invariants: 1. time never goes back; 2. offloaded implies present in the datapath; 3. the ukey is
// installed exactly while the flow is not absent, and only moves forward (ukey.h).
// A naive state machine that ticks through every sweep and refresh is its differential reference.
#pragma once

#include "model/overlay/overlay_options.h"
#include "model/overlay/periodic_clock.h"
#include "model/overlay/revalidator.h"
#include "model/overlay/ukey.h"
#include "sim/base/units.h"

#include <algorithm>
#include <cstdint>

namespace bonescan {

enum class FlowPlace : std::uint8_t {
  kAbsent,     ///< in no table: the next packet is an upcall
  kOffloaded,  ///< in the eswitch: hardware forwards
  kSoftware,   ///< in the datapath only: the slow path forwards
};

/// What somebody did to the entry behind Open vSwitch's back: datapath_edit.h.
enum class FlowEdit : std::uint8_t {
  kNone,
  kAltered,  ///< it drops
  kDeleted,  ///< it is gone, and Open vSwitch does not know
};

/// The clocks and settings that a megaflow lives under.
struct FlowClocks {
  const PeriodicClock& sweeps;     ///< revalidator of the host
  const PeriodicClock& refreshes;  ///< flow counters of the RNIC
  const OverlayOptions& options;
  HostPressure pressure{};

  Duration max_idle() const {
    return pressure.max_idle > Duration::zero() ? pressure.max_idle : options.max_idle;
  }
};

struct Megaflow {
  Time installed;            ///< last install
  Time used;                 ///< last use that OVS knows of
  Time last_hit;             ///< last packet
  Time unreported = kNever;  ///< first hardware hit that no refresh has reported yet
  // The next moments at which the state can change by itself, cached so that a hit needs no
  // division.
  Time refresh_due = kNever;  ///< the refresh that will report `unreported`
  Time idle_due = kNever;     ///< the sweep that will find the flow idle
  std::uint32_t hits = 0;
  FlowPlace place = FlowPlace::kAbsent;
  Ukey ukey;
  /// The eswitch takes the flow when it is installed; else it stays in software (eswitch.h).
  bool offloadable : 1 = true;
  bool shadowed : 1 = false;  ///< a foreign rule takes the packets before the entry
  FlowEdit edit : 2 = FlowEdit::kNone;
};

static_assert(sizeof(Megaflow) == 56, "there are four for every pair that is probed");

/// Carries the state forward to `now`, no packet in between.
void settle(Megaflow& flow, const FlowClocks& clocks, Time now);

/// Computes the cached moments anew; call after settle() when a clock or the pressure changed.
/// @param not_before  sweeps before it have been
void rearm(Megaflow& flow, const FlowClocks& clocks, Time not_before = Time::min());

/// What hit() does when something happened since the last packet.
FlowPlace hit_after_change(Megaflow& flow, const FlowClocks& clocks, Time now);

/// Until then hits go through hardware and change nothing but `last_hit` and `hits`.
inline Time unchanged_until(const Megaflow& flow) {
  return flow.place == FlowPlace::kOffloaded && flow.unreported != kNever
             ? std::min(flow.refresh_due, flow.idle_due)
             : Time::min();
}

/// The common case of hit(): nothing can have happened since the last packet, which went through
/// hardware.  False, and nothing is done, in any other case.
inline bool hit_unchanged(Megaflow& flow, Time now) {
  if (now < unchanged_until(flow)) [[likely]] {
    flow.last_hit = now;
    ++flow.hits;
    return true;
  }
  return false;
}

/// One packet at `now` (upcalls succeed); returns where it found the flow.
inline FlowPlace hit(Megaflow& flow, const FlowClocks& clocks, Time now) {
  return hit_unchanged(flow, now) ? FlowPlace::kOffloaded : hit_after_change(flow, clocks, now);
}

/// Packets without a pause in [from, to].  REQUIRES: settled to at most `from`.
void hit_continuously(Megaflow& flow, const FlowClocks& clocks, Time from, Time to);

/// Open vSwitch learns of all hits so far, as if a refresh had come right after the last.
void report_hits(Megaflow& flow, const FlowClocks& clocks);

/// The eswitch entry is lost at `now`, behind Open vSwitch's back; the software megaflow stays.
void lose_offload(Megaflow& flow, const FlowClocks& clocks, Time now);

/// Open vSwitch takes the entry away, to give it to another flow.
void yield_offload(Megaflow& flow, const FlowClocks& clocks, Time now);

/// Open vSwitch puts a software flow into the eswitch.
void regain_offload(Megaflow& flow, const FlowClocks& clocks, Time now);

/// A revalidator deletes it.  REQUIRES: settled.
void delete_flow(Megaflow& flow);

}  // namespace bonescan
