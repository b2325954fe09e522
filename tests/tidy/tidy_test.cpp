// The style guide as a test: every rule on the whole tree, and every rule on a tree that breaks it.
#include "tools/lint/layer_rules.h"
#include "tools/lint/source_tree.h"
#include "tools/lint/text_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bonescan::lint {
namespace {

using Rule = std::vector<Finding> (*)(const SourceTree&);

const SourceTree& whole_tree() {
  static const SourceTree kTree = load_tree(BONESCAN_SOURCE_DIR);
  return kTree;
}

void expect_clean(Rule rule) {
  const std::vector<Finding> findings = rule(whole_tree());
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Tidy, TreeIsLoaded) {
  const auto cpp_files = std::count_if(
      whole_tree().begin(), whole_tree().end(), [](const auto& f) { return is_cpp(f.path); });
  EXPECT_GT(cpp_files, 30);
}

TEST(Tidy, LayersAreKept) {
  expect_clean(check_layers);
}

TEST(Tidy, LibrariesStayInTheirFolders) {
  expect_clean(check_library_includes);
}

TEST(Tidy, NoFileIsDead) {
  expect_clean(check_dead_files);
}

TEST(Tidy, NoBannedWord) {
  expect_clean(check_banned_words);
}

TEST(Tidy, HeadersOpenWithProse) {
  expect_clean(check_header_prose);
}

TEST(Tidy, FilesAreWellFormed) {
  expect_clean(check_form);
}

TEST(Tidy, NoMachinePaths) {
  expect_clean(check_machine_paths);
}

struct Case {
  const char* name;
  Rule rule;
  SourceTree tree;
  std::vector<std::string> expected;  ///< "path:line" of each finding
};

std::vector<std::string> places(const std::vector<Finding>& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) {
    result.push_back(finding.path + ":" + std::to_string(finding.line));
  }
  return result;
}

void expect_findings(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<Finding> findings = c.rule(c.tree);
    EXPECT_THAT(places(findings), testing::ElementsAreArray(c.expected)) << to_text(findings);
  }
}

/// A tree of one file that includes one header of ours on its second line.
SourceTree including(const char* path, const std::string& header) {
  return {{path, "// Says what it is.\n#include \"" + header + "\"\n"}};
}

SourceTree including_library(const char* path, const std::string& header) {
  return {{path, "// Says what it is.\n#include <" + header + ">\n"}};
}

SourceTree with_code(const char* path, const std::string& code) {
  return {{path, code + "\n"}};
}

TEST(LayerRules, FindEveryForbiddenEdge) {
  expect_findings({
      {"base", check_layers, including("sim/base/a.h", "sim/engine/event.h"), {"sim/base/a.h:2"}},
      {"engine", check_layers, including("sim/engine/a.h", "model/world.h"), {"sim/engine/a.h:2"}},
      {"seam knows no engine",
       check_layers,
       including("detectors/telemetry/a.h", "sim/engine/event.h"),
       {"detectors/telemetry/a.h:2"}},
      {"records know no detector",
       check_layers,
       including("detectors/records/a.h", "detectors/window/features.h"),
       {"detectors/records/a.h:2"}},
      {"skeleton",
       check_layers,
       including("skeleton/a.cpp", "model/world.h"),
       {"skeleton/a.cpp:2"}},
      {"core knows no fault",
       check_layers,
       including("detectors/localize/a.cpp", "faults/fault_spec.h"),
       {"detectors/localize/a.cpp:2"}},
      {"core knows no skeleton",
       check_layers,
       including("detectors/window/a.cpp", "skeleton/rail_pairs.h"),
       {"detectors/window/a.cpp:2"}},
      {"core knows the pipeline's options only",
       check_layers,
       including("detectors/loss/a.cpp", "detectors/pipeline/pipeline.h"),
       {"detectors/loss/a.cpp:2"}},
      {"pipeline knows no engine",
       check_layers,
       including("detectors/pipeline/a.cpp", "sim/engine/engine.h"),
       {"detectors/pipeline/a.cpp:2"}},
      {"run log",
       check_layers,
       including("detectors/run_log/a.cpp", "detectors/pipeline/pipeline.h"),
       {"detectors/run_log/a.cpp:2"}},
      {"backend",
       check_layers,
       including("detectors/backend_replay/a.cpp", "detectors/pipeline/pipeline.h"),
       {"detectors/backend_replay/a.cpp:2"}},
      {"model knows no seam",
       check_layers,
       including("model/host/a.h", "detectors/telemetry/probe.h"),
       {"model/host/a.h:2"}},
      {"model knows no simulated backend",
       check_layers,
       including("model/host/a.h", "model/backend_sim/sim_backend.h"),
       {"model/host/a.h:2"}},
      {"simulated backend knows no fault",
       check_layers,
       including("model/backend_sim/a.cpp", "faults/fault_spec.h"),
       {"model/backend_sim/a.cpp:2"}},
      {"faults know no seam",
       check_layers,
       including("faults/effects/a.cpp", "detectors/telemetry/probe.h"),
       {"faults/effects/a.cpp:2"}},
      {"faults know no backend",
       check_layers,
       including("faults/a.cpp", "model/backend_sim/sim_backend.h"),
       {"faults/a.cpp:2"}},
      {"scenarios know no tool",
       check_layers,
       including("scenarios/schema/a.cpp", "tools/evaluate/score.h"),
       {"scenarios/schema/a.cpp:2"}},
      {"tools know no test",
       check_layers,
       including("tools/report/a.cpp", "tests/support/worlds.h"),
       {"tools/report/a.cpp:2"}},
      {"new folder",
       check_layers,
       with_code("detectors/magic/a.cpp", ""),
       {"detectors/magic/a.cpp:0"}},
      {"short path", check_layers, including("sim/base/a.cpp", "a.h"), {"sim/base/a.cpp:2"}},
  });
}

