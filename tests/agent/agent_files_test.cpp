// The text files that an agent writes, and the directory they are in.
#include "tests/support/child_process.h"
#include "tests/support/fake_telemetry.h"
#include "tests/support/temporary_directory.h"
#include "tools/agent/incident_lines.h"
#include "tools/agent/rotating_file.h"
#include "tools/agent/run_directory_claim.h"
#include "tools/run/run_session.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

class RotatingFiles : public testing::Test {
 protected:
  std::string path(const std::string& name = "v.csv") const { return directory_.file(name); }

  bool there(const std::string& name) const { return std::filesystem::exists(path(name)); }

  TemporaryDirectory directory_;
};

TEST_F(RotatingFiles, WriteWhatWasAddedWhenFlushed) {
  RotatingFile file({.path = path(), .header = "h\n"});
  file.add("one\n");
  EXPECT_EQ(read_file(path()), "h\n");
  file.flush();
  EXPECT_EQ(read_file(path()), "h\none\n");
}

TEST_F(RotatingFiles, HoldWholeLinesWithinTheirSize) {
  RotatingFile file({.path = path(), .header = "h\n", .file_bytes = 10, .files = 3});
  for (int i = 0; i < 9; ++i) {
    file.add("abc" + std::to_string(i) + "\n");
  }
  file.flush();
  EXPECT_EQ(read_file(path()), "h\nabc8\n");
  EXPECT_EQ(read_file(path("v.1.csv")), "h\nabc7\n");
  EXPECT_EQ(read_file(path("v.2.csv")), "h\nabc6\n");
  EXPECT_FALSE(there("v.3.csv"));
}

TEST_F(RotatingFiles, TakeALineThatIsLargerThanAFile) {
  RotatingFile file({.path = path(), .header = "h\n", .file_bytes = 5, .files = 2});
  file.add("a long line\n");
  file.add("b\n");
  file.flush();
  EXPECT_EQ(read_file(path("v.1.csv")), "h\na long line\n");
  EXPECT_EQ(read_file(path()), "h\nb\n");
}

TEST_F(RotatingFiles, CanBeOneAlone) {
  RotatingFile file({.path = path(), .file_bytes = 4, .files = 1});
  for (const char* line : {"aa\n", "bb\n", "cc\n"}) {
    file.add(line);
    file.flush();
  }
  EXPECT_EQ(read_file(path()), "cc\n");
  EXPECT_FALSE(there("v.1.csv"));
}

TEST_F(RotatingFiles, GiveUpWhatIsBeyondALowerNumber) {
  RotatingFile file({.path = path(), .file_bytes = 4, .files = 4});
  const auto write = [&](int lines) {
    for (int i = 0; i < lines; ++i) {
      file.add("aa\n");
      file.flush();
    }
  };
  write(6);
  EXPECT_TRUE(there("v.3.csv"));
  file.set_limits(4, 2);
  write(1);
  EXPECT_TRUE(there("v.1.csv"));
  EXPECT_FALSE(there("v.2.csv"));
  EXPECT_FALSE(there("v.3.csv"));
  file.drop_old();
  EXPECT_FALSE(there("v.1.csv"));
  EXPECT_TRUE(there("v.csv"));
}

TEST_F(RotatingFiles, SayWhyTheyCannotBeWritten) {
  try {
    RotatingFile file({.path = path("none/v.csv")});
    ADD_FAILURE();
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none/v.csv: cannot be written: No such file"));
  }
  if (std::filesystem::exists("/dev/full")) {
    RotatingFile full({.path = "/dev/full"});
    full.add("x\n");
    EXPECT_THROW(full.flush(), EnvironmentError);
  }
}

TEST(UtcText, HasNanoseconds) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(1'790'000'000'123'456'789), "2026-09-21T14:13:20.123456789Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999999999Z");
}

class Lines : public testing::Test {
 protected:
  Lines() {
    incident_.id = 0xabc;
    incident_.opened = at_s(10);
    incident_.last_seen = at_s(12);
    incident_.layer = Layer::kUnderlay;
    incident_.kind = "link-loss";
    incident_.confidence = 0.5;
    incident_.candidates = {{world_.access_link(EndpointId(0)), 9.0},
                            {world_.access_link(EndpointId(1)), 8.0}};
    incident_.pairs = {PairId(0)};
    incident_.evidence = {{at_s(11), "overlay-walk", true, "walked"},
                          {at_s(9), "loss-rule", false, "4 in a row \xFF"}};
    pairs_.push_back({EndpointId(0), EndpointId(1)});
  }

