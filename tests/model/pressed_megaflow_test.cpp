// The closed form of a megaflow under pressure, tickets and sweeps of changing length against one
// that lives through every tick.
#include "model/overlay/megaflow.h"
#include "tests/support/dice.h"
#include "tests/support/naive_megaflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Dice;
using test::NaiveMegaflow;
using test::NaivePlace;

constexpr std::uint32_t kSequences = 1'000;
constexpr int kSteps = 60;

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

constexpr Duration kSweep = milliseconds(500);

/// One flow, twice.
class Twins {
 public:
  explicit Twins(std::uint32_t seed) : dice_(seed, 73) {
    options_.reoffload = dice_.below(2) == 0 ? Reoffload::kNever : Reoffload::kOnUpcall;
    const Duration sweep_phase = dice_.even(kSweep);
    const Duration refresh_phase = dice_.even(options_.counter_refresh);
    sweeps_ = {kStartOfRun + sweep_phase, kSweep};
    refreshes_ = {kStartOfRun + refresh_phase, options_.counter_refresh};
    naive_ = NaiveMegaflow(
        options_,
        {.sweep_phase = sweep_phase, .sweep_period = kSweep, .refresh_phase = refresh_phase},
        {});
  }

  void step() {
    constexpr std::array<Duration, 4> kPauses = {
        milliseconds(60), milliseconds(900), seconds(4), seconds(13)};
    const Time at = now_ + dice_.even(kPauses[dice_.below(kPauses.size())]) + Duration(2);
    const std::uint64_t what = dice_.below(8);
    if (what == 0) {
      pass(at, true);
      return;
    }
    pass(at, false);
    switch (what) {
      case 1:
        flow_.offloadable = !flow_.offloadable;
        naive_.set_offloadable(flow_.offloadable);
        break;
      case 2:
        yield_offload(flow_, clocks(), at);
        naive_.lose_offload(at);
        break;
      case 3:
        regain_offload(flow_, clocks(), at);
        naive_.regain_offload(at);
        break;
      default:
        ASSERT_EQ(as_naive(hit(flow_, clocks(), at)), naive_.hit(at)) << nanoseconds(at);
    }
    settle(flow_, clocks(), at);
    compare();
  }

 private:
  FlowClocks clocks() const { return {sweeps_, refreshes_, options_, pressure_}; }

  void compare() {
    ASSERT_EQ(as_naive(flow_.place), naive_.place()) << "at " << nanoseconds(now_) << " ns";
    ASSERT_EQ(flow_.ukey.is_installed(), flow_.place != FlowPlace::kAbsent);
  }

  void traffic(Time from, Time to) {
    hit_continuously(flow_, clocks(), from, to);
    naive_.hit_continuously(from, to);
  }

  /// Brings both to `at`, busy all the way or silent, past the sweeps in between.
  void pass(Time at, bool busy) {
    for (Time sweep = sweeps_.after(now_ + Duration(1)); sweep <= at;
         sweep = sweeps_.after(sweep)) {
      const Time before = sweep - Duration(1);
      if (busy) {
        traffic(now_, before);
      }
      now_ = before;
      decide(sweep);
      compare();
    }
    if (busy) {
      traffic(now_, at);
    }
    settle(flow_, clocks(), at);
    naive_.advance(at);
    now_ = at;
    compare();
  }

  /// What the world does just before a sweep of a pressed host.
  void decide(Time sweep) {
    settle(flow_, clocks(), now_);
    if (dice_.below(6) == 0) {
      pressure_ = {.max_idle = dice_.below(2) == 0 ? Duration{} : kPressedIdle,
                   .installs = dice_.below(3) != 0};
    }
    if (dice_.below(6) == 0) {
      sweeps_.restart(sweep, kSweep * static_cast<int>(1 + dice_.below(4)));
    }
    rearm(flow_, clocks(), now_);
    naive_.press(now_, sweeps_.period(), clocks().max_idle(), pressure_.installs);
  }

  Dice dice_;
  OverlayOptions options_;
  PeriodicClock sweeps_;
  PeriodicClock refreshes_;
  HostPressure pressure_;
  Megaflow flow_;
  NaiveMegaflow naive_{options_, {}, {}};
  Time now_ = kStartOfRun + Duration(1);
};

TEST(PressedMegaflow, AgreesWithOneThatLivesThroughEveryTick) {
  for (std::uint32_t seed = 1; seed <= kSequences; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Twins twins(seed);
    for (int i = 0; i < kSteps; ++i) {
      twins.step();
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