TEST(LayerRules, EveryRowCanFail) {
  for (const Layer& layer : layer_table()) {
    SCOPED_TRACE(layer.folder);
    const std::string path = std::string(layer.folder) + "/a.cpp";
    const SourceTree tree = including(path.c_str(), "nowhere/b.h");
    EXPECT_EQ(check_layers(tree).size(), 1U);
  }
}

TEST(LayerRules, AllowWhatTheTableAllows) {
  expect_findings({
      {"own", check_layers, including("sim/base/a.cpp", "sim/base/a.h"), {}},
      {"options",
       check_layers,
       including("detectors/loss/a.h", "detectors/pipeline/pipeline_options.h"),
       {}},
      {"pipeline", check_layers, including("detectors/pipeline/a.h", "skeleton/rail_pairs.h"), {}},
      {"simulated backend",
       check_layers,
       including("model/backend_sim/a.h", "detectors/telemetry/probe.h"),
       {}},
      {"test", check_layers, including("tests/model/a_test.cpp", "model/backend_sim/a.h"), {}},
  });
}

TEST(LibraryRules, FindHeadersOutsideTheirFolders) {
  expect_findings({
      {"yaml",
       check_library_includes,
       including_library("model/a.cpp", "yaml-cpp/yaml.h"),
       {"model/a.cpp:2"}},
      {"sqlite",
       check_library_includes,
       including_library("skeleton/a.cpp", "sqlite3.h"),
       {"skeleton/a.cpp:2"}},
      {"json",
       check_library_includes,
       including_library("detectors/run_log/a.cpp", "nlohmann/json.hpp"),
       {"detectors/run_log/a.cpp:2"}},
      {"threads",
       check_library_includes,
       including_library("detectors/pipeline/a.cpp", "thread"),
       {"detectors/pipeline/a.cpp:2"}},
      {"files",
       check_library_includes,
       including_library("model/a.cpp", "fstream"),
       {"model/a.cpp:2"}},
      {"system",
       check_library_includes,
       including_library("faults/a.cpp", "unistd.h"),
       {"faults/a.cpp:2"}},
      {"unknown",
       check_library_includes,
       including_library("tools/a.cpp", "mpi.h"),
       {"tools/a.cpp:2"}},
      {"C header",
       check_library_includes,
       including_library("sim/base/a.h", "stdint.h"),
       {"sim/base/a.h:2"}},
      {"standard", check_library_includes, including_library("sim/base/a.h", "cstdint"), {}},
      {"open to all",
       check_library_includes,
       including_library("sim/base/a.h", "fmt/format.h"),
       {}},
      {"at home",
       check_library_includes,
       including_library("detectors/run_log/a.cpp", "sqlite3.h"),
       {}},
  });
}

TEST(DeadFiles, FindUnusedHeadersAndUnnamedSources) {
  const SourceFile build = {"CMakeLists.txt", "bonescan_layer(base FOLDERS sim/base DEPENDS x)\n"};
  const SourceFile own = {"sim/base/a.cpp", "#include \"sim/base/a.h\"\n"};
  const SourceFile user = {"sim/base/b.cpp", "#include \"sim/base/a.h\"\n"};
  const SourceFile header = {"sim/base/a.h", "#pragma once\n"};
  const SourceFile stray = {"sim/other/c.cpp", "\n"};
  const SourceFile test = {"tests/base/a_test.cpp", "\n"};
  const SourceFile tests = {"tests/CMakeLists.txt", "bonescan_tests(base LABELS unit)\n"};
  expect_findings({
      {"only its own source", check_dead_files, {build, own, header}, {"sim/base/a.h:0"}},
      {"used", check_dead_files, {build, own, header, user}, {}},
      {"folder not named", check_dead_files, {build, stray}, {"sim/other/c.cpp:0"}},
      {"test folder not named", check_dead_files, {build, test}, {"tests/base/a_test.cpp:0"}},
      {"test folder named", check_dead_files, {build, test, tests}, {}},
  });
}

