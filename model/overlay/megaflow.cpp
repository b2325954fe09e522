#include "model/overlay/megaflow.h"

#include <algorithm>

namespace bonescan {
namespace {

void set_used(Megaflow& flow, const FlowClocks& clocks, Time used) {
  flow.used = used;
  flow.idle_due = clocks.sweeps.after(used + clocks.max_idle());
}

void set_unreported(Megaflow& flow, const FlowClocks& clocks, Time at) {
  flow.unreported = at;
  flow.refresh_due = at == kNever ? kNever : clocks.refreshes.at_or_after(at);
}

void remove(Megaflow& flow) {
  flow.place = FlowPlace::kAbsent;
  evict(flow.ukey);
  flow.unreported = kNever;
  flow.refresh_due = kNever;
  flow.idle_due = kNever;
  flow.edit = FlowEdit::kNone;
}

/// The sweep at idle_due deletes the eswitch entry, unless its last counter read proves it alive.
void age_out(Megaflow& flow, const FlowClocks& clocks) {
  const Time at = flow.idle_due;
  const bool readable = clocks.refreshes.regular(at, at);
  if (readable && flow.unreported != kNever) {
    set_unreported(flow, clocks, kNever);
    set_used(flow, clocks, at);
    return;
  }
  const bool still_coming = !readable && flow.last_hit >= at - clocks.sweeps.period();
  if (still_coming && clocks.options.reoffload == Reoffload::kNever) {
    flow.place = FlowPlace::kSoftware;
    set_unreported(flow, clocks, kNever);
    set_used(flow, clocks, at);
    return;
  }
  remove(flow);
}

void install(Megaflow& flow, const FlowClocks& clocks, Time now) {
  install(flow.ukey);
  flow.place = flow.offloadable ? FlowPlace::kOffloaded : FlowPlace::kSoftware;
  flow.installed = now;
  flow.last_hit = now;
  set_used(flow, clocks, now);
  set_unreported(flow, clocks, kNever);
}

}  // namespace

void settle(Megaflow& flow, const FlowClocks& clocks, Time now) {
  // A reprieve by the last counter read can be followed by one more ageing, not by more.
  while (flow.place == FlowPlace::kOffloaded && std::min(flow.refresh_due, flow.idle_due) <= now) {
    if (flow.refresh_due <= flow.idle_due) {
      const Time refresh = flow.refresh_due;
      set_unreported(flow, clocks, kNever);
      set_used(flow, clocks, refresh);
    } else {
      age_out(flow, clocks);
    }
  }
  if (flow.place == FlowPlace::kSoftware && flow.idle_due <= now) {
    remove(flow);
  }
}

void rearm(Megaflow& flow, const FlowClocks& clocks, Time not_before) {
  if (flow.place != FlowPlace::kAbsent) {
    set_used(flow, clocks, flow.used);
    if (flow.idle_due < not_before) {
      flow.idle_due = clocks.sweeps.at_or_after(not_before);
    }
    set_unreported(flow, clocks, flow.unreported);
  }
}

FlowPlace hit_after_change(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  const FlowPlace found = flow.place;
  if (flow.shadowed) {
    return found;
  }
  switch (found) {
    case FlowPlace::kAbsent:
      if (clocks.pressure.installs && flow.edit != FlowEdit::kDeleted) {
        install(flow, clocks, now);
      }
      break;
    case FlowPlace::kOffloaded:
      if (flow.unreported == kNever) {
        set_unreported(flow, clocks, now);
      }
      break;
    case FlowPlace::kSoftware:
      set_used(flow, clocks, now);
      break;
  }
  flow.last_hit = now;
  ++flow.hits;
  return found;
}

void hit_continuously(Megaflow& flow, const FlowClocks& clocks, Time from, Time to) {
  hit(flow, clocks, from);
  if (flow.shadowed) {
    return;
  }
  // Rarer refreshes than that leave it to the sweeps to find the flow in use.
  const bool refreshes_keep_it = clocks.refreshes.period() <= clocks.max_idle();
  // Each turn ends the run, or moves past one refresh or one ageing near a gap of a clock.
  while (flow.place == FlowPlace::kOffloaded) {
    if (flow.unreported != kNever && to < flow.refresh_due && to < flow.idle_due) {
      flow.last_hit = to;
      return;
    }
    if (refreshes_keep_it && clocks.refreshes.regular(flow.used, to) &&
        clocks.sweeps.regular(flow.used, to)) {
      const Time refreshed = clocks.refreshes.at_or_before(to);
      if (refreshed >= from && refreshed >= flow.used) {
        set_used(flow, clocks, refreshed);
        set_unreported(flow, clocks, to > refreshed ? to : kNever);
        flow.last_hit = to;
        return;
      }
    }
    const Time next_hit = std::max(flow.used + Duration(1), from);
    const Time refresh = clocks.refreshes.at_or_after(next_hit);
    if (flow.unreported == kNever && to >= next_hit) {
      set_unreported(flow, clocks, next_hit);
    }
    if (refresh > to && flow.idle_due > to) {
      flow.last_hit = to;
      return;
    }
    if (refresh <= flow.idle_due) {
      set_used(flow, clocks, refresh);
      set_unreported(flow, clocks, kNever);
      continue;
    }
    const Time aged = flow.idle_due;
    flow.last_hit = aged;
    age_out(flow, clocks);
    if (flow.place == FlowPlace::kAbsent && clocks.pressure.installs) {
      install(flow, clocks, aged);
    }
  }
  if (flow.place != FlowPlace::kAbsent) {
    set_used(flow, clocks, to);
  }
  flow.last_hit = to;
}

void report_hits(Megaflow& flow, const FlowClocks& clocks) {
  if (flow.unreported != kNever) {
    set_unreported(flow, clocks, kNever);
    set_used(flow, clocks, flow.last_hit);
  }
}

void yield_offload(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  if (flow.place == FlowPlace::kOffloaded) {
    flow.place = FlowPlace::kSoftware;
    set_unreported(flow, clocks, kNever);
    set_used(flow, clocks, now);
  }
}

void regain_offload(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  if (flow.place == FlowPlace::kSoftware) {
    flow.place = FlowPlace::kOffloaded;
    flow.offloadable = true;
    set_unreported(flow, clocks, kNever);
  }
}

void delete_flow(Megaflow& flow) {
  if (flow.place != FlowPlace::kAbsent) {
    remove(flow);
  }
}

void lose_offload(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  if (flow.place == FlowPlace::kOffloaded) {
    yield_offload(flow, clocks, now);
    lose_track(flow.ukey);
  }
}

}  // namespace bonescan
