// The cheapest that meets everything, the curve, and what binds.
#include "planner/optimize/choose.h"

#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlanCandidate candidate(double price, double hours, std::vector<std::string> misses = {}) {
  PlanCandidate one;
  one.probes_per_rnic_s = price;
  one.gpu_hours_per_day = hours;
  one.misses = std::move(misses);
  return one;
}

TEST(Choose, TakesTheCheapestThatMeetsEverythingThenTheOneThatLosesLess) {
  const ScheduleChoice choice = choose({candidate(20, 1),
                                        candidate(5, 9, {"delay (9 s of 5 s)"}),
                                        candidate(10, 4),
                                        candidate(10, 3)});
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(*choice.best, 3U);
  EXPECT_THAT(choice.binding, IsEmpty());
  EXPECT_THAT(choice.pareto, ElementsAre(1U, 3U, 0U));
  ASSERT_TRUE(choice.cheaper && choice.dearer);
  EXPECT_DOUBLE_EQ(choice.cheaper->probes_per_rnic_s, -5.0);
  EXPECT_DOUBLE_EQ(*choice.cheaper->hours_per_probe_saved, 6.0 / 5.0);
  EXPECT_DOUBLE_EQ(*choice.dearer->hours_per_probe_saved, 2.0 / 10.0);
}

TEST(Choose, NamesWhatNobodyMeets) {
  const ScheduleChoice choice = choose({candidate(1, 1, {"delay (9 s of 5 s)", "alarms (2 of 1)"}),
                                        candidate(2, 1, {"delay (7 s of 5 s)"})});
  EXPECT_FALSE(choice.best);
  EXPECT_FALSE(choice.only_together);
  EXPECT_THAT(choice.binding, ElementsAre("delay"));
}

TEST(Choose, NamesWhatBindsTogether) {
  const ScheduleChoice choice = choose({candidate(1, 1, {"delay (9 s of 5 s)"}),
                                        candidate(2, 1, {"alarms (2 of 1)", "cores (3 of 1)"})});
  EXPECT_FALSE(choice.best);
  EXPECT_TRUE(choice.only_together);
  EXPECT_THAT(choice.binding, ElementsAre("delay"));
}

TEST(Choose, OfNothingIsNothing) {
  const ScheduleChoice choice = choose({});
  EXPECT_FALSE(choice.best);
  EXPECT_THAT(choice.pareto, IsEmpty());
  EXPECT_THAT(choice.binding, IsEmpty());
}

// Against all pairs: nobody beats a point of the curve, and somebody beats every other.
TEST(Choose, HasAllThatIsNotBeatenOnItsCurve) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const RngStream dice(seed, Purpose::kTest, 1);
    std::vector<PlanCandidate> all;
    for (std::uint64_t i = 0; i < 1 + seed % 30; ++i) {
      all.push_back(candidate(static_cast<double>(1 + dice.at(2 * i) % 8),
                              static_cast<double>(1 + dice.at(2 * i + 1) % 8)));
    }
    const ScheduleChoice choice = choose(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool beaten = std::any_of(all.begin(), all.end(), [&](const PlanCandidate& other) {
        const double price = other.probes_per_rnic_s - all[i].probes_per_rnic_s;
        const double hours = other.gpu_hours_per_day - all[i].gpu_hours_per_day;
        return price <= 0.0 && hours <= 0.0 && (price < 0.0 || hours < 0.0);
      });
      const bool on_it =
          std::any_of(choice.pareto.begin(), choice.pareto.end(), [&](std::size_t point) {
            return all[point].probes_per_rnic_s == all[i].probes_per_rnic_s &&
                   all[point].gpu_hours_per_day == all[i].gpu_hours_per_day;
          });
      EXPECT_EQ(on_it, !beaten) << i;
    }
  }
}

}  // namespace
}  // namespace bonescan