TEST(BannedWords, AreEachFoundBelowTools) {
  for (const BannedWord& banned : banned_words()) {
    SCOPED_TRACE(banned.word);
    const SourceTree below = with_code("model/host/a.cpp", "  " + std::string(banned.word));
    EXPECT_FALSE(check_banned_words(below).empty());
    for (const std::string_view place : banned.where_ok) {
      const std::string path = is_cpp(place) ? std::string(place) : std::string(place) + "/a.cpp";
      EXPECT_TRUE(check_banned_words(with_code(path.c_str(), std::string(banned.word))).empty());
    }
  }
}

TEST(BannedWords, AreFoundInCodeOnly) {
  expect_findings({
      {"call",
       check_banned_words,
       with_code("faults/a.cpp", "int x = rand();"),
       {"faults/a.cpp:1"}},
      {"distribution",
       check_banned_words,
       with_code("faults/a.cpp", "std::normal_distribution<double> d;"),
       {"faults/a.cpp:1"}},
      {"after a digit separator",
       check_banned_words,
       with_code("faults/a.cpp", "int x = 1'000;\nint y = rand();"),
       {"faults/a.cpp:2"}},
      {"after a literal",
       check_banned_words,
       with_code("faults/a.cpp", R"(f("\"quoted\""); getenv("A");)"),
       {"faults/a.cpp:1"}},
      {"after a raw literal",
       check_banned_words,
       with_code("faults/a.cpp", "f(R\"x(\" rand() \n)x\"); srand(1);"),
       {"faults/a.cpp:2"}},
      {"in tests too",
       check_banned_words,
       with_code("tests/base/a.cpp", "using namespace std;"),
       {"tests/base/a.cpp:1"}},
      {"comment",
       check_banned_words,
       with_code("faults/a.cpp", "// rand() /* */\n/* throw\n rand() */"),
       {}},
      {"literal",
       check_banned_words,
       with_code("faults/a.cpp", "f(\"rand()\", '\"', \"throw\");"),
       {}},
      {"longer word",
       check_banned_words,
       with_code("faults/a.cpp", "int operand(int rand_count);"),
       {}},
      {"own distribution",
       check_banned_words,
       with_code("faults/a.cpp", "delay_distribution(x);"),
       {}},
  });
}

TEST(HeaderProse, IsRequired) {
  expect_findings({
      {"none", check_header_prose, {{"sim/base/a.h", "#pragma once\n"}}, {"sim/base/a.h:1"}},
      {"a name is no prose",
       check_header_prose,
       {{"sim/base/a.h", "// a.h\n#pragma once\n"}},
       {"sim/base/a.h:1"}},
      {"no pragma",
       check_header_prose,
       {{"sim/base/a.h", "// Says what it is.\nint x;\n"}},
       {"sim/base/a.h:1"}},
      {"good", check_header_prose, {{"sim/base/a.h", "// Says what it is.\n#pragma once\n"}}, {}},
      {"sources are free", check_header_prose, {{"sim/base/a.cpp", "int x;\n"}}, {}},
  });
}

TEST(Form, IsChecked) {
  const std::string reminder = std::string("// TO") + "DO later\n";
  const std::string suppressed = std::string("x;  // NO") + "LINT";
  std::string long_file;
  for (int i = 0; i < 501; ++i) {
    long_file += "\n";
  }
  std::string accents = "// ";
  for (int i = 0; i < 97; ++i) {
    accents += "\xC3\xA9";
  }
  expect_findings({
      {"tab", check_form, {{"tools/a.cpp", "\tint x;\n"}}, {"tools/a.cpp:1"}},
      {"long line", check_form, {{"tools/a.cpp", std::string(101, 'x') + "\n"}}, {"tools/a.cpp:1"}},
      {"100 characters", check_form, {{"tools/a.cpp", accents + "\n"}}, {}},
      {"no newline", check_form, {{"tools/a.cpp", "int x;"}}, {"tools/a.cpp:1"}},
      {"long file", check_form, {{"tools/a.cpp", long_file}}, {"tools/a.cpp:501"}},
      {"reminder", check_form, {{"tools/a.cpp", reminder}}, {"tools/a.cpp:1"}},
      {"bare suppression", check_form, {{"tools/a.cpp", suppressed + "\n"}}, {"tools/a.cpp:1"}},
      {"no reason", check_form, {{"tools/a.cpp", suppressed + "(check)\n"}}, {"tools/a.cpp:1"}},
      {"reason", check_form, {{"tools/a.cpp", suppressed + "(check): why\n"}}, {}},
  });
}

TEST(MachinePaths, AreFoundInEveryTextFile) {
  const auto path = [](const char* root) { return "see /" + std::string(root) + "/a/b\n"; };
  expect_findings({
      {"document", check_machine_paths, {{"README.md", path("home")}}, {"README.md:1"}},
      {"script", check_machine_paths, {{"tools/a.sh", path("work")}}, {"tools/a.sh:1"}},
      {"temporary", check_machine_paths, {{"tests/a.py", path("tmp")}}, {"tests/a.py:1"}},
      {"part of a path", check_machine_paths, {{"README.md", "a/home/b ${x}/home/c\n"}}, {}},
      {"system path", check_machine_paths, {{"README.md", "/usr/bin/env\n"}}, {}},
  });
}

}  // namespace
}  // namespace bonescan::lint
