#include "model/overlay/megaflow.h"

#include <algorithm>

namespace bonescan {
namespace {

void set_used(Megaflow& flow, const FlowClocks& clocks, Time used) {
  flow.used = used;
  flow.idle_due = clocks.sweeps.after(used + clocks.options.max_idle);
}

void set_unreported(Megaflow& flow, const FlowClocks& clocks, Time at) {
  flow.unreported = at;
  flow.refresh_due = at == kNever ? kNever : clocks.refreshes.at_or_after(at);
}

void remove(Megaflow& flow) {
  flow.place = FlowPlace::kAbsent;
  flow.unreported = kNever;
  flow.refresh_due = kNever;
  flow.idle_due = kNever;
}

void age_out(Megaflow& flow, const FlowClocks& clocks) {
  if (clocks.options.reoffload == Reoffload::kOnUpcall) {
    remove(flow);
    return;
  }
  // The software entry has seen no packet of its own yet; it gets the grace of late counters.
  flow.place = FlowPlace::kSoftware;
  set_unreported(flow, clocks, kNever);
  set_used(flow, clocks, flow.used + clocks.options.offloaded_stats_delay);
}

void install(Megaflow& flow, const FlowClocks& clocks, Time now) {
  flow.place = FlowPlace::kOffloaded;
  flow.installed = now;
  set_used(flow, clocks, now);
  set_unreported(flow, clocks, kNever);
}

}  // namespace

void settle(Megaflow& flow, const FlowClocks& clocks, Time now) {
  if (flow.place == FlowPlace::kOffloaded) {
    if (flow.refresh_due <= now && flow.refresh_due <= flow.idle_due) {
      set_used(flow, clocks, flow.refresh_due);
      set_unreported(flow, clocks, kNever);
    }
    if (flow.idle_due <= now) {
      age_out(flow, clocks);
    }
  }
  if (flow.place == FlowPlace::kSoftware && flow.idle_due <= now) {
    remove(flow);
  }
}

void rearm(Megaflow& flow, const FlowClocks& clocks) {
  if (flow.place != FlowPlace::kAbsent) {
    set_used(flow, clocks, flow.used);
    set_unreported(flow, clocks, flow.unreported);
  }
}

FlowPlace hit_after_change(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  const FlowPlace found = flow.place;
  switch (found) {
    case FlowPlace::kAbsent:
      install(flow, clocks, now);
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
  ++flow.hits;
  return found;
}

void hit_continuously(Megaflow& flow, const FlowClocks& clocks, Time from, Time to) {
  hit(flow, clocks, from);
  // Each turn ends the run, or moves past one refresh or one reinstall inside a gap of a clock.
  while (flow.place == FlowPlace::kOffloaded) {
    if (clocks.refreshes.regular(flow.used, to) && clocks.sweeps.regular(flow.used, to)) {
      const Time refreshed = clocks.refreshes.at_or_before(to);
      if (refreshed > flow.used) {
        set_used(flow, clocks, refreshed);
      }
      set_unreported(flow, clocks, to > flow.used ? to : kNever);
      return;
    }
    const Time refresh = clocks.refreshes.at_or_after(std::max(flow.used + Duration(1), from));
    if (refresh > to && flow.idle_due > to) {
      if (flow.unreported == kNever && to > flow.used) {
        set_unreported(flow, clocks, std::max(flow.used + Duration(1), from));
      }
      return;
    }
    if (refresh <= flow.idle_due) {
      set_used(flow, clocks, refresh);
      set_unreported(flow, clocks, kNever);
      continue;
    }
    const Time aged = flow.idle_due;
    age_out(flow, clocks);
    if (flow.place == FlowPlace::kAbsent) {
      install(flow, clocks, aged);
    }
  }
  set_used(flow, clocks, to);
}

void lose_offload(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  if (flow.place == FlowPlace::kOffloaded) {
    flow.place = FlowPlace::kSoftware;
    set_unreported(flow, clocks, kNever);
    set_used(flow, clocks, now);
  }
}

}  // namespace bonescan
