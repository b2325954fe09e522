// A whole agent on fake sources: what it leaves behind, how it ends, and what makes it refuse.
#include "tests/support/child_process.h"
#include "tests/support/fake_live.h"
#include "tools/agent/metrics_server.h"
#include "tools/evaluate/run_data.h"
#include "tools/run/run_session.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <sys/resource.h>

namespace bonescan::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

/// The third host is cut off for half a minute, all three layers being visible.
void cut_off(FakeTelemetry& world) {
  world.all_ready(kStartOfRun);
  world.effects.push_back(
      {.from = at_s(20), .to = at_s(50), .hits = to_endpoint(EndpointId(2)), .lose_one_in = 1});
}

std::vector<nlohmann::json> lines_of(const std::string& file) {
  std::istringstream text(read_file(file));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

/// All that an incident says, with names instead of ids.
std::string text_of(const RunData& run) {
  std::ostringstream text;
  for (const Incident& incident : run.incidents) {
    text << incident_id_text(incident.id) << ' ' << nanoseconds(incident.opened) << ' '
         << (incident.closed ? nanoseconds(*incident.closed) : -1) << ' '
         << to_string(incident.layer) << ' ' << incident.kind << ' ' << incident.confidence;
    for (const Candidate& candidate : incident.candidates) {
      text << ' ' << run.components[candidate.component].name << '=' << candidate.score;
    }
    for (const PairId pair : incident.pairs) {
      text << ' ' << run.endpoints[run.pairs[pair].source].name << '>'
           << run.endpoints[run.pairs[pair].target].name;
    }
    for (const Evidence& evidence : incident.evidence) {
      text << "\n  " << nanoseconds(evidence.at) << ' ' << evidence.stage << ' ' << evidence.text;
    }
    text << '\n';
  }
  return text.str();
}

class AgentRun : public testing::Test {
 protected:
  std::string run_directory() const { return directory_.file("run"); }

  std::string file(const std::string& name) const { return run_directory() + "/" + name; }

  bool left_nothing() const { return std::filesystem::is_empty(directory_.file("")); }

  void expect_refusal(AgentBench& agent, const std::string& sentence) const {
    try {
      agent.run(run_directory(), seconds(5));
      ADD_FAILURE() << "it ran";
    } catch (const EnvironmentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(sentence));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    }
    EXPECT_TRUE(left_nothing());
  }

  TemporaryDirectory directory_;
};

TEST_F(AgentRun, IsAnalysedAgainByReplayWithEqualIncidents) {
  AgentBench agent(agent_yaml(4, 1));
  agent.system.prepare = &cut_off;
  agent.clock.signals = {{at_s(80) + milliseconds(300), Wake::kStop}};
  agent.run(run_directory());
  const auto live = load_run(run_directory());
  ASSERT_TRUE(live);
  ASSERT_FALSE(live->incidents.empty());

  RunSessionOptions options;
  options.directory = directory_.file("replay");
  const RunData again = replay_run(file("run.sqlite"), options);
  EXPECT_EQ(text_of(again), text_of(*live));
  EXPECT_EQ(again.windows.size(), live->windows.size());
  EXPECT_EQ(again.result.fingerprint, live->result.fingerprint);
  EXPECT_EQ(again.result.reached, live->result.reached);
}

TEST_F(AgentRun, LeavesACompleteDirectoryWhenASignalEndsIt) {
  AgentBench agent(agent_yaml(4, 1));
  agent.system.prepare = &cut_off;
  agent.clock.signals = {{at_s(30), Wake::kStop}};
  agent.run(run_directory());
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->result.complete);
  EXPECT_EQ(run->info.mode, "live");
  EXPECT_EQ(run->info.epoch_unix_ns, agent.clock.epoch_unix_ns());
  EXPECT_FALSE(run->info.truth_available);
  EXPECT_GE(run->windows.back().to, run->result.reached);
  EXPECT_EQ(agent.system.stops_announced, 1);
  for (const char* name : {"manifest.json", "report.json", "report.html", "trace.json"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
  EXPECT_TRUE(nlohmann::json::parse(read_file(file("manifest.json")))["complete"]);
  EXPECT_THAT(agent.log, HasSubstr("asked to stop"));
}

TEST_F(AgentRun, ProbesFromItsOwnHostOnly) {
  AgentBench agent(agent_yaml(3, 2));
  agent.run(run_directory(), seconds(10));
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  ASSERT_FALSE(run->pairs.empty());
  for (const Pair& pair : run->pairs) {
    EXPECT_EQ(run->endpoints[pair.source].host, "host-1.01");
  }
}

TEST_F(AgentRun, TellsOfEveryChangeOfAnIncidentInOneLine) {
  AgentBench agent(agent_yaml(4, 1, "# closes soon\n"));
  agent.config.pipeline.incident.close_after = seconds(5);
  agent.system.prepare = &cut_off;
  agent.run(run_directory(), seconds(120));
  const auto lines = lines_of(file("incidents.jsonl"));
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.front()["schema_version"], 1);
  EXPECT_EQ(lines.front()["state"], "open");
  EXPECT_EQ(lines.front()["detected_at"].get<std::string>().substr(0, 17), "2026-09-21T14:13:");
  EXPECT_LE(lines.front()["onset_estimate"].get<std::string>(),
            lines.front()["detected_at"].get<std::string>());
  EXPECT_FALSE(lines.front()["evidence"].empty());
  EXPECT_EQ(lines.back()["state"], "closed");
  EXPECT_EQ(lines.back()["id"], lines.front()["id"]);
  EXPECT_GE(lines.back()["closed_at"].get<std::string>(),
            lines.back()["last_seen"].get<std::string>());
}

