#include "model/workload/job_table.h"

#include "sim/base/check.h"

#include <utility>

namespace bonescan {
namespace {

/// What stands in a free place.
Job no_job(const Fabric& fabric) {
  return {JobOptions{.name = "", .gpus = 0, .tp = 1, .pp = 1, .dp = 0},
          fabric,
          std::vector<RnicId>{},
          RngStream(0, Purpose::kCloudStep, 0)};
}

}  // namespace

JobId JobTable::add(Job job) {
  if (free_.empty()) {
    free_.emplace_back(static_cast<std::uint32_t>(jobs_.size()));
    jobs_.push_back(no_job(*fabric_));
  }
  const JobId id = free_.back();
  free_.pop_back();
  for (const RnicId rnic : job.rnics()) {
    BONESCAN_CHECK(!places_[rnic].job.valid());
  }
  jobs_[id.index()] = std::move(job);
  place(id);
  return id;
}

void JobTable::place(JobId id) {
  const Job& job = jobs_[id.index()];
  for (const RnicId rnic : job.rnics()) {
    places_[rnic] = {id, job.coordinate(rnic)->pipeline, job.traffic_class(rnic)};
  }
  ++revision_;
}

void JobTable::enter_layout(JobId id, std::size_t index) {
  jobs_[id.index()].enter_layout(index);
  place(id);
}

void JobTable::remove(JobId id) {
  for (const RnicId rnic : jobs_[id.index()].rnics()) {
    places_[rnic] = {};
  }
  jobs_[id.index()] = no_job(*fabric_);
  free_.push_back(id);
  ++revision_;
}

}  // namespace bonescan
