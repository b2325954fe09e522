// Questions whose answers take commands, and callers that may not wait for them.
//
// ask() answers kPending until a worker thread has the answer.  An answer is then handed out for a
// short while, because a caller asks for several things in one turn and can go on only when it has
// them all; after that it is old, and the question is asked anew.  What nobody comes back for is
// forgotten, so that memory is bounded.
//
// Worker: one thread, first come first served.  AnswerDesk: thread-compatible towards its callers.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace bonescan::backend_ovs {

class Job {
 public:
  virtual ~Job() = default;

  virtual void run(const std::stop_token& stop) = 0;
};

class Worker final {
 public:
  Worker();
  /// Waits for the job in hand, which should heed its stop token; drops the others.
  ~Worker();

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::unique_ptr<Job> job);

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any posted_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::jthread thread_;
};

/// What is done on the worker thread.
template <class Question, class Answer>
class Answerer {
 public:
  virtual ~Answerer() = default;

  virtual Expected<Answer> answer(const Question& question, const std::stop_token& stop) = 0;
};

struct DeskOptions {
  Duration answer_lifetime = std::chrono::seconds(3);
  Duration unclaimed_lifetime = std::chrono::seconds(30);
  std::size_t questions_max = 256;
};

template <class Key, class Question, class Answer>
class AnswerDesk final {
 public:
  /// REQUIRES: `worker` outlives the desk; what the answerer refers to outlives the worker.
  AnswerDesk(Worker& worker,
             std::unique_ptr<Answerer<Question, Answer>> answerer,
             const DeskOptions& options)
      : worker_(worker), options_(options), state_(std::make_shared<State>()) {
    state_->answerer = std::move(answerer);
  }

  /// The answer, if it is there.  `question` is used only if `key` is new.
  /// @errors kPending, kUnavailable if too many are waiting, and the answerer's
  Expected<Answer> ask(const Key& key, const Question& question, Time now) {
    {
      const std::lock_guard lock(state_->mutex);
      forget(now);
      const auto found = state_->entries.find(key);
      if (found != state_->entries.end()) {
        Entry& entry = found->second;
        if (!entry.answer) {
          return fail(ErrorCode::kPending, "being asked");
        }
        if (!entry.handed_out) {
          entry.handed_out = now;
        }
        return *entry.answer;
      }
      if (state_->entries.size() >= options_.questions_max) {
        return fail(ErrorCode::kUnavailable, "too many questions are waiting");
      }
      state_->entries.emplace(key, Entry{.asked = now, .handed_out = {}, .answer = {}});
    }
    worker_.post(std::make_unique<Asking>(state_, key, question));
    return fail(ErrorCode::kPending, "being asked");
  }

 private:
  struct Entry {
    Time asked;
    std::optional<Time> handed_out;
    std::optional<Expected<Answer>> answer;
  };

  struct State {
    std::mutex mutex;
    std::map<Key, Entry> entries;
    std::unique_ptr<Answerer<Question, Answer>> answerer;
  };

  class Asking final : public Job {
   public:
    Asking(std::shared_ptr<State> state, Key key, Question question)
        : state_(std::move(state)), key_(std::move(key)), question_(std::move(question)) {}

    void run(const std::stop_token& stop) override {
      Expected<Answer> answer = state_->answerer->answer(question_, stop);
      const std::lock_guard lock(state_->mutex);
      const auto found = state_->entries.find(key_);
      if (found != state_->entries.end()) {
        found->second.answer = std::move(answer);
      }
    }

   private:
    std::shared_ptr<State> state_;
    Key key_;
    Question question_;
  };

  /// Entries without an answer stay: their job is on its way.
  void forget(Time now) {
    std::erase_if(state_->entries, [&](const auto& item) {
      const Entry& entry = item.second;
      return entry.answer && (entry.handed_out ? now - *entry.handed_out > options_.answer_lifetime
                                               : now - entry.asked > options_.unclaimed_lifetime);
    });
  }

  Worker& worker_;
  DeskOptions options_;
  std::shared_ptr<State> state_;
};

}  // namespace bonescan::backend_ovs
