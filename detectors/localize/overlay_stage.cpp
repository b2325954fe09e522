#include "detectors/localize/overlay_stage.h"

#include <fmt/format.h>

namespace bonescan {
namespace {

struct EndWords {
  const char* kind;
  const char* words;
};

/// REQUIRES: neither kDelivered nor kOutOfView.
EndWords words_for(WalkEnd end) {
  switch (end) {
    case WalkEnd::kDelivered:
    case WalkEnd::kOutOfView:
      break;
    case WalkEnd::kNoNextHop:
      return {"missing-rule", "no rule takes the packet further"};
    case WalkEnd::kLoop:
      return {"loop", "the packet comes back to where it was"};
    case WalkEnd::kMissingNeighbour:
      return {"missing-neighbour", "the tunnel's next hop has no resolved address"};
    case WalkEnd::kNotLocal:
      return {"not-local", "the packet arrives at a host that does not own the target"};
  }
  return {"", ""};
}

std::string hops_text(std::size_t count) {
  return count == 1 ? "1 hop" : fmt::format("{} hops", count);
}

/// The walk's own culprit, or the last place it reached.
ComponentId culprit_of(const OverlayWalk& walk) {
  if (walk.culprit.valid() || walk.hops.empty()) {
    return walk.culprit;
  }
  return walk.hops.back().where;
}

}  // namespace

OverlayFinding interpret_walk(const Expected<OverlayWalk>& walk,
                              const std::string& way,
                              const ComponentTable& components) {
  OverlayFinding finding;
  if (!walk) {
    finding.pending = walk.error().code == ErrorCode::kPending;
    const char* words = finding.pending ? "has not been answered yet" : "could not be walked";
    finding.text =
        fmt::format("the {} {}: {}",
                    way,
                    words,
                    walk.error().detail.empty() ? "no reason given" : walk.error().detail);
    return finding;
  }
  finding.available = true;
  if (walk->end == WalkEnd::kDelivered) {
    finding.clear = true;
    finding.text = fmt::format("the {} is delivered after {}", way, hops_text(walk->hops.size()));
    return finding;
  }
  if (walk->end == WalkEnd::kOutOfView) {
    finding.available = false;
    finding.text = fmt::format("the {} is well for {}, then leaves the view{}",
                               way,
                               hops_text(walk->hops.size()),
                               walk->reason.empty() ? "" : " (" + walk->reason + ")");
    return finding;
  }
  finding.broken = true;
  const EndWords end = words_for(walk->end);
  finding.kind = end.kind;
  finding.culprit = culprit_of(*walk);
  finding.text =
      fmt::format("the {} breaks after {} at {}: {}",
                  way,
                  hops_text(walk->hops.size()),
                  finding.culprit.valid() ? components[finding.culprit].name : "an unknown place",
                  end.words);
  if (!walk->reason.empty()) {
    finding.text += fmt::format(" ({})", walk->reason);
  }
  return finding;
}

OverlayFinding interpret_walks(const Expected<OverlayWalk>& request,
                               const Expected<OverlayWalk>& answer,
                               const ComponentTable& components) {
  OverlayFinding there = interpret_walk(request, "request", components);
  OverlayFinding back = interpret_walk(answer, "answer", components);
  // The sentence always tells of both ways; the rest is that of the way that decides.
  const bool back_decides = there.broken ? false : back.broken || !back.available;
  OverlayFinding& decisive = back_decides ? back : there;
  decisive.pending = (there.pending || back.pending) && !decisive.broken;
  decisive.text =
      back_decides && back.broken ? back.text + "; " + there.text : there.text + "; " + back.text;
  return std::move(decisive);
}

}  // namespace bonescan
