#include "faults/injector.h"

#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::test {
namespace {

using testing::ElementsAre;

FaultSpec fault(const char* name, EffectSpec effect, std::int64_t at, std::int64_t length_s) {
  return {.name = name,
          .kind = "custom",
          .on = effect.on,
          .at = at_s(at),
          .duration = std::chrono::seconds(length_s),
          .effects = {effect}};
}

struct Seen {
  std::vector<std::pair<std::size_t, bool>> events;

  static void notice(void* self, std::size_t index, bool begun) {
    static_cast<Seen*>(self)->events.emplace_back(index, begun);
  }
};

TEST(Injector, BeginsAndEndsFaultsAtTheirTimes) {
  SmallWorld small;
  Injector injector(small.world);
  Seen seen;
  injector.observe(&Seen::notice, &seen);
  EffectSpec gray = on_cable(EffectKind::kLinkLoss, CableId(3));
  gray.ratio = 0.5;
  ASSERT_TRUE(injector
                  .schedule({fault("down", on_cable(EffectKind::kPortDown, CableId(3)), 10, 5),
                             fault("gray", gray, 12, 0)})
                  .has_value());
  // Seconds; the loss of a probe between the RNICs 0 and 3: a port down, then half of each way.
  const std::vector<std::pair<std::int64_t, double>> timeline = {
      {9'999, 0.0}, {10'000, 1.0}, {12'500, 1.0}, {14'999, 1.0}, {15'000, 0.75}, {600'000, 0.75}};
  for (const auto& [ms, loss] : timeline) {
    small.run_until(at_ms(ms));
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(3)), loss, 1e-5) << ms;
  }
  EXPECT_THAT(seen.events,
              ElementsAre(std::pair{std::size_t{0}, true},
                          std::pair{std::size_t{1}, true},
                          std::pair{std::size_t{0}, false}));
}

TEST(Injector, RefusesAnEffectThatCannotActAndNamesTheFault) {
  SmallWorld small;
  Injector injector(small.world);
  const auto result =
      injector.schedule({fault("odd one", on_rnic(EffectKind::kLinkLoss, RnicId(0)), 1, 0)});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(result.error().detail, testing::HasSubstr("odd one"));
  EXPECT_THAT(result.error().detail, testing::HasSubstr("link.loss"));
}

/// The state that confounders change, sampled every half second over ten minutes.
std::vector<std::uint8_t> confounded(std::uint64_t seed, const ConfounderOptions& confounders) {
  SmallWorld small(small_world_options(seed));
  Injector injector(small.world);
  injector.schedule(confounders, std::chrono::minutes(10));
  std::vector<std::uint8_t> states;
  for (std::int64_t ms = 0; ms < 640'000; ms += 500) {
    small.run_until(at_ms(ms));
    for (std::uint32_t h = 0; h < small.world.fabric().host_count(); ++h) {
      states.push_back(small.world.agent_running(HostId(h)) ? 0 : 1);
    }
    for (const auto& [source, target] : small.pairs()) {
      const ProbePath path = resolve_path(small.world, small.spec(source, target));
      states.push_back(path.queue_mean_ns > 0.0 ? 2 : 0);
    }
  }
  return states;
}

TEST(Injector, PlacesConfoundersBySeed) {
  const ConfounderOptions confounders{.agent_crashes = 3, .congestion_per_minute = 5.0};
  const auto states = confounded(1, confounders);
  EXPECT_EQ(states, confounded(1, confounders));
  EXPECT_NE(states, confounded(2, confounders));
  EXPECT_GT(std::count(states.begin(), states.end(), 2), 0);
  // Three agents are down for 40 s each, seen every 500 ms; two may overlap on one host.
  const auto down = std::count(states.begin(), states.end(), 1);
  EXPECT_GE(down, 80);
  EXPECT_LE(down, 240);
  const auto none = confounded(1, {});
  EXPECT_EQ(std::count(none.begin(), none.end(), 0), static_cast<std::ptrdiff_t>(none.size()));
}

TEST(Injector, CrashesNoAgentInTheFirstTenthOfTheRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SmallWorld small(small_world_options(seed));
    Injector injector(small.world);
    injector.schedule({.agent_crashes = 20}, std::chrono::minutes(10));
    small.run_until(at_ms(59'999));
    for (std::uint32_t h = 0; h < small.world.fabric().host_count(); ++h) {
      EXPECT_TRUE(small.world.agent_running(HostId(h))) << "seed=" << seed;
    }
    small.run_until(at_s(700));
    for (std::uint32_t h = 0; h < small.world.fabric().host_count(); ++h) {
      EXPECT_TRUE(small.world.agent_running(HostId(h))) << "seed=" << seed;
    }
  }
}

}  // namespace
}  // namespace bonescan::test
