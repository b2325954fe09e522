// What the traffic of a training job is for, and small values that go with it.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class TrafficKind : std::uint8_t {
  kNone,
  kPipeline,  ///< activations and their gradients, to the stages before and after, all the time
  kRing,      ///< gradients, to the next of a ring, in the bursts of one stage
  kTree,      ///< gradients, up and down two trees, in bursts
  kMesh,      ///< gradients, to everybody of the group directly, in bursts
  kShard,     ///< sharded gradients and parameters (ZeRO, FSDP), round a ring, in bursts
  kExpert,    ///< tokens to their experts and back, while a stage computes
  kContext,   ///< keys and values round a ring, while a stage computes
};

/// Does it go in the bursts of a stage that end its step?
constexpr bool in_bursts(TrafficKind kind) {
  return kind == TrafficKind::kRing || kind == TrafficKind::kTree || kind == TrafficKind::kMesh ||
         kind == TrafficKind::kShard;
}

/// A place in the job's parallel layout.
struct RankCoordinate {
  std::uint32_t tensor = 0;
  std::uint32_t data = 0;
  std::uint32_t pipeline = 0;
  std::uint32_t context = 0;

  constexpr auto operator<=>(const RankCoordinate&) const = default;
};

struct TimeSpan {
  Time from;
  Time to;
};

/// Somebody whom an RNIC sends to, and what.
struct JobPeer {
  RnicId target;
  TrafficKind kind = TrafficKind::kNone;

  constexpr auto operator<=>(const JobPeer&) const = default;
};

}  // namespace bonescan
