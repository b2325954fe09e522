#include "tools/campaign/campaign_file.h"

#include "scenarios/schema/schema_key.h"
#include "tests/support/campaign_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kHead = "name: x\nscenario: ../smoke/healthy.yaml\n";
const std::string kTail = "schemes: [{name: ours}]\n";

TEST(CampaignFile, ReadsEveryKey) {
  const CampaignFile file = fakes::campaign_from(R"(
name: all
description: of them
constraint:
  - only: {load: [busy, idle]}
  - not: {load: busy, "faults[0].loss": 5%}
scenario: ../smoke/healthy.yaml
set: [duration=5min, "jobs[0].gpus=16"]
sweep:
  - {values: [1%, 5%], key: "faults[0].loss"}
  - name: load
    values: [{name: idle}, {name: busy, set: [a=1, b=2]}, {name: third}]
draw:
  count: 3
  keys:
    - {key: p, uniform: [1%, 2.5%]}
    - {key: q, log-uniform: [1us, 100us]}
    - {key: n, integer: [2, 4]}
    - {name: kind, choice: [{name: one, set: [x=1]}, {name: two}]}
seeds: {from: 7, to: 99, parity: odd, spread: in-turn}
schemes:
  - name: ours
    set: [detection.configuration=bonescan]
    riders: [{scheme: theirs, detector: pingmesh, localizer: "007"}]
  - {name: paper}
)");
  EXPECT_EQ(file.name, "all");
  EXPECT_EQ(file.description, "of them");
  EXPECT_THAT(file.scenario_file, testing::EndsWith("scenarios/campaigns/../smoke/healthy.yaml"));
  ASSERT_THAT(file.settings, SizeIs(2));
  EXPECT_EQ(file.settings[1].text, "jobs[0].gpus=16");
  EXPECT_EQ(file.settings[1].path, "set[1]");
  EXPECT_EQ(file.settings[1].at.line, 8);
  ASSERT_THAT(file.sweeps, SizeIs(2));
  EXPECT_EQ(file.sweeps[0].name, "faults[0].loss");
  EXPECT_EQ(file.sweeps[0].values[1].settings[0].text, "faults[0].loss=5%");
  EXPECT_EQ(file.sweeps[1].values[1].settings[1].text, "b=2");
  EXPECT_EQ(file.sweeps[1].values[1].settings[1].path, "sweep[1].values[1].set[1]");
  ASSERT_THAT(file.rules, SizeIs(2));
  EXPECT_EQ(file.rules[0].keep, CellRule::Keep::kMatching);
  EXPECT_THAT(file.rules[0].conditions[0].values, ElementsAre(1, 0));
  EXPECT_THAT(file.rules[1].conditions, SizeIs(2));
  EXPECT_EQ(file.draw->count, 3);
  EXPECT_EQ(file.draw->keys[0].high, 2.5);
  EXPECT_EQ(file.draw->keys[0].unit, "%");
  EXPECT_EQ(file.draw->keys[1].law, DrawnKey::Law::kLogUniform);
  EXPECT_EQ(file.draw->keys[2].law, DrawnKey::Law::kInteger);
  EXPECT_EQ(file.draw->keys[3].choices[0].settings[0].text, "x=1");
  EXPECT_EQ(file.seeds.from, 7);
  EXPECT_EQ(*file.seeds.to, 99);
  EXPECT_EQ(file.seeds.parity, CampaignParity::kOdd);
  EXPECT_EQ(file.seeds.spread, SeedSpread::kInTurn);
  ASSERT_THAT(file.schemes, SizeIs(2));
  EXPECT_EQ(file.schemes[0].riders[0].localizer, "007");
}

