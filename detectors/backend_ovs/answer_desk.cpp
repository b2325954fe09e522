#include "detectors/backend_ovs/answer_desk.h"

namespace bonescan::backend_ovs {

Worker::Worker() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

Worker::~Worker() {
  thread_.request_stop();
  thread_.join();
}

void Worker::post(std::unique_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
}

void Worker::work(const std::stop_token& stop) {
  while (true) {
    std::unique_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      if (!posted_.wait(lock, stop, [this] { return !jobs_.empty(); }) || stop.stop_requested()) {
        return;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job->run(stop);
  }
}

}  // namespace bonescan::backend_ovs
