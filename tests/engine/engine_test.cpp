#include "sim/engine/engine.h"

#include "sim/engine/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;

Time at(std::int64_t time_ns) {
  return Time(Duration(time_ns));
}

/// Writes down what ran and when, and may do something on the way.
class Diary {
 public:
  explicit Diary(Engine& engine) : engine_(engine) {}

  EventHandle plan(std::int64_t time_ns, EventPriority priority, std::uint64_t what) {
    return engine_.schedule(at(time_ns), priority, action<&Diary::note>(*this, what));
  }

  EventHandle plan(std::int64_t time_ns, std::uint64_t what) {
    return plan(time_ns, EventPriority::kState, what);
  }

  void note(std::uint64_t what) {
    entries.push_back(std::to_string(nanoseconds(engine_.now())) + ":" + std::to_string(what));
    if (during) {
      during(what);
    }
  }

  EventAction entry(std::uint64_t what) { return action<&Diary::note>(*this, what); }

  std::vector<std::string> entries;
  std::function<void(std::uint64_t)> during;

 private:
  Engine& engine_;
};

TEST(Engine, RunsFaultsBeforeStateBeforeProbesBeforeAnalysis) {
  Engine engine;
  Diary diary(engine);
  diary.plan(5, EventPriority::kAnalysis, 4);
  diary.plan(5, EventPriority::kProbe, 3);
  diary.plan(5, EventPriority::kState, 2);
  diary.plan(5, EventPriority::kFault, 1);
  diary.plan(4, EventPriority::kAnalysis, 0);
  engine.run_until(at(5));
  EXPECT_THAT(diary.entries, ElementsAre("4:0", "5:1", "5:2", "5:3", "5:4"));
  EXPECT_EQ(engine.processed(), 5u);
}

TEST(Engine, RunUntilIncludesItsEndAndStopsThere) {
  Engine engine;
  Diary diary(engine);
  diary.plan(10, 1);
  diary.plan(11, 2);
  engine.run_until(at(10));
  EXPECT_THAT(diary.entries, ElementsAre("10:1"));
  EXPECT_EQ(engine.next_event_time(), at(11));
  engine.run_until(at(10));
  EXPECT_EQ(engine.processed(), 1u);
  engine.run_until(at(100));
  EXPECT_EQ(engine.now(), at(100));
  EXPECT_THAT(diary.entries, ElementsAre("10:1", "11:2"));
  EXPECT_EQ(engine.next_event_time(), std::nullopt);
}

TEST(Engine, StepRunsOneEvent) {
  Engine engine;
  Diary diary(engine);
  diary.plan(3, 1);
  diary.plan(3, 2);
  EXPECT_TRUE(engine.step());
  EXPECT_THAT(diary.entries, ElementsAre("3:1"));
  EXPECT_EQ(engine.now(), at(3));
  EXPECT_TRUE(engine.step());
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(engine.processed(), 2u);
}

TEST(Engine, ActionsScheduleForTheirOwnInstant) {
  Engine engine;
  Diary diary(engine);
  diary.during = [&](std::uint64_t what) {
    if (what == 1) {
      diary.plan(5, EventPriority::kAnalysis, 4);
      diary.plan(5, EventPriority::kProbe, 3);
      diary.plan(6, EventPriority::kFault, 5);
    }
  };
  diary.plan(5, EventPriority::kState, 1);
  diary.plan(5, EventPriority::kState, 2);
  engine.run_until(at(6));
  EXPECT_THAT(diary.entries, ElementsAre("5:1", "5:2", "5:3", "5:4", "6:5"));
}

