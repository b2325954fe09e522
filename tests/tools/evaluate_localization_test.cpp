#include "tests/support/run_data_builder.h"
#include "tools/evaluate/localization.h"

namespace bonescan {
namespace {

using Names = std::vector<std::pair<ComponentType, std::string>>;

TEST(Localization, FollowsTheClassesOfTheRules) {
  struct Case {
    const char* name;
    Layer truth_layer;
    ComponentType truth_type;
    std::string truth;
    std::vector<std::string> equivalent;
    Layer layer;
    Names named;
    Placement expected;
    double credit;
  };
  const auto link = ComponentType::kLink;
  const auto rnic = ComponentType::kRnic;
  const auto rule = ComponentType::kRule;
  const std::string cable = "link(host-0.00/rnic-0, tor-0.0)";
  const std::string trunk = "link(tor-0.0, agg-0)";
  const std::string other = "link(tor-0.0, agg-1)";
  const std::string entry = "host-0.00/br-int table=10 vni=100,dst=10.0.1.0";
  const std::vector<Case> cases = {
      {"itself",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUnderlay,
       {{link, trunk}},
       Placement::kCorrect,
       1},
      {"another link",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUnderlay,
       {{link, other}},
       Placement::kWrong,
       0},
      {"RNIC port named by its cable",
       Layer::kUnderlay,
       rnic,
       "host-0.00/rnic-0",
       {},
       Layer::kUnderlay,
       {{link, cable}},
       Placement::kCorrect,
       1},
      {"cable named by its RNIC port",
       Layer::kUnderlay,
       link,
       cable,
       {},
       Layer::kUnderlay,
       {{rnic, "host-0.00/rnic-0"}},
       Placement::kCorrect,
       1},
      {"cable and port are one",
       Layer::kUnderlay,
       link,
       cable,
       {},
       Layer::kUnderlay,
       {{rnic, "host-0.00/rnic-0"}, {link, cable}},
       Placement::kCorrect,
       1},
      {"a switch is not its link",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUnderlay,
       {{ComponentType::kSwitch, "tor-0.0"}},
       Placement::kWrong,
       0},
      {"the RNIC's table is no port",
       Layer::kRnic,
       rnic,
       "host-0.00/rnic-0",
       {},
       Layer::kRnic,
       {{link, cable}},
       Placement::kWrong,
       0},
      {"right component, wrong layer",
       Layer::kRnic,
       rnic,
       "host-0.00/rnic-0",
       {},
       Layer::kUnderlay,
       {{rnic, "host-0.00/rnic-0"}},
       Placement::kWrong,
       0},
      {"right rule, wrong layer",
       Layer::kOverlay,
       rule,
       entry,
       {},
       Layer::kRnic,
       {{rule, entry}},
       Placement::kWrong,
       0},
      {"two where one could be told",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUnderlay,
       {{link, trunk}, {link, other}},
       Placement::kWrong,
       0.5},
      {"two that no probe could tell apart",
       Layer::kUnderlay,
       link,
       trunk,
       {"link " + trunk, "link " + other},
       Layer::kUnderlay,
       {{link, other}, {link, trunk}},
       Placement::kCorrect,
       0.5},
      {"a rule by bridge and match",
       Layer::kOverlay,
       rule,
       entry,
       {},
       Layer::kOverlay,
       {{rule, entry}},
       Placement::kCorrect,
       1},
      {"another match",
       Layer::kOverlay,
       rule,
       entry,
       {},
       Layer::kOverlay,
       {{rule, entry + "1"}},
       Placement::kWrong,
       0},
      {"the bridge is not its rule",
       Layer::kOverlay,
       rule,
       entry,
       {},
       Layer::kOverlay,
       {{ComponentType::kBridge, "host-0.00/br-int"}},
       Placement::kWrong,
       0},
      {"nothing named",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUnderlay,
       {},
       Placement::kAbstained,
       0},
      {"layer undetermined",
       Layer::kUnderlay,
       link,
       trunk,
       {},
       Layer::kUndetermined,
       {{link, trunk}},
       Placement::kAbstained,
       0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RunDataBuilder b;
    TruthRow& truth =
        b.fault("f", {.type = c.truth_type, .component = c.truth, .layer = c.truth_layer});
    truth.equivalent = c.equivalent;
    const Incident& incident = b.incident({.layer = c.layer, .candidates = c.named});
    const auto judgement = judge_placement(incident, b.run.components, truth);
    EXPECT_EQ(judgement.placement, c.expected);
    EXPECT_DOUBLE_EQ(judgement.top1_credit, c.credit);
  }
}

TEST(Localization, CountsClassesAndNotNames) {
  RunDataBuilder b;
  TruthRow& truth = b.fault("f", {.component = "link(host-0.00/rnic-0, tor-0.0)"});
  truth.equivalent = {
      "link link(host-0.00/rnic-0, tor-0.0)", "rnic host-0.00/rnic-0", "switch tor-0.0"};
  const Incident& incident =
      b.incident({.candidates = {{ComponentType::kSwitch, "tor-0.0"},
                                 {ComponentType::kRnic, "host-0.00/rnic-0"},
                                 {ComponentType::kLink, "link(host-0.00/rnic-0, tor-0.0)"}}});
  const auto judgement = judge_placement(incident, b.run.components, truth);
  EXPECT_EQ(judgement.set_size, 2U);
  EXPECT_EQ(judgement.class_size, 2U);
  EXPECT_EQ(judgement.placement, Placement::kCorrect);
}

}  // namespace
}  // namespace bonescan
