#include "detectors/incident/action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::HasSubstr;
using testing::Not;

class ActionTest : public testing::Test {
 protected:
  std::string action(Layer layer,
                     const char* kind,
                     const std::vector<std::string>& names,
                     Symptom symptom = Symptom::kLoss) {
    Incident incident;
    incident.layer = layer;
    incident.kind = kind;
    incident.symptom = symptom;
    for (const std::string& name : names) {
      incident.candidates.push_back({components_.intern(ComponentType::kLink, name), 1.0});
    }
    return suggested_action(incident, components_);
  }

  ComponentTable components_;
};

TEST_F(ActionTest, SaysWhatToDoByKindAndLayer) {
  struct Case {
    Layer layer;
    const char* kind;
    const char* text;
  };
  for (const Case& c :
       {Case{Layer::kUnderlay, "link-down", "Take A out of service and bring its ports up"},
        Case{Layer::kUnderlay, "link-loss", "clean or replace its transceivers or fibre."},
        Case{Layer::kUnderlay, "link-latency", "See what queues on A"},
        Case{Layer::kUnderlay, "something-new", "Take A out of service and check"},
        Case{Layer::kOverlay, "missing-rule", "Reinstall what is missing at A"},
        Case{Layer::kOverlay, "loop", "Correct A, which sends packets back"},
        Case{Layer::kOverlay, "missing-neighbour", "Flush the neighbour entry"},
        Case{Layer::kOverlay, "not-local", "Correct the tunnel end that A sends to"},
        Case{Layer::kOverlay, "table-mismatch", "Have the flows of A installed again"},
        Case{Layer::kOverlay, "bridge-latency", "See why the packets of A go to its Open vSwitch"},
        Case{Layer::kOverlay, "something-new", "Compare the rules of A"},
        Case{Layer::kRnic, "gid-change", "Restart the connections of A"},
        Case{Layer::kRnic, "table-mismatch", "Have the flows of A offloaded again"},
        Case{Layer::kRnic, "something-new", "Isolate A and reset it."},
        Case{Layer::kAgent, "agent-death", "Restart A; the network behind it is not watched"},
        Case{Layer::kHost, "pcie-width", "Isolate A at the next checkpoint and reseat it"},
        Case{Layer::kHost, "bond-degraded", "Reseat or replace the port of A"},
        Case{Layer::kHost, "something-new", "and put right what its check shows"},
        Case{Layer::kUndetermined, "slow-pair", "Check A."}}) {
    SCOPED_TRACE(c.kind);
    EXPECT_THAT(action(c.layer, c.kind, {"A"}), HasSubstr(c.text));
  }
}

TEST_F(ActionTest, NeverSingledOutWhatProbesCannotTellApart) {
  const std::string two = action(Layer::kUnderlay, "link-down", {"A", "B"});
  EXPECT_EQ(two,
            "Check A or B: probes cannot tell which one; then take the one at fault out of service "
            "and bring its ports up, or replace its optics or cable.");
  EXPECT_THAT(action(Layer::kUnderlay, "link-down", {"A", "B", "C"}), HasSubstr("A, B or C:"));
  EXPECT_THAT(action(Layer::kUnderlay, "link-down", {"A", "B", "C", "D", "E"}),
              HasSubstr("A, B, C or 2 more:"));
}

TEST_F(ActionTest, NamesNothingWhereNothingIsNamed) {
  for (const Symptom symptom : {Symptom::kLoss, Symptom::kUnreachable, Symptom::kLatency}) {
    const std::string text = action(Layer::kUndetermined, "slow-pair", {}, symptom);
    EXPECT_THAT(text, HasSubstr("Nothing is named: check the hosts at both ends"));
    EXPECT_THAT(text, Not(HasSubstr("replace")));
  }
}

}  // namespace
}  // namespace bonescan