TEST(Engine, ActionsCancelWhatIsDueNowAndLater) {
  Engine engine;
  Diary diary(engine);
  const EventHandle self = diary.plan(5, 1);
  const EventHandle now = diary.plan(5, 2);
  const EventHandle later = diary.plan(6, 3);
  std::vector<bool> cancelled;
  diary.during = [&](std::uint64_t) {
    for (const EventHandle handle : {self, now, later}) {
      cancelled.push_back(engine.cancel(handle));
    }
  };
  engine.run_until(at(9));
  EXPECT_THAT(diary.entries, ElementsAre("5:1"));
  EXPECT_THAT(cancelled, ElementsAre(false, true, true)) << "a running event is not pending";
}

TEST(Engine, CancelledEventIsNotTheNextEvent) {
  Engine engine;
  Diary diary(engine);
  const EventHandle first = diary.plan(5, 1);
  diary.plan(7, 2);
  EXPECT_TRUE(engine.cancel(first));
  EXPECT_EQ(engine.next_event_time(), at(7));
}

void run_nested(void* subject, std::uint64_t) {
  static_cast<Engine*>(subject)->run_until(Time(Duration(9)));
}

TEST(EngineDeathTest, RefusesThePastNullActionsAndNestedRuns) {
  Engine engine;
  Diary diary(engine);
  engine.run_until(at(5));
  EXPECT_DEATH(diary.plan(4, 1), "check failed: at >= now");
  EXPECT_DEATH(engine.run_until(at(4)), "check failed: until >= now");
  EXPECT_DEATH(engine.schedule(at(5), EventPriority::kState, {}), "check failed: what.run");
  engine.schedule(at(6), EventPriority::kState, {run_nested, &engine, 0});
  diary.plan(7, 1);
  EXPECT_DEATH(engine.run_until(at(8)), "check failed: !inside_action_");
}

TEST(Timer, RingsOnceAtItsTime) {
  Engine engine;
  Diary diary(engine);
  Timer timer(engine, EventPriority::kState, diary.entry(1));
  EXPECT_FALSE(timer.armed());
  timer.arm_at(at(4));
  EXPECT_TRUE(timer.armed());
  engine.run_until(at(100));
  EXPECT_THAT(diary.entries, ElementsAre("4:1"));
  EXPECT_FALSE(timer.armed());
}

TEST(Timer, RingsPeriodicallyWithoutDriftUntilCancelled) {
  Engine engine;
  Diary diary(engine);
  Timer timer(engine, EventPriority::kState, diary.entry(1));
  timer.arm_every(at(2), Duration(3));
  engine.run_until(at(9));
  EXPECT_THAT(diary.entries, ElementsAre("2:1", "5:1", "8:1"));
  timer.cancel();
  engine.run_until(at(100));
  EXPECT_EQ(diary.entries.size(), 3u);
}

TEST(Timer, ArmingAgainReplacesWhatWasArmed) {
  Engine engine;
  Diary diary(engine);
  Timer timer(engine, EventPriority::kState, diary.entry(1));
  timer.arm_every(at(2), Duration(3));
  timer.arm_at(at(4));
  engine.run_until(at(100));
  EXPECT_THAT(diary.entries, ElementsAre("4:1"));
}

TEST(Timer, MayBeCancelledOrDestroyedByItsOwnRing) {
  Engine engine;
  Diary diary(engine);
  auto timer = std::make_unique<Timer>(engine, EventPriority::kState, diary.entry(1));
  timer->arm_every(at(2), Duration(3));
  diary.during = [&](std::uint64_t) {
    if (engine.now() == at(5)) {
      timer.reset();
    }
  };
  engine.run_until(at(100));
  EXPECT_THAT(diary.entries, ElementsAre("2:1", "5:1"));
}

TEST(Timer, IsSilentAfterItsEnd) {
  Engine engine;
  Diary diary(engine);
  {
    Timer timer(engine, EventPriority::kState, diary.entry(1));
    timer.arm_every(at(2), Duration(3));
  }
  engine.run_until(at(100));
  EXPECT_THAT(diary.entries, ElementsAre());
  EXPECT_EQ(engine.next_event_time(), std::nullopt);
}

}  // namespace
}  // namespace bonescan