TEST_F(AgentRun, WritesVisitsThatReplayCanRead) {
  AgentBench agent(agent_yaml(2, 1));
  agent.run(run_directory(), seconds(10));
  std::istringstream csv(read_file(file("visits.csv")));
  std::string header;
  std::getline(csv, header);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), 44);
  std::size_t rows = 0;
  for (std::string line; std::getline(csv, line); ++rows) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 44);
    EXPECT_THAT(line, HasSubstr("RDMA_PING"));
  }
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  EXPECT_EQ(rows * 10, run->result.probes_sent);
}

TEST_F(AgentRun, BoundsTheFilesOfVisits) {
  AgentBench agent(agent_yaml(2, 1, ""));
  agent.config.visits = {.file_bytes = 4096, .files = 3};
  agent.run(run_directory(), seconds(300));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run_directory())) {
    if (entry.path().filename().string().starts_with("visits")) {
      ++files;
      EXPECT_LE(entry.file_size(), 4096u);
    }
  }
  EXPECT_EQ(files, 3u);
}

TEST_F(AgentRun, WritesNoVisitsIfNoneAreWanted) {
  AgentBench agent(agent_yaml(2, 1));
  agent.config.visits.files = 0;
  agent.run(run_directory(), seconds(5));
  EXPECT_FALSE(std::filesystem::exists(file("visits.csv")));
}

TEST_F(AgentRun, TakesOverNewLimitsOnReload) {
  const std::string config_file = directory_.file("agent.yaml");
  std::ofstream(config_file) << agent_yaml(2, 1);
  AgentBench agent(agent_yaml(2, 1));
  agent.config.file = config_file;
  agent.clock.signals = {{at_s(10), Wake::kReload}, {at_s(30), Wake::kStop}};
  agent.clock.on_wake = [&](Wake wake) {
    if (wake == Wake::kReload) {
      std::ofstream(config_file) << agent_yaml(2, 1, "limits: {probes_per_second: 5}\n");
    }
  };
  agent.run(run_directory());
  EXPECT_THAT(agent.log, HasSubstr("reload: changed limits.probes_per_second"));
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  // Ten probes a second for ten seconds, then five: every other visit is left out.
  EXPECT_GE(run->result.probes_local_errors, 90u);
  EXPECT_LE(run->result.probes_local_errors, 110u);
}

TEST_F(AgentRun, KeepsTheOldConfigurationIfTheNewOneIsBrokenOrCannotBeTakenOver) {
  const std::string config_file = directory_.file("agent.yaml");
  AgentBench agent(agent_yaml(2, 1));
  agent.config.file = config_file;
  agent.clock.signals = {{at_s(5), Wake::kReload}, {at_s(6), Wake::kReload}};
  int reloads = 0;
  agent.clock.on_wake = [&](Wake) {
    std::ofstream(config_file) << (reloads++ == 0 ? "agent: ["
                                                  : agent_yaml(2, 2, "limits: {cpu: 1%}\n"));
  };
  agent.run(run_directory(), seconds(10));
  EXPECT_THAT(agent.log, HasSubstr("reload refused, nothing changed: " + config_file + ":1:"));
  EXPECT_THAT(agent.log, HasSubstr("cannot change while the agent runs"));
  EXPECT_THAT(agent.log, Not(HasSubstr("reload: changed")));
}

