// What the overlay walks of a pair prove, in plain words.
//
// The walk replays the forwarding chain; this stage only reads how it ended.  A probe needs both
// ways, so both are walked and the pair's overlay is clear only if both were delivered: a direction
// that could not be walked leaves the stage without an answer, never with a clean one.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"

#include <string>

namespace bonescan {

struct OverlayFinding {
  bool clear = false;      ///< everything was walked and delivered
  bool broken = false;     ///< the chain ends where it should not
  bool pending = false;    ///< ask again: an answer is on its way
  bool available = false;  ///< the finding rests on an answer; false: the stage cannot say
  ComponentId culprit;     ///< rule or bridge where the chain breaks; invalid if none is known
  std::string kind;        ///< "missing-rule", "loop", "missing-neighbour", "not-local", or empty
  std::string text;        ///< one sentence
};

/// One direction.  `way` names it in the text, for example "request".
OverlayFinding interpret_walk(const Expected<OverlayWalk>& walk,
                              const std::string& way,
                              const ComponentTable& components);

/// Both directions of a pair: a proven break beats silence, and silence beats a clear half.
OverlayFinding interpret_walks(const Expected<OverlayWalk>& request,
                               const Expected<OverlayWalk>& answer,
                               const ComponentTable& components);

}  // namespace bonescan
