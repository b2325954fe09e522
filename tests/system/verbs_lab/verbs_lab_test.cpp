// One agent per host on real verbs devices (soft-RoCE in the guest): every fault is noticed,
// placed, and its end is seen; where nothing is wrong nothing is said.
//
// The agents ran before, in the guest (verbs_suite.py); here is judged what they said.
#include "tests/system/verbs_lab/lab_results.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace bonescan::lab {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

class VerbsLab : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_skipped("verbs"); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    results_ = lab_json("verbs", "verbs.json");
    ASSERT_TRUE(results_.is_object()) << "no results; ctest runs the guest before this test";
  }

  const json& result_of(const std::string& name) const {
    for (const json& result : results_["cases"]) {
      if (result["name"] == name) {
        return result;
      }
    }
    static const json kNone;
    return kNone;
  }

  json results_;
};

/// All components that an incident does not tell apart.
Names named(const json& line) {
  Names names;
  if (line["component"].is_object()) {
    names.insert(line["component"]["id"]);
  }
  for (const json& component : line["alternatives"]) {
    names.insert(component["id"]);
  }
  return names;
}

std::string text_of(const json& incident) {
  const json& line = incident["line"];
  std::string text = incident["agent"].get<std::string>() + ": " +
                     line["layer"].get<std::string>() + ", " + line["kind"].get<std::string>() +
                     ", after " + std::to_string(incident["detected_after_s"].get<double>()) + " s";
  for (const std::string& name : named(line)) {
    text += ", " + name;
  }
  return text;
}

TEST_F(VerbsLab, StandsByItself) {
  const json& yardstick = results_["yardstick"];
  for (const char* pair : {"rxe1-rxe2", "rxe3-rxe4", "rxe1-rxe3", "rxe4-rxe2"}) {
    EXPECT_EQ(yardstick[pair]["lost"], 0) << pair;
    EXPECT_LT(yardstick[pair]["rtt_us"]["p50"], 1000.0) << pair << ": +5 ms must stand out";
  }
}

// The device makes the port from the number of the queue pair, two of which may collide.  An agent
// keeps one port for each of its pairs, three here.
TEST_F(VerbsLab, EightQueuePairsHaveSevenSourcePorts) {
  EXPECT_GE(results_["yardstick"]["eight_qps"]["ports"].size(), 7U)
      << results_["yardstick"]["eight_qps"];
  EXPECT_GE(results_["agent_ports"]["ports"].size(), 2U) << results_["agent_ports"];
  EXPECT_GT(results_["agent_ports"]["packets"], 100);
}

TEST_F(VerbsLab, HealthyMinuteHasNoIncident) {
  const json& healthy = result_of("healthy");
  ASSERT_TRUE(healthy.is_object());
  EXPECT_GE(healthy["recovered"].get<double>() - healthy["injected"].get<double>(), 60.0);
  EXPECT_EQ(healthy["incidents"], json::array());
  EXPECT_EQ(healthy["agents_alive"], true);
  EXPECT_EQ(result_of("healthy_again")["incidents"], json::array());
}

TEST_F(VerbsLab, AgentsEndCleanly) {
  EXPECT_EQ(results_["exit_codes"], json({{"h1", 0}, {"h2", 0}}));
}

struct Case {
  std::string name;
  std::string layer;
  Names places;       ///< an incident may name these and no others
  std::string place;  ///< which must be among them
  /// In some runs the guest loses probes of the host's other endpoint too: an incident of this
  /// layer is then not wrong.
  std::string beside = "none";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class VerbsLabFault : public VerbsLab, public testing::WithParamInterface<Case> {};

TEST_P(VerbsLabFault, IsNoticedPlacedAndSeenToEnd) {
  const Case& c = GetParam();
  const json& result = result_of(c.name);
  ASSERT_TRUE(result.is_object()) << "the suite did not come so far";
  ASSERT_FALSE(result["incidents"].empty()) << "nobody noticed";
  bool placed = false;
  for (const json& incident : result["incidents"]) {
    SCOPED_TRACE(text_of(incident));
    std::printf("%-14s %s\n", c.name.c_str(), text_of(incident).c_str());
    const json& line = incident["line"];
    const Names names = named(line);
    if (line["layer"] == c.beside) {
      continue;
    }
    EXPECT_EQ(line["layer"], c.layer);
    EXPECT_TRUE(std::includes(c.places.begin(), c.places.end(), names.begin(), names.end()));
    placed = placed || names.count(c.place) > 0;
    EXPECT_EQ(line["state"], "closed");
    EXPECT_TRUE(incident["closed_after_s"].is_number());
  }
  EXPECT_TRUE(placed) << "nobody named " << c.place;
  EXPECT_LT(result["incidents"][0]["detected_after_s"], 30.0);
}

const Names kUnderlay = {"underlay-h1", "underlay-h2"};

INSTANTIATE_TEST_SUITE_P(Faults,
                         VerbsLabFault,
                         testing::Values(Case{"loss_100", "underlay", kUnderlay, "underlay-h1"},
                                         Case{"loss_10", "underlay", kUnderlay, "underlay-h1"},
                                         Case{"delay_5ms", "underlay", kUnderlay, "underlay-h1"},
                                         Case{"link_down", "underlay", kUnderlay, "underlay-h1"},
                                         Case{"port_down", "underlay", {"port-rxe3"}, "port-rxe3"},
                                         Case{"gid_change", "rnic", {"rxe3"}, "rxe3", "underlay"},
                                         Case{"agent_killed", "agent", {"h2/agent"}, "h2/agent"}),
                         [](const auto& c) { return c.param.name; });

class VerbsLabReplay : public VerbsLab, public testing::WithParamInterface<std::string> {};

TEST_P(VerbsLabReplay, GivesTheIncidentsOfTheRun) {
  const std::string run = lab_file("verbs", "runs/" + GetParam());
  const fakes::TemporaryDirectory directory;
  const fakes::ChildResult result =
      fakes::bonescan({"replay", run, "--out", directory.file("again")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json recorded = fakes::report_in(run);
  const json again = fakes::report_in(directory.file("again"));
  EXPECT_EQ(again["incidents"], recorded["incidents"]);
  EXPECT_EQ(again["probes"], recorded["probes"]);
}

INSTANTIATE_TEST_SUITE_P(Runs,
                         VerbsLabReplay,
                         testing::Values("h1", "h2_again"),
                         [](const auto& run) { return run.param; });

}  // namespace
}  // namespace bonescan::lab
