#include "tools/campaign/cell_draws.h"

#include "tests/support/campaign_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace bonescan {
namespace {

CampaignPlan drawn_plan(const std::string& keys,
                        const std::string& hold_out,
                        const std::string& more = {}) {
  return plan_campaign(fakes::campaign_from("name: x\nscenario: ../smoke/healthy.yaml\n"
                                            "schemes: [{name: ours}]\n" +
                                            more + "draw:\n  count: 2000\n  keys:\n" + keys),
                       {.hold_out = hold_out});
}

const std::string kLaws =
    "    - {key: u, uniform: [10us, 20us]}\n"
    "    - {key: l, log-uniform: [0.001%, 10%]}\n"
    "    - {key: n, integer: [2, 4]}\n"
    "    - {name: kind, choice: [{name: a, set: [x=1, y=2]}, {name: b}]}\n";

const std::string& value_of(const PlannedCell& planned, std::size_t position) {
  return planned.cell.values.at(position).second;
}

TEST(CellDraws, FollowTheirLaws) {
  const CampaignPlan plan = drawn_plan(kLaws, "a commit");
  double sum_uniform = 0.0;
  int below_middle = 0;
  std::map<std::string, int> integers;
  std::map<std::string, int> kinds;
  for (const PlannedCell& planned : plan.cells) {
    const double uniform = std::stod(value_of(planned, 0));
    const double log_uniform = std::stod(value_of(planned, 1));
    EXPECT_TRUE(uniform >= 10.0 && uniform <= 20.0) << uniform;
    EXPECT_TRUE(log_uniform >= 0.001 && log_uniform <= 10.0) << log_uniform;
    EXPECT_THAT(value_of(planned, 0), testing::MatchesRegex("[0-9.]+us"));
    EXPECT_THAT(value_of(planned, 1), testing::MatchesRegex("[0-9.]+%"));
    sum_uniform += uniform;
    below_middle += log_uniform < 0.1 ? 1 : 0;
    ++integers[value_of(planned, 2)];
    ++kinds[value_of(planned, 3)];
    EXPECT_EQ(planned.settings.size(), value_of(planned, 3) == "a" ? 5 : 3);
    EXPECT_EQ(planned.settings[0].text, "u=" + value_of(planned, 0));
  }
  const auto n = static_cast<double>(plan.cells.size());
  // Five standard deviations: of a mean of uniforms, and of shares.
  EXPECT_NEAR(sum_uniform / n, 15.0, 5.0 * 10.0 / std::sqrt(12.0 * n));
  EXPECT_NEAR(below_middle / n, 0.5, 5.0 * 0.5 / std::sqrt(n));
  EXPECT_EQ(integers.size(), 3);
  EXPECT_NEAR(integers["3"] / n, 1.0 / 3.0, 5.0 * 0.5 / std::sqrt(n));
  EXPECT_EQ(kinds.size(), 2);
  EXPECT_NEAR(kinds["a"] / n, 0.5, 5.0 * 0.5 / std::sqrt(n));
}

TEST(CellDraws, AreThoseOfTheTextAndOfNothingElse) {
  const CampaignPlan one = drawn_plan(kLaws, "c0ffee");
  const CampaignPlan same = drawn_plan(kLaws, "c0ffee");
  const CampaignPlan other = drawn_plan(kLaws, "decade");
  // Another key behind it moves no draw.
  const CampaignPlan longer = drawn_plan(kLaws + "    - {key: z, uniform: [1, 2]}\n", "c0ffee");
  std::size_t equal = 0;
  for (std::size_t c = 0; c < one.cells.size(); ++c) {
    EXPECT_EQ(cell_text(one.cells[c].cell), cell_text(same.cells[c].cell));
    EXPECT_EQ(value_of(one.cells[c], 1), value_of(longer.cells[c], 1));
    equal += value_of(one.cells[c], 1) == value_of(other.cells[c], 1) ? 1 : 0;
  }
  EXPECT_LT(equal, one.cells.size() / 100);
}

TEST(CellDraws, MoveTheSeedsOfAHoldOutAndKeepTheirParity) {
  const std::string seeds = "seeds: {from: 7, parity: odd}\n";
  const auto first = [&](const std::string& text) {
    return drawn_plan(kLaws, text, seeds).tasks.front().seed;
  };
  EXPECT_EQ(first(""), 7);
  EXPECT_GT(first("c0ffee"), std::uint64_t{1} << 40);
  EXPECT_EQ(first("c0ffee") % 2, 1);
  EXPECT_EQ(first("c0ffee"), first("c0ffee"));
  EXPECT_NE(first("c0ffee"), first("decade"));
}

}  // namespace
}  // namespace bonescan
