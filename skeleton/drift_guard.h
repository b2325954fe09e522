// Does a task still burst as its skeleton says?
//
// Intuition: members of a stage move together.  While they do, the skeleton holds; when some of
// them stop doing so for longer than a step or two (a changed job, a straggler, an idle RNIC), the
// lists may miss a pair that communicates now, and the whole rail must be probed until it is known
// again.  A sequential test, so that a change is seen within three steps, at a stated price of
// false alarms.  Missing reports are no drift: they are unknown. Invariant: nothing is held but a
// few sums a member.  Thread-compatible.
#pragma once

#include "sim/base/units.h"
#include "skeleton/skeleton_options.h"
#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_record.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bonescan {

enum class DriftState : std::uint8_t {
  kFits,
  kUnknown,  ///< too little was reported
  kDrifted,  ///< stays so: make a new guard with the next skeleton
};

class DriftGuard final {
 public:
  /// What is normal is learnt from the record that the skeleton was inferred from.
  /// REQUIRES: skeleton.stages has one entry a member of the record.
  DriftGuard(const TaskSkeleton& skeleton,
             const TrafficRecord& reference,
             const DriftOptions& options);
  ~DriftGuard();
  DriftGuard(DriftGuard&&) noexcept;
  DriftGuard& operator=(DriftGuard&&) noexcept;

  /// One column of the grid later: bytes per second by member, NaN where no report came.
  DriftState observe(std::span<const float> rates);

  /// What drifted, in plain words; empty before.
  std::string why() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
