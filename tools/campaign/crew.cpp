#include "tools/campaign/crew.h"

#include "sim/base/check.h"

#include <chrono>
#include <utility>

namespace bonescan {
namespace {

/// Short enough to look after other processes meanwhile.
constexpr auto kPatience = std::chrono::milliseconds(5);

}  // namespace

// Twice as many as there are threads: none waits while the results of another are written down.
ThreadCrew::ThreadCrew(unsigned threads, CampaignWork work)
    : work_(std::move(work)), capacity_(std::size_t{2} * threads) {
  BONESCAN_CHECK(threads > 0);
  for (unsigned t = 0; t < threads; ++t) {
    threads_.emplace_back([this] { serve(); });
  }
}

ThreadCrew::~ThreadCrew() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ThreadCrew::assign(std::size_t task) {
  BONESCAN_CHECK(idle() > 0);
  ++outstanding_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(task);
  }
  work_came_.notify_one();
}

std::optional<CrewReport> ThreadCrew::take() {
  std::unique_lock lock(mutex_);
  if (!work_ended_.wait_for(lock, kPatience, [this] { return !done_.empty(); })) {
    return std::nullopt;
  }
  Done done = std::move(done_.front());
  done_.pop_front();
  --outstanding_;
  if (done.error) {
    std::rethrow_exception(done.error);
  }
  return std::move(done.report);
}

ThreadCrew::Done ThreadCrew::attempt(std::size_t task) const {
  Done done{{task, {}}, nullptr};
  try {
    done.report.results = work_(task);
  } catch (...) {
    done.error = std::current_exception();
  }
  return done;
}

void ThreadCrew::serve() {
  for (;;) {
    std::size_t task = 0;
    {
      std::unique_lock lock(mutex_);
      work_came_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) {
        return;
      }
      task = waiting_.front();
      waiting_.pop_front();
    }
    Done done = attempt(task);
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(done));
    }
    work_ended_.notify_one();
  }
}

}  // namespace bonescan
