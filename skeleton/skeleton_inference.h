// From bursts to stages: reads a task's throughput and says who may talk to whom.
//
// Intuition: all replicas of a pipeline stage sum their gradients at the same moment of a step, and
// the next stage does so a little later.  Magnitude spectra are blind to that little; complex
// spectra are not.  So: average what belongs together (the rails of a host), complex STFT, a
// low-rank picture, groups of equal size with an exact assignment, the number of groups by
// likelihood, the order of groups by lag.  What cannot be told (volumes outside of bursts, steps of
// a second or less, too much noise) is said, and the scope is the rung of the ladder that is safe.
// Rough model and every equation: skeleton/METHODS.md.
// Invariants: 1. the same record gives the same skeleton, bit for bit, on any thread; 2. it uses
// neither names nor the order of hosts.  Thread-safe once constructed.
#pragma once

#include "skeleton/skeleton_options.h"
#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_record.h"

#include <memory>

namespace bonescan {

class SkeletonInference final {
 public:
  explicit SkeletonInference(const InferenceOptions& options);
  ~SkeletonInference();
  SkeletonInference(const SkeletonInference&) = delete;
  SkeletonInference& operator=(const SkeletonInference&) = delete;

  /// The smallest scope whose confidence is at least `confidence`; kSameRail or kMesh with
  /// stage_count 0 where the record says nothing.
  TaskSkeleton infer(const TrafficRecord& record, double confidence) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace bonescan