TEST_F(AgentRun, SlowsDownBeforeItStopsItself) {
  AgentBench agent(agent_yaml(2, 1));
  agent.meter.at = [](Time now) {
    return ResourceUse{.cpu_s = 0.5 * bonescan::seconds(now - kStartOfRun),
                       .memory_bytes = 1 << 20,
                       .disk_free_bytes = std::int64_t{1} << 40};
  };
  EXPECT_THROW(agent.run(run_directory(), seconds(200)), EnvironmentError);
  EXPECT_THAT(agent.log, HasSubstr("half as many probes from now on: 50.0% of a core"));
  EXPECT_THAT(agent.log, HasSubstr("stopping before this host is harmed: 50.0% of a core"));
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->result.complete);
  EXPECT_LT(run->result.reached, at_s(60));
  EXPECT_EQ(agent.system.stops_announced, 1);
}

TEST_F(AgentRun, StopsAtOnceIfTheDiskIsAlmostFull) {
  AgentBench agent(agent_yaml(2, 1));
  agent.meter.at = [](Time now) {
    return ResourceUse{.cpu_s = 0.0,
                       .memory_bytes = 1 << 20,
                       .disk_free_bytes = std::int64_t{now < at_s(20) ? 1024 : 10} << 20};
  };
  EXPECT_THROW(agent.run(run_directory(), seconds(200)), EnvironmentError);
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->result.complete);
  EXPECT_LT(run->result.reached, at_s(35));
}

TEST_F(AgentRun, SaysWhatIsMissingAndLeavesNothing) {
  AgentBench agent(agent_yaml(2, 1));
  agent.system.rows.push_back(
      {PreflightStatus::kMissing, "device fake0", "GID index 7 is not there", "it has 0, 1"});
  expect_refusal(agent, "device fake0: GID index 7 is not there; it has 0, 1");
}

TEST_F(AgentRun, LeavesNothingIfADeviceCannotBeOpened) {
  AgentBench agent(agent_yaml(2, 1));
  agent.system.refusal = "fake0: no permission to open /dev/infiniband/uverbs0";
  expect_refusal(agent, "no permission");
}

TEST_F(AgentRun, LeavesNothingIfThePortOfItsMetricsIsInUse) {
  const auto other = MetricsServer::start({"127.0.0.1", 0}, [] { return std::string(); });
  ASSERT_TRUE(other);
  AgentBench agent(agent_yaml(2, 1));
  agent.config.metrics = fmt::format("127.0.0.1:{}", (*other)->port());
  expect_refusal(agent, "metrics: cannot serve metrics on " + agent.config.metrics);
}

TEST_F(AgentRun, LeavesNothingOnADiskWithoutRoom) {
  AgentBench agent(agent_yaml(2, 1));
  agent.meter.at = [](Time) { return ResourceUse{.disk_free_bytes = 4096}; };
  expect_refusal(agent, "disk: 0MiB free");
}

TEST_F(AgentRun, DoesNotTouchAnEarlierRun) {
  AgentBench agent(agent_yaml(2, 1));
  agent.run(run_directory(), seconds(3));
  const std::string before = read_file(file("run.sqlite"));
  AgentBench another(agent_yaml(2, 1));
  EXPECT_THROW(another.run(run_directory(), seconds(3)), EnvironmentError);
  EXPECT_EQ(read_file(file("run.sqlite")), before);
}

/// Runs as if every file could hold `bytes`; exits with 4 if the agent ends as it should.
[[noreturn]] void run_with_little_room(const std::string& directory, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    AgentBench agent(agent_yaml(4, 1));
    agent.system.prepare = &cut_off;
    agent.run(directory, seconds(3600));
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "{}\n", error.what());
    std::exit(4);
  }
  std::exit(0);
}

TEST_F(AgentRun, EndsWithAValidDirectoryWhenTheDiskIsFull) {
  EXPECT_EXIT(run_with_little_room(run_directory(), 1'000'000),
              testing::ExitedWithCode(4),
              "run.sqlite|visits.csv|incidents.jsonl");
  const auto run = load_run(run_directory());
  ASSERT_TRUE(run) << run.error().detail;
  EXPECT_FALSE(run->result.complete);
  EXPECT_GT(run->windows.size(), 0u);
  for (const nlohmann::json& line : lines_of(file("incidents.jsonl"))) {
    EXPECT_EQ(line["schema_version"], 1);
  }
}

TEST_F(AgentRun, LeavesNothingIfTheDiskIsFullFromTheStart) {
  EXPECT_EXIT(run_with_little_room(run_directory(), 100), testing::ExitedWithCode(4), "run");
  EXPECT_TRUE(left_nothing());
}

}  // namespace
}  // namespace bonescan::fakes
