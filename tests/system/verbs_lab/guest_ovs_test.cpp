// Open vSwitch with flows offloaded to tc, in the guest, and somebody who touches tc behind its
// back: `bonescan flows` on the saved tables says which entry is missing and which rule is foreign.
//
// The tables were saved before, in the guest (ovs_tc.sh); here they are compared.  So were the
// states of a flow that offload.steps did things to: here the model is taken through the same.
#include "tests/system/ovs_lab/flow_model.h"
#include "tests/system/verbs_lab/lab_results.h"

#include <string>
#include <vector>

namespace bonescan::lab {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class GuestOvs : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_skipped("ovs"); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    ASSERT_TRUE(std::filesystem::exists(lab_file("ovs", "recovered/dpif_show.txt")))
        << "no results; ctest runs the guest before this test";
  }

  static json probes(const std::string& name) { return lab_json("ovs", name + "/probe.json"); }

  static fakes::ChildResult compare(const std::string& name) {
    const auto in = [&name](const std::string& file) { return lab_file("ovs", name + "/" + file); };
    return fakes::bonescan({"flows",
                            "--offload",
                            "tc",
                            "--datapath",
                            in("datapath.txt"),
                            "--openflow",
                            in("openflow.txt"),
                            "--trace",
                            in("trace.txt"),
                            "--tc",
                            "p1=" + in("p1.txt"),
                            "--tc",
                            "p2=" + in("p2.txt"),
                            "--ports",
                            in("dpctl_show.txt"),
                            "--ports",
                            in("dpif_show.txt"),
                            "--before",
                            in("before_datapath.txt"),
                            "--before",
                            in("before_openflow.txt")});
  }

  static void expect_healthy(const std::string& name) {
    EXPECT_EQ(probes(name)["lost"], 0);
    const fakes::ChildResult result = compare(name);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr(" 0 findings"));
  }
};

TEST_F(GuestOvs, HasNoFindingWhenHealthy) {
  expect_healthy("healthy");
}

// Nothing is lost, so nobody but a comparison of the tables can notice.
TEST_F(GuestOvs, MissesTheRuleThatWasRemovedBehindIt) {
  EXPECT_EQ(probes("rule_removed")["lost"], 0);
  const fakes::ChildResult result = compare("rule_removed");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("error: missing: "));
  EXPECT_THAT(result.out, HasSubstr("in_port=p1"));
  EXPECT_THAT(result.out, HasSubstr(" 1 finding "));
}

TEST_F(GuestOvs, NamesTheRuleThatWasAddedBehindIt) {
  EXPECT_EQ(probes("rule_added")["lost"], probes("rule_added")["sent"]);
  const fakes::ChildResult result = compare("rule_added");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("p1.txt:"));
  EXPECT_THAT(result.out, HasSubstr("error: shadowed: "));
  EXPECT_THAT(result.out, HasSubstr("tc filter pref 1 on p1"));
  EXPECT_THAT(result.out, HasSubstr(" 1 finding "));
}

TEST_F(GuestOvs, HasNoFindingAfterwards) {
  expect_healthy("recovered");
}

// The guest's time is virtual, so Open vSwitch may have its default of max-idle.
TEST_F(GuestOvs, ModelIsInTheStatesOfOffloadedFlows) {
  const json real = lab_json("ovs", "offload.json");
  compare_with_model(real, std::chrono::seconds(10), "ovs_offload");
  for (const json& state : real) {
    EXPECT_EQ(state.value("place", "tc"), "tc") << state;
  }
}

}  // namespace
}  // namespace bonescan::lab
