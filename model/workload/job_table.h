// The jobs of a world, and which job every RNIC belongs to.
//
// Jobs of a scenario come first and stay; tasks of the cloud come and go, and a place that is free
// is used again.  So tables by job stay as small as the most jobs that ever ran at once.  A free
// place holds a job without RNICs that never runs: code that walks all jobs need not ask.
// Invariants: 1. an RNIC belongs to at most one job; 2. place() is a column: one read.
#pragma once

#include "model/workload/job.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Where an RNIC stands in its job; `job` is invalid if it has none.
struct JobPlace {
  JobId job;
  std::uint32_t stage = 0;  ///< of the pipeline
  std::uint32_t traffic_class = 0;
};

class JobTable final {
 public:
  explicit JobTable(const Fabric& fabric) : fabric_(&fabric), places_(fabric.rnic_count()) {}

  // As a vector of jobs.
  std::size_t size() const { return jobs_.size(); }

  const Job& operator[](std::size_t index) const { return jobs_[index]; }

  auto begin() const { return jobs_.begin(); }

  auto end() const { return jobs_.end(); }

  const JobPlace& place(RnicId rnic) const { return places_[rnic]; }

  /// Changes whenever a job comes, goes or changes its shape.
  std::uint64_t revision() const { return revision_; }

  JobId add(Job job);

  /// The job has layout `index` from now on: its RNICs stand elsewhere.
  void enter_layout(JobId id, std::size_t index);

  /// Its id may be given to another job from now on.
  void remove(JobId id);

 private:
  void place(JobId id);

  const Fabric* fabric_;
  std::vector<Job> jobs_;
  std::vector<JobId> free_;
  IdVector<RnicId, JobPlace> places_;
  std::uint64_t revision_ = 0;
};

}  // namespace bonescan
