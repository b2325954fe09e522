// The states of a ukey move forward or not at all.
#include "model/overlay/ukey.h"

#include "model/overlay/megaflow.h"
#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kStates = static_cast<int>(UkeyState::kDeleted) + 1;

/// A ukey in the given state, by allowed steps.
Ukey in_state(UkeyState wanted) {
  Ukey ukey;
  if (wanted == UkeyState::kDeleted) {
    return ukey;
  }
  ukey.create(UkeyActor::kHandler);
  while (ukey.state() != wanted) {
    ukey.move_to(static_cast<UkeyState>(static_cast<int>(ukey.state()) + 1),
                 UkeyActor::kRevalidator);
  }
  return ukey;
}

TEST(Ukey, TakesExactlyTheStepsThatOpenVSwitchTakes) {
  using enum UkeyState;
  const std::set<std::pair<UkeyState, UkeyState>> allowed = {{kCreated, kVisible},
                                                             {kVisible, kOperational},
                                                             {kVisible, kInconsistent},
                                                             {kVisible, kEvicting},
                                                             {kVisible, kEvicted},
                                                             {kOperational, kInconsistent},
                                                             {kOperational, kEvicting},
                                                             {kInconsistent, kEvicting},
                                                             {kEvicting, kEvicted},
                                                             {kEvicted, kDeleted}};
  for (int from = 0; from < kStates; ++from) {
    for (int to = 0; to < kStates; ++to) {
      const std::pair step(static_cast<UkeyState>(from), static_cast<UkeyState>(to));
      EXPECT_EQ(is_ukey_step(step.first, step.second), allowed.contains(step))
          << to_string(step.first) << " to " << to_string(step.second);
      if (to <= from) {
        EXPECT_FALSE(is_ukey_step(step.first, step.second)) << "a step back";
      }
    }
  }
}

TEST(UkeyDeathTest, StepBackAbortsAndNamesWhoMadeTheLastStep) {
  for (int from = 1; from < kStates; ++from) {
    Ukey ukey = in_state(static_cast<UkeyState>(from));
    const auto back = static_cast<UkeyState>(from - 1);
    const std::string last = from == kStates - 1 ? "nobody" : "a revalidator";
    EXPECT_DEATH(ukey.move_to(back, UkeyActor::kHandler), "ukey step from .* last step by " + last);
  }
}

TEST(UkeyDeathTest, FlowHasOneUkeyAtATime) {
  Ukey ukey = in_state(UkeyState::kOperational);
  EXPECT_DEATH(install(ukey), "ukey step from operational to created");
  evict(ukey);
  EXPECT_FALSE(ukey.is_installed());
  install(ukey);
  EXPECT_EQ(ukey.state(), UkeyState::kOperational);
  EXPECT_EQ(ukey.last_actor(), UkeyActor::kHandler);
}

/// Random lives: within one installation the state never moves back, and it is installed exactly
/// while the flow is.
TEST(Ukey, OfAMegaflowOnlyMovesForward) {
  int inconsistent = 0;
  int installs = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const RngStream draws(seed, Purpose::kTest, 70);
    OverlayOptions options;
    options.reoffload = seed % 2 == 0 ? Reoffload::kNever : Reoffload::kOnUpcall;
    const PeriodicClock sweeps(kStartOfRun, milliseconds(500));
    PeriodicClock refreshes(kStartOfRun + milliseconds(seed), seconds(1));
    const FlowClocks clocks{sweeps, refreshes, options};
    Megaflow flow;
    Time now = kStartOfRun + seconds(1);
    for (std::uint32_t step = 0; step < 100; ++step) {
      const Ukey before = flow.ukey;
      const Time installed = flow.installed;
      now += milliseconds(1 + draws.at(2 * step) % 9'000);
      const std::uint64_t what = draws.at(2 * step + 1) % 8;
      if (what == 0) {
        lose_offload(flow, clocks, now);
      } else if (what == 1 && !refreshes.stopped()) {
        settle(flow, clocks, now);
        refreshes.stop(now);
        rearm(flow, clocks);
      } else if (what == 2) {
        hit_continuously(flow, clocks, now, now + seconds(12));
        now += seconds(12);
      } else {
        hit(flow, clocks, now);
      }
      settle(flow, clocks, now);
      ASSERT_EQ(flow.ukey.is_installed(), flow.place != FlowPlace::kAbsent) << "seed=" << seed;
      installs += flow.installed == installed ? 0 : 1;
      inconsistent += flow.ukey.state() == UkeyState::kInconsistent ? 1 : 0;
      if (flow.installed == installed && before.is_installed()) {
        ASSERT_GE(flow.ukey.state(), before.state()) << "seed=" << seed;
      }
    }
  }
  EXPECT_GT(installs, 1'000);
  EXPECT_GT(inconsistent, 100);
}

}  // namespace
}  // namespace bonescan
