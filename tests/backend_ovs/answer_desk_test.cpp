#include "detectors/backend_ovs/answer_desk.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace bonescan::backend_ovs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time at_s(double t) {
  return kStartOfRun + from_seconds(t);
}

/// Answers with the double, when it is allowed to.
class Doubling final : public Answerer<int, int> {
 public:
  struct Control {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool open = true;
    int answered = 0;
    bool stopped = false;
  };

  explicit Doubling(Control& control) : control_(control) {}

  Expected<int> answer(const int& question, const std::stop_token& stop) override {
    std::unique_lock lock(control_.mutex);
    control_.stopped = !control_.changed.wait(lock, stop, [this] { return control_.open; });
    ++control_.answered;
    control_.changed.notify_all();
    if (question < 0) {
      return fail(ErrorCode::kUnavailable, "negative");
    }
    return 2 * question;
  }

 private:
  Control& control_;
};

class Desk : public testing::Test {
 protected:
  AnswerDesk<int, int, int>& desk(const DeskOptions& options = {}) {
    desk_ = std::make_unique<AnswerDesk<int, int, int>>(
        worker_, std::make_unique<Doubling>(control_), options);
    return *desk_;
  }

  void close() {
    const std::lock_guard lock(control_.mutex);
    control_.open = false;
  }

  void open() {
    const std::lock_guard lock(control_.mutex);
    control_.open = true;
    control_.changed.notify_all();
  }

  void wait_for_answers(int count) {
    std::unique_lock lock(control_.mutex);
    ASSERT_TRUE(
        control_.changed.wait_for(lock, seconds(10), [&] { return control_.answered >= count; }));
  }

  int answered() {
    const std::lock_guard lock(control_.mutex);
    return control_.answered;
  }

  /// The answer reaches the desk a moment after it was given.
  Expected<int> settled(int key, Time now) {
    for (int i = 0; i < 1000; ++i) {
      const auto answer = desk_->ask(key, key, now);
      if (answer || answer.error().code != ErrorCode::kPending) {
        return answer;
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    return fail(ErrorCode::kPending, "never came");
  }

  Doubling::Control control_;
  Worker worker_;
  std::unique_ptr<AnswerDesk<int, int, int>> desk_;
};

TEST_F(Desk, NeverWaitsAndAsksOnce) {
  close();
  desk();
  for (int i = 0; i < 5; ++i) {
    const auto answer = desk_->ask(7, 7, at_s(i));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kPending);
  }
  open();
  const auto answer = settled(7, at_s(5));
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, 14);
  EXPECT_EQ(answered(), 1);
}

TEST_F(Desk, HandsOutAnErrorLikeAnAnswer) {
  desk();
  const auto answer = settled(-1, at_s(0));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().detail, "negative");
}

TEST_F(Desk, AnswersForAShortWhileAndThenAsksAnew) {
  desk({.answer_lifetime = seconds(3)});
  ASSERT_TRUE(settled(1, at_s(10)));
  EXPECT_TRUE(desk_->ask(1, 1, at_s(13)));
  const auto late = desk_->ask(1, 1, at_s(13.1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kPending);
  EXPECT_TRUE(settled(1, at_s(13.1)));
  EXPECT_EQ(answered(), 2);
}

TEST_F(Desk, KeepsAnAnswerForASlowCallerAndForgetsItInTheEnd) {
  desk({.answer_lifetime = seconds(3), .unclaimed_lifetime = seconds(30)});
  EXPECT_FALSE(desk_->ask(1, 1, at_s(0)));
  EXPECT_FALSE(desk_->ask(2, 2, at_s(0)));
  // Questions are answered in their order: with the third, the second is on the desk.
  EXPECT_TRUE(settled(3, at_s(0)));
  EXPECT_TRUE(settled(1, at_s(20)));
  EXPECT_FALSE(desk_->ask(2, 2, at_s(31)));
  wait_for_answers(4);
}

TEST_F(Desk, HoldsABoundedNumberOfQuestions) {
  close();
  desk({.unclaimed_lifetime = seconds(30), .questions_max = 2});
  EXPECT_EQ(desk_->ask(1, 1, at_s(0)).error().code, ErrorCode::kPending);
  EXPECT_EQ(desk_->ask(2, 2, at_s(0)).error().code, ErrorCode::kPending);
  EXPECT_EQ(desk_->ask(3, 3, at_s(0)).error().code, ErrorCode::kUnavailable);
  open();
  wait_for_answers(2);
  EXPECT_TRUE(settled(3, at_s(60)));
}

TEST(AnswerWorker, EndsInTheMiddleOfAJob) {
  Doubling::Control control;
  control.open = false;
  {
    Worker worker;
    AnswerDesk<int, int, int> desk(worker, std::make_unique<Doubling>(control), {});
    EXPECT_FALSE(desk.ask(1, 1, at_s(0)));
    EXPECT_FALSE(desk.ask(2, 2, at_s(0)));
  }
  EXPECT_LE(control.answered, 1);
}

}  // namespace
}  // namespace bonescan::backend_ovs
