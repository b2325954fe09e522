// One scenario for every named kind: scenarios/kinds/expected.json says what a right outcome is,
// and whether probes can see the fault at all; on every seed it must follow, and the healthy twin
// has nothing to say.
#include "faults/kinds/fault_kind.h"
#include "tests/support/fault_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace bonescan::test {
namespace {

constexpr std::array<std::uint64_t, 3> kSeeds = {1, 3, 5};
const std::string kFolder = BONESCAN_SOURCE_DIR "/scenarios/kinds/";

struct KindCase {
  std::string kind;
  bool visible = false;  ///< to the scenario's probes, as the ground truth says
  FaultCase outcome;
};

std::vector<KindCase> load_kind_cases() {
  std::ifstream file(kFolder + "expected.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  std::vector<KindCase> cases;
  for (const nlohmann::json& row : document.at("kinds")) {
    KindCase c{.kind = row.at("kind"), .visible = row.at("visible"), .outcome = {}};
    c.outcome.scenario = c.kind + ".yaml";
    c.outcome.verdict = row.at("verdict");
    c.outcome.layers = row.value("layers", std::vector<std::string>{});
    c.outcome.components = row.value("components", std::vector<std::string>{});
    c.outcome.symptom = row.value("symptom", "");
    c.outcome.wrong = row.value("wrong", "");
    for (const nlohmann::json& line : row.value("evidence", nlohmann::json::array())) {
      c.outcome.evidence.push_back({line.at("stage"), line.at("clear"), line.value("text", "")});
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

Scenario scenario_of(const KindCase& c, std::uint64_t seed) {
  return load_scenario(kFolder + c.outcome.scenario,
                       std::vector<std::string>{fmt::format("seed={}", seed)});
}

struct KindRun {
  std::vector<TruthRow> truth;
  std::vector<SaidIncident> said;
};

KindRun run_of(const Scenario& scenario) {
  Simulation simulation(scenario, {});
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  simulation.learn_paths(pipeline.pairs());
  run_loop(pipeline,
           simulation.backend().telemetry(),
           scenario.pipeline.probing,
           kStartOfRun + scenario.duration,
           {});
  return {simulation.truth_rows(pipeline), said_in(pipeline, simulation.backend().components())};
}

TEST(KindScenarios, AreOneForEveryKindAndHaveItAlone) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") {
      files.insert(entry.path().stem().string());
    }
  }
  std::map<std::string, KindCase> cases;
  for (const KindCase& c : load_kind_cases()) {
    EXPECT_TRUE(cases.emplace(c.kind, c).second) << c.kind << " is listed twice";
  }
  std::size_t single = 0;
  for (const FaultKind& kind : fault_kinds()) {
    if (kind.with != nullptr) {
      continue;  // Several faults, which arise and are not listed.
    }
    ++single;
    SCOPED_TRACE(kind.name);
    const std::string name(kind.name);
    ASSERT_EQ(files.erase(name), 1u);
    ASSERT_EQ(cases.count(name), 1u);
    const Scenario scenario = scenario_of(cases[name], 1);
    EXPECT_EQ(scenario.name, "kind-" + name);
    ASSERT_EQ(scenario.faults.size(), 1u);
    EXPECT_EQ(scenario.faults.front().kind, kind.name);
    // The scenario of a kind that load shows has such load.
    EXPECT_EQ(cases[name].visible,
              kind.seen_by == SeenBy::kProbes || kind.seen_by == SeenBy::kLoadedProbes);
  }
  EXPECT_TRUE(files.empty()) << *files.begin() << " is no kind";
  EXPECT_EQ(cases.size(), single);
}

TEST(KindScenarios, HaveTheOutcomeThatIsExpected) {
  for (const KindCase& c : load_kind_cases()) {
    std::string complaint;
    for (const std::uint64_t seed : kSeeds) {
      SCOPED_TRACE(fmt::format("{} seed={}", c.kind, seed));
      const KindRun run = run_of(scenario_of(c, seed));
      ASSERT_EQ(run.truth.size(), 1u);
      EXPECT_EQ(run.truth.front().kind, c.kind);
      EXPECT_EQ(run.truth.front().visible, c.visible);
      const std::string wrong = complaint_about(c.outcome, run.said);
      if (!wrong.empty() && complaint.empty()) {
        complaint = fmt::format("seed {}: {}: {}", seed, wrong, in_words(run.said));
      }
    }
    EXPECT_EQ(complaint.empty(), c.outcome.wrong.empty())
        << c.kind << ": " << complaint << "\nknown: " << c.outcome.wrong;
  }
}

TEST(KindScenarios, SayNothingOfTheirHealthyTwins) {
  for (const KindCase& c : load_kind_cases()) {
    for (const std::uint64_t seed : kSeeds) {
      const auto said = incidents_of(scenario_of(c, seed), {.without_faults = true});
      EXPECT_TRUE(std::ranges::none_of(said, of_network))
          << c.kind << " seed=" << seed << ": " << in_words(said);
    }
  }
}

}  // namespace
}  // namespace bonescan::test
