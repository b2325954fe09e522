// Who does the work of a campaign: threads of this process, or other processes as well.
//
// The runner hands out numbers of tasks and takes back what came of them, in any order.
#pragma once

#include "tools/campaign/campaign_store.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace bonescan {

/// A task that is done.
struct CrewReport {
  std::size_t task = 0;
  std::vector<CampaignResult> results;
};

class Crew {
 public:
  virtual ~Crew() = default;

  /// How many more tasks it would take now.
  virtual std::size_t idle() const = 0;
  /// REQUIRES: idle() > 0.
  virtual void assign(std::size_t task) = 0;
  /// One that is done, or nothing if none is for a while.  @throws what the work threw
  virtual std::optional<CrewReport> take() = 0;
};

/// What one task is; called by many threads at once.
using CampaignWork = std::function<std::vector<CampaignResult>(std::size_t task)>;

/// Threads of this process.  What is not begun when it goes is dropped.  Thread-compatible: one
/// thread assigns and takes.
class ThreadCrew final : public Crew {
 public:
  ThreadCrew(unsigned threads, CampaignWork work);
  ~ThreadCrew() override;
  ThreadCrew(const ThreadCrew&) = delete;
  ThreadCrew& operator=(const ThreadCrew&) = delete;

  std::size_t idle() const override { return capacity_ - outstanding_; }

  void assign(std::size_t task) override;
  std::optional<CrewReport> take() override;

 private:
  struct Done {
    CrewReport report;
    std::exception_ptr error;
  };

  void serve();
  Done attempt(std::size_t task) const;

  CampaignWork work_;
  std::size_t capacity_;
  std::size_t outstanding_ = 0;  ///< assigned and not taken; of the caller's thread alone
  std::mutex mutex_;             ///< guards the three below
  std::deque<std::size_t> waiting_;
  std::deque<Done> done_;
  bool ending_ = false;
  std::condition_variable work_came_;
  std::condition_variable work_ended_;
  std::vector<std::thread> threads_;
};

}  // namespace bonescan
