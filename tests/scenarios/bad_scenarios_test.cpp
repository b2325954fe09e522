// Golden error texts: every file in tests/golden/bad_scenarios is refused with exactly the line
// that stands beside it, and a crafted megabyte is refused or read within a second.
#include "scenarios/schema/load_scenario.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string complaint_about_file(const std::string& file) {
  try {
    load_scenario(file);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

std::string complaint_about_text(const std::string& text) {
  try {
    parse_scenario(text, "crafted.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

/// Wall time, so with room for a busy machine and for sanitizers; unmeasured it is below 0.5 s.
constexpr std::chrono::seconds kPatience(10);

class BadScenarios : public testing::Test {
 protected:
  // Messages name the file as it was given: relative to this directory.
  BadScenarios() : before_(fs::current_path()) {
    fs::current_path(fs::path(BONESCAN_SOURCE_DIR) / "tests/golden/bad_scenarios");
  }

  ~BadScenarios() override { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_F(BadScenarios, GiveTheGoldenComplaint) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path().filename());
    }
  }
  std::ranges::sort(files);
  ASSERT_GE(files.size(), 85u);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const std::string expected = read_all(fs::path(file).replace_extension(".expected"));
    EXPECT_EQ(complaint_about_file(file.string()) + "\n", expected);
  }
}

TEST_F(BadScenarios, HaveNoExpectationWithoutAFile) {
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".expected") {
      EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".yaml"))) << entry.path();
    }
  }
}

TEST(BadFile, IsRefusedWhenItDoesNotExist) {
  EXPECT_EQ(complaint_about_file("no/such.yaml"),
            "no/such.yaml: (file): expected a readable file; found 'no/such.yaml'; hint: check the "
            "name and the permissions");
}

TEST(BadFile, IsRefusedWhenItIsADirectory) {
  EXPECT_THAT(complaint_about_file(BONESCAN_SOURCE_DIR),
              testing::HasSubstr("expected a readable file"));
}

TEST(BadFile, IsRefusedWhenItIsLargerThanOneMebibyte) {
  const fs::path file = fs::path(testing::TempDir()) / "bonescan_large.yaml";
  const std::string line = "# one mebibyte and one byte of comments\n";
  std::string text;
  while (text.size() <= (std::size_t{1} << 20)) {
    text += line;
  }
  for (const std::size_t size : {(std::size_t{1} << 20), (std::size_t{1} << 20) + 1}) {
    std::ofstream(file, std::ios::binary) << text.substr(0, size);
    const bool fits = size == (std::size_t{1} << 20);
    EXPECT_EQ(
        complaint_about_file(file.string()),
        file.string() + (fits ? ":1:1: (file): expected keys and values; found an empty file; "
                                "hint: copy scenarios/quickstart.yaml and change it"
                              : ":1:1: (file): expected at most 1 MiB; found more; hint: a "
                                "scenario is a few kilobytes of YAML; is this the right file?"));
  }
  fs::remove(file);
}

TEST(CraftedMegabyte, IsRefusedInTime) {
  struct Case {
    std::string name;
    std::string prefix;
    std::string unit;
    std::string suffix;
  };
  const std::vector<Case> cases = {
      {"flow list", "a: [", "a,", "]"},
      {"flow lists", "a: [", "[],", "]"},
      {"flow maps", "a: [", "{},", "]"},
      {"pairs", "a: [", "a: b,", "]"},
      {"block list", "a:\n", "- a\n", ""},
      {"one word", "a: ", "x", ""},
      {"lines of text", "a:\n", "  x\n", ""},
      {"quoted", "a: \"", "\\n", "\""},
      {"open quote", "a: \"", "x\n", ""},
      {"block text", "a: |\n", "\n", ""},
      {"comments", "", "#\n", "a: 1"},
      {"open brackets", "", "[", ""},
      {"open brackets in lines", "a: ", "[\n", ""},
      {"dashes", "", "- ", ""},
      {"question marks", "", "? ", ""},
      {"colons", "", ": ", ""},
      {"question marks in brackets", "[", "? ", "]"},
      {"tags", "", "!a ", ""},
      {"anchors", "", "&a ", ""},
      {"documents", "", "---\n", ""},
      {"directives", "", "%A\n", ""},
      {"carriage returns", "", "\r", "a: 1"},
      {"umlauts", "a: ", "\xC3\xA4", ""},
  };
  constexpr std::size_t kSize = (std::size_t{1} << 20) - 16;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::string text = c.prefix;
    while (text.size() < kSize) {
      text += c.unit;
    }
    text += c.suffix;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(complaint_about_text(text), testing::StartsWith("crafted.yaml:"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
  }
}

TEST(CraftedKeys, AreCountedBeforeTheyCostMemory) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += "k" + std::to_string(i) + ": 1\n";
  }
  EXPECT_THAT(complaint_about_text(text), testing::HasSubstr("at most 50000 keys and values"));
}

}  // namespace
}  // namespace bonescan
