// The closed form of a megaflow against one that lives through every tick.
#include "model/overlay/megaflow.h"
#include "tests/support/dice.h"
#include "tests/support/naive_megaflow.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ClockChange;
using test::Dice;
using test::NaiveMegaflow;
using test::NaivePlace;
using test::TimedChange;

constexpr std::uint32_t kSequences = 5'000;
constexpr int kStepsOfSequence = 60;

struct Setting {
  OverlayOptions options;
  NaiveMegaflow::Ticks ticks;
};

Setting draw_setting(Dice& dice) {
  constexpr std::array<Duration, 3> kIdle = {seconds(10), seconds(4), milliseconds(1'500)};
  constexpr std::array<Duration, 3> kSweep = {milliseconds(500), seconds(2), milliseconds(250)};
  constexpr std::array<Duration, 4> kRefresh = {
      seconds(1), milliseconds(500), seconds(3), seconds(12)};
  Setting setting;
  setting.options.max_idle = kIdle[dice.below(kIdle.size())];
  setting.options.max_revalidator = kSweep[dice.below(kSweep.size())];
  setting.options.counter_refresh = kRefresh[dice.below(kRefresh.size())];
  setting.options.reoffload = dice.below(2) == 0 ? Reoffload::kNever : Reoffload::kOnUpcall;
  setting.ticks.sweep_period = std::min(setting.options.max_idle, setting.options.max_revalidator);
  const bool aligned = dice.below(4) == 0;
  setting.ticks.sweep_phase = aligned ? Duration(0) : dice.even(setting.ticks.sweep_period);
  setting.ticks.refresh_phase = aligned ? Duration(0) : dice.even(setting.options.counter_refresh);
  return setting;
}

enum class Step : std::uint8_t {
  kWait,
  kHit,
  kTrain,       ///< ten hits, evenly spaced
  kContinuous,  ///< without a pause
  kLose,
  kCounters,  ///< freeze, or thaw
  kSweeps,    ///< stop, or resume
};

struct Action {
  Step step = Step::kHit;
  Time at;
  Time to;  ///< of kTrain and kContinuous
};

std::vector<Action> draw_actions(Dice& dice, bool with_clock_changes) {
  constexpr std::array<Duration, 5> kPauses = {
      milliseconds(100), seconds(1), seconds(6), seconds(13), seconds(40)};
  std::vector<Action> actions;
  Time now = kStartOfRun + Duration(1);
  for (int i = 0; i < kStepsOfSequence; ++i) {
    now += dice.even(kPauses[dice.below(kPauses.size())]) + Duration(2);
    constexpr std::array<Step, 9> kSteps = {Step::kWait,
                                            Step::kHit,
                                            Step::kHit,
                                            Step::kTrain,
                                            Step::kContinuous,
                                            Step::kContinuous,
                                            Step::kLose,
                                            Step::kCounters,
                                            Step::kSweeps};
    const Step step = kSteps[dice.below(with_clock_changes ? kSteps.size() : kSteps.size() - 2)];
    Action action{step, now, now};
    if (step == Step::kTrain || step == Step::kContinuous) {
      action.to = now + dice.even(kPauses[dice.below(kPauses.size())]) / 20 * 20;
      now = action.to;
    }
    actions.push_back(action);
  }
  return actions;
}

/// The changes of the clocks among the actions, alternating as they must.
std::vector<TimedChange> clock_changes(const std::vector<Action>& actions) {
  std::vector<TimedChange> changes;
  bool frozen = false;
  bool stopped = false;
  for (const Action& action : actions) {
    if (action.step == Step::kCounters) {
      changes.push_back(
          {action.at, frozen ? ClockChange::kThawCounters : ClockChange::kFreezeCounters});
      frozen = !frozen;
    } else if (action.step == Step::kSweeps) {
      changes.push_back(
          {action.at, stopped ? ClockChange::kResumeSweeps : ClockChange::kStopSweeps});
      stopped = !stopped;
    }
  }
  return changes;
}

void change(PeriodicClock& sweeps, PeriodicClock& refreshes, const TimedChange& what) {
  switch (what.change) {
    case ClockChange::kFreezeCounters:
      refreshes.stop(what.at);
      break;
    case ClockChange::kThawCounters:
      refreshes.resume(what.at);
      break;
    case ClockChange::kStopSweeps:
      sweeps.stop(what.at);
      break;
    case ClockChange::kResumeSweeps:
      sweeps.resume(what.at);
      break;
  }
}

NaivePlace as_naive(FlowPlace place) {
  switch (place) {
    case FlowPlace::kAbsent:
      return NaivePlace::kAbsent;
    case FlowPlace::kOffloaded:
      return NaivePlace::kOffloaded;
    case FlowPlace::kSoftware:
      return NaivePlace::kSoftware;
  }
  return NaivePlace::kAbsent;
}

/// Both models side by side under the same clocks.
class Twins {
 public:
  Twins(const Setting& setting, const std::vector<TimedChange>& changes)
      : options_(setting.options),
        sweeps_(kStartOfRun + setting.ticks.sweep_phase, setting.ticks.sweep_period),
        refreshes_(kStartOfRun + setting.ticks.refresh_phase, setting.options.counter_refresh),
        naive_(setting.options, setting.ticks, changes) {}

  /// As the world does it: settle, change, rearm.
  void change_live(const TimedChange& what) {
    settle(flow_, clocks(), what.at);
    change(sweeps_, refreshes_, what);
    rearm(flow_, clocks());
  }

  /// Before the flow exists, for one that is made after the changes and catches up with traffic.
  void change_ahead(const TimedChange& what) { change(sweeps_, refreshes_, what); }

  void run(const Action& action) {
    switch (action.step) {
      case Step::kWait:
        settle(flow_, clocks(), action.at);
        naive_.advance(action.at);
        break;
      case Step::kHit:
        hit_both(action.at);
        break;
      case Step::kTrain:
        for (int i = 0; i < 10; ++i) {
          hit_both(action.at + (action.to - action.at) / 10 * i);
        }
        break;
      case Step::kContinuous:
        settle(flow_, clocks(), action.at);
        hit_continuously(flow_, clocks(), action.at, action.to);
        naive_.hit_continuously(action.at, action.to);
        break;
      case Step::kLose:
        lose_offload(flow_, clocks(), action.at);
        naive_.lose_offload(action.at);
        break;
      case Step::kCounters:
      case Step::kSweeps:
        naive_.advance(action.at);
        break;
    }
    ASSERT_EQ(flow_.ukey.is_installed(), flow_.place != FlowPlace::kAbsent);
    ASSERT_EQ(as_naive(flow_.place), naive_.place())
        << fmt::format("after step {} at {} ns .. {} ns",
                       static_cast<int>(action.step),
                       nanoseconds(action.at),
                       nanoseconds(action.to));
  }

 private:
  FlowClocks clocks() const { return {sweeps_, refreshes_, options_}; }

  void hit_both(Time at) {
    const NaivePlace found = as_naive(hit(flow_, clocks(), at));
    ASSERT_EQ(found, naive_.hit(at)) << "hit at " << nanoseconds(at) << " ns";
  }

  OverlayOptions options_;
  PeriodicClock sweeps_;
  PeriodicClock refreshes_;
  NaiveMegaflow naive_;
  Megaflow flow_;
};

std::string describe(std::uint32_t seed, const Setting& setting) {
  return fmt::format("seed={} idle={}ms sweep={}ms refresh={}ms reoffload={} phases {} {}",
                     seed,
                     setting.options.max_idle.count() / 1'000'000,
                     setting.ticks.sweep_period.count() / 1'000'000,
                     setting.options.counter_refresh.count() / 1'000'000,
                     setting.options.reoffload == Reoffload::kNever ? "never" : "on_upcall",
                     setting.ticks.sweep_phase.count(),
                     setting.ticks.refresh_phase.count());
}

TEST(MegaflowReference, AgreesWhenClocksStopAndResumeAsTheyRun) {
  for (std::uint32_t seed = 1; seed <= kSequences; ++seed) {
    Dice dice(seed, 77);
    const Setting setting = draw_setting(dice);
    SCOPED_TRACE(describe(seed, setting));
    const std::vector<Action> actions = draw_actions(dice, true);
    const std::vector<TimedChange> changes = clock_changes(actions);
    Twins twins(setting, changes);
    std::size_t next_change = 0;
    for (const Action& action : actions) {
      if (action.step == Step::kCounters || action.step == Step::kSweeps) {
        twins.change_live(changes[next_change++]);
      }
      twins.run(action);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

/// A flow whose past is filled in later: traffic that runs across gaps in a single call.
TEST(MegaflowReference, AgreesWhenTrafficRunsAcrossGaps) {
  for (std::uint32_t seed = 1; seed <= kSequences; ++seed) {
    Dice dice(100'000 + seed, 77);
    const Setting setting = draw_setting(dice);
    SCOPED_TRACE(describe(seed, setting));
    const std::vector<TimedChange> changes = clock_changes(draw_actions(dice, true));
    Twins twins(setting, changes);
    for (const TimedChange& what : changes) {
      twins.change_ahead(what);
    }
    for (const Action& action : draw_actions(dice, false)) {
      twins.run(action);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
