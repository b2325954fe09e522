// Broken scenario files through the real program: refused at once, at a place, without a crash.
#include "tests/support/bonescan_cli.h"

#include <regex>

namespace bonescan::fakes {
namespace {

namespace fs = std::filesystem;

/// The goal is 1 s on an idle machine; a busy one, or sanitizers, may take longer.
constexpr double kPatience_s = 5.0;

/// file:line:column: where in the file: what was expected.
bool names_a_place(const std::string& message, const std::string& file) {
  return message.starts_with(file + ":") &&
         std::regex_search(message.substr(file.size()), std::regex("^:[0-9]+:[0-9]+: "));
}

void expect_refused(const ChildResult& result) {
  EXPECT_EQ(result.exit_code, 2) << "signal " << result.signal;
  EXPECT_EQ(result.out, "");
  EXPECT_LT(result.wall_s, kPatience_s);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("expected "));
  EXPECT_THAT(result.err, testing::HasSubstr("hint: "));
}

TEST(CheckCommand, RefusesEveryBadScenarioWithItsPlace) {
  const std::string folder = source_file("tests/golden/bad_scenarios");
  std::size_t count = 0;
  double slowest_s = 0.0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    const std::string file = entry.path().filename().string();
    SCOPED_TRACE(file);
    const ChildResult result = bonescan({"check", file}, {.working_directory = folder});
    expect_refused(result);
    // A broken include or trace is reported where it is broken.
    const bool elsewhere = file == "broken_include.yaml" || file == "nested_include.yaml" ||
                           result.err.starts_with("included/");
    EXPECT_TRUE(elsewhere || names_a_place(result.err, file)) << result.err;
    EXPECT_EQ(result.err, read_file(folder + "/" + entry.path().stem().string() + ".expected"));
    slowest_s = std::max(slowest_s, result.wall_s);
    ++count;
  }
  EXPECT_GE(count, 85U);
  std::printf("%zu bad scenarios, the slowest took %.3f s\n", count, slowest_s);
}

TEST(CheckCommand, RefusesFilesBeyondItsLimits) {
  const TemporaryDirectory directory;
  struct Case {
    const char* name;
    std::string text;
  };
  const std::size_t more_than_a_mebibyte = (std::size_t{1} << 20) + 1;
  std::string steps;
  for (std::size_t depth = 0; depth < 65; ++depth) {
    steps += std::string(2 * depth, ' ') + "a:\n";
  }
  const std::vector<Case> cases = {
      {"larger than 1 MiB", "name: " + std::string(more_than_a_mebibyte, 'x')},
      {"100 MiB", std::string(100 * more_than_a_mebibyte, '#')},
      {"brackets 65 deep", "a: " + std::string(65, '[') + std::string(65, ']') + "\n"},
      {"braces 500,000 deep", std::string(500'000, '{')},
      {"blocks 65 deep", steps},
      {"nothing but zeros", std::string(1000, '\0')},
  };
  const std::string file = directory.file("crafted.yaml");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << c.text;
    const ChildResult result = bonescan({"check", file});
    expect_refused(result);
    EXPECT_TRUE(names_a_place(result.err, file)) << result.err;
  }
}

TEST(CheckCommand, RefusesWhatIsNoReadableFile) {
  const TemporaryDirectory directory;
  const std::string secret = directory.file("secret.yaml");
  std::ofstream(secret) << "name: secret\n";
  fs::permissions(secret, fs::perms::none);
  for (const std::string& file : {directory.file("missing.yaml"), directory.file(""), secret}) {
    SCOPED_TRACE(file);
    const ChildResult result = bonescan({"check", file}, {.without_privileges = true});
    if (result.exit_code == ChildProcess::kNotStarted) {
      GTEST_SKIP() << "an ordinary user cannot reach the program";
    }
    expect_refused(result);
    EXPECT_TRUE(result.err.starts_with(file + ": ")) << result.err;
  }
}

TEST(CheckCommand, GoesOnAfterABadFile) {
  const ChildResult result = bonescan({"check",
                                       "tests/golden/bad_scenarios/empty.yaml",
                                       "scenarios/quickstart.yaml",
                                       "no/such.yaml"},
                                      {.working_directory = BONESCAN_SOURCE_DIR});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, testing::StartsWith("scenarios/quickstart.yaml: ok"));
  EXPECT_THAT(result.err, testing::HasSubstr("bad_scenarios/empty.yaml:1:1: "));
  EXPECT_THAT(result.err, testing::HasSubstr("no/such.yaml: "));
}

TEST(CheckCommand, AppliesSettings) {
  const std::string file = source_file("scenarios/quickstart.yaml");
  EXPECT_EQ(bonescan({"check", file, "--set", "duration=40min"}).exit_code, 0);
  for (const char* setting :
       {"duration=40", "duratoin=40min", "faults[9].at=1s", "nonsense", "="}) {
    SCOPED_TRACE(setting);
    const ChildResult result = bonescan({"check", file, "--set", setting});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, testing::HasSubstr(setting == std::string("=") ? "--set" : setting));
  }
}

}  // namespace
}  // namespace bonescan::fakes