  nlohmann::json line() {
    const std::string text = lines_.line(0, incident_, pairs_);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    return nlohmann::json::parse(text);
  }

  FakeTelemetry world_{fake_endpoints(2, 1)};
  PairTable pairs_;
  Incident incident_;
  IncidentLines lines_{world_.endpoints(), world_.components, 0};
};

TEST_F(Lines, SayWhatIsKnown) {
  const nlohmann::json json = line();
  EXPECT_EQ(json["id"], "0000000000000abc");
  EXPECT_EQ(json["state"], "open");
  EXPECT_EQ(json["detected_at"], "1970-01-01T00:00:10.000000000Z");
  EXPECT_EQ(json["onset_estimate"], "1970-01-01T00:00:09.000000000Z");
  EXPECT_EQ(json["last_seen"], "1970-01-01T00:00:12.000000000Z");
  EXPECT_TRUE(json["closed_at"].is_null());
  EXPECT_EQ(json["layer"], "underlay");
  EXPECT_EQ(json["component"]["type"], "link");
  EXPECT_EQ(json["component"]["id"], "link(host-1.01/rnic-0, tor-1.0)");
  EXPECT_EQ(json["alternatives"].size(), 1u);
  EXPECT_EQ(json["alternatives"][0]["id"], "link(host-1.02/rnic-0, tor-1.0)");
  EXPECT_EQ(json["evidence"][0]["stage"], "overlay-walk");
  EXPECT_EQ(json["evidence"][0]["clear"], true);
  EXPECT_EQ(json["pairs"][0]["source"], "host-1.01/rnic-0");
  EXPECT_EQ(json["blast_radius"]["hosts"], 2);
}

TEST_F(Lines, FollowAnIncident) {
  EXPECT_EQ(line()["state"], "open");
  EXPECT_EQ(line()["state"], "updated");
  incident_.closed = at_s(100);
  const nlohmann::json json = line();
  EXPECT_EQ(json["state"], "closed");
  EXPECT_EQ(json["closed_at"], "1970-01-01T00:01:40.000000000Z");
}

TEST_F(Lines, SayThatAnIncidentOpensAgain) {
  incident_.closed = at_s(100);
  EXPECT_EQ(line()["state"], "closed");
  incident_.closed.reset();
  incident_.episodes = 2;
  const nlohmann::json json = line();
  EXPECT_EQ(json["state"], "reopened");
  EXPECT_EQ(json["episodes"], 2);
  EXPECT_EQ(line()["state"], "updated");
}

TEST_F(Lines, NameNoComponentIfThereIsNone) {
  incident_.candidates.clear();
  EXPECT_TRUE(line()["component"].is_null());
}

TEST_F(Lines, AreBoundedHoweverManyPairsThereAre) {
  for (std::uint32_t i = 1; i < 1000; ++i) {
    pairs_.push_back({EndpointId(0), EndpointId(1)});
    incident_.pairs.push_back(PairId(i));
  }
  const nlohmann::json json = line();
  EXPECT_EQ(json["pair_count"], 1000);
  EXPECT_EQ(json["pairs"].size(), kMaxPairsInLine);
}

TEST(RunDirectoryClaim, RemovesWhatItMadeAndNothingElse) {
  const TemporaryDirectory scratch;
  {
    const RunDirectoryClaim claim(scratch.file("a/b"));
    EXPECT_TRUE(std::filesystem::is_directory(scratch.file("a/b")));
    std::ofstream(claim.run_sqlite()) << "x";
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.file("a")));

  std::filesystem::create_directory(scratch.file("mine"));
  std::ofstream(scratch.file("mine/notes")) << "x";
  {
    const RunDirectoryClaim claim(scratch.file("mine"));
    std::ofstream(claim.file("manifest.json")) << "x";
  }
  EXPECT_TRUE(std::filesystem::exists(scratch.file("mine/notes")));
  EXPECT_FALSE(std::filesystem::exists(scratch.file("mine/manifest.json")));
}

TEST(RunDirectoryClaim, KeepsWhatBegan) {
  const TemporaryDirectory scratch;
  {
    RunDirectoryClaim claim(scratch.file("a"));
    std::ofstream(claim.run_sqlite()) << "x";
    claim.keep();
  }
  EXPECT_THROW(RunDirectoryClaim(scratch.file("a")), EnvironmentError);
}

}  // namespace
}  // namespace bonescan::fakes