TEST(CampaignFile, IsRefusedAtThePlaceThatIsWrong) {
  struct Case {
    const char* name;
    std::string text;
    std::string place;
    std::string expected;
  };
  const std::string sweep = kHead + kTail + "sweep: [{key: a, values: [1, 2]}]\n";
  const std::string rider = kHead + "schemes: [{name: a, riders: [";
  const std::vector<Case> cases = {
      {"unknown key", kHead + kTail + "swep: []\n", ":4:1: swep: ", "did you mean 'sweep'"},
      {"no schemes", kHead, ":1:1: schemes: ", "expected"},
      {"empty schemes", kHead + "schemes: []\n", ":3:10: schemes: ", "1 to 64 entries"},
      {"scheme twice",
       kHead + "schemes: [{name: a}, {name: a}]\n",
       ":3:22: schemes[1]: ",
       "a name of its own"},
      {"rider as a scheme",
       rider + "{scheme: a, detector: pingmesh}]}]\n",
       ":3:11: schemes[0].riders: ",
       "a name of its own"},
      {"unknown detector",
       rider + "{scheme: b, detector: pingmsh}]}]\n",
       "schemes[0].riders[0].detector: ",
       "did you mean 'pingmesh'"},
      {"unknown localizer",
       rider + "{scheme: b, detector: pingmesh, localizer: x}]}]\n",
       "schemes[0].riders[0].localizer: ",
       "one of 007 | raw-vote"},
      {"plain value without a key",
       kHead + kTail + "sweep: [{name: a, values: [1]}]\n",
       ":4:28: sweep[0].values[0]: ",
       "a map with a name and what it sets"},
      {"neither key nor name",
       kHead + kTail + "sweep: [{values: [{name: b}]}]\n",
       ":4:9: sweep[0]: ",
       "a key or a name"},
      {"value twice",
       kHead + kTail + "sweep: [{key: a, values: [1, 1]}]\n",
       ":4:30: sweep[0].values[1]: ",
       "a name of its own"},
      {"rule on no sweep", sweep + "constraint: [{not: {b: 1}}]\n", "constraint[0].not.b", "a"},
      {"rule on no value",
       sweep + "constraint: [{not: {a: 3}}]\n",
       "constraint[0].not.a: ",
       "one of 1 | 2"},
      {"rule of two kinds",
       sweep + "constraint: [{not: {a: 1}, only: {a: 2}}]\n",
       "constraint[0]: ",
       "one of only | not"},
      {"empty rule", sweep + "constraint: [{not: {}}]\n", "constraint[0].not: ", "a map"},
      {"seeds backwards",
       kHead + kTail + "seeds: {from: 5, to: 4}\n",
       ":4:22: seeds.to: ",
       "at least 5"},
      {"repeat and to",
       kHead + kTail + "repeat: 3\nseeds: {to: 4}\n",
       ":5:13: seeds.to: ",
       "none beside repeat"},
      {"a seed is set",
       kHead + kTail + "set: [seed=3]\n",
       ":4:7: set[0]: ",
       "a setting of another key"},
      {"two laws",
       kHead + kTail + "draw: {keys: [{key: a, uniform: [1, 2], choice: [1]}]}\n",
       "draw.keys[0]: ",
       "one of uniform | log-uniform | integer | choice"},
      {"two units",
       kHead + kTail + "draw: {keys: [{key: a, uniform: [1us, 2ms]}]}\n",
       "draw.keys[0].uniform: ",
       "both ends in one unit"},
      {"log of nothing",
       kHead + kTail + "draw: {keys: [{key: a, log-uniform: [0, 2]}]}\n",
       "draw.keys[0].log-uniform: ",
       "two rising numbers above 0"},
      {"no number",
       kHead + kTail + "draw: {keys: [{key: a, uniform: [few, many]}]}\n",
       "draw.keys[0].uniform[0]: ",
       "a number"},
      {"range without a key",
       kHead + kTail + "draw: {keys: [{name: a, uniform: [1, 2]}]}\n",
       "draw.keys[0]: ",
       "a key, or a name and a choice"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    try {
      fakes::campaign_from(c.text);
      ADD_FAILURE() << "accepted";
    } catch (const ConfigError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(fakes::campaign_path() + ":")) << what;
      EXPECT_THAT(what, HasSubstr(c.place));
      EXPECT_THAT(what, HasSubstr(c.expected));
      EXPECT_THAT(what, HasSubstr("; hint: "));
    }
  }
}

}  // namespace
}  // namespace bonescan
