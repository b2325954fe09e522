// What an agent makes of its surroundings: missing sources, the preflight, signals, new files.
#include "tests/support/fake_live.h"
#include "tests/support/temporary_directory.h"
#include "tools/agent/agent_clock.h"
#include "tools/agent/agent_reload.h"
#include "tools/agent/preflight.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <unistd.h>

namespace bonescan::fakes {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// Hands a part of the fake world on as a source of its own.
class PassedProbes final : public Probes {
 public:
  explicit PassedProbes(Probes& inner) : inner_(inner) {}

  void submit(std::span<const ProbeRequest> requests) override { inner_.submit(requests); }

  void collect(Time now, ProbeBatch& batch) override { inner_.collect(now, batch); }

 private:
  Probes& inner_;
};

class PassedMembership final : public Membership {
 public:
  explicit PassedMembership(Membership& inner) : inner_(inner) {}

  void collect(Time now, std::vector<MembershipEvent>& events) override {
    inner_.collect(now, events);
  }

  AgentState alive(EndpointId endpoint, Time now) override { return inner_.alive(endpoint, now); }

 private:
  Membership& inner_;
};

TEST(LiveTelemetry, SaysWhyASourceIsNotThere) {
  FakeTelemetry world(fake_endpoints(2, 1));
  LiveTelemetry::Parts parts;
  parts.probes = std::make_unique<PassedProbes>(world.telemetry().probes);
  parts.membership = std::make_unique<PassedMembership>(world.telemetry().membership);
  parts.no_overlay = "Open vSwitch of host-1.01 does not answer";
  LiveTelemetry live(std::move(parts), world.endpoints(), world.components);
  const Telemetry telemetry = live.telemetry();
  const FlowKey flow{EndpointId(0), EndpointId(1), 50'000};
  const auto path = telemetry.paths.trace(flow, at_s(1));
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(path.error().detail, "no topology is configured");
  EXPECT_EQ(telemetry.overlay.walk(flow, at_s(1)).error().detail,
            "Open vSwitch of host-1.01 does not answer");
  EXPECT_EQ(telemetry.tables.dump(EndpointId(0), std::span(&flow, 1), at_s(1)).error().code,
            ErrorCode::kUnavailable);
  std::vector<ThroughputSample> samples;
  telemetry.throughput.collect(at_s(1), samples);
  EXPECT_TRUE(samples.empty());
}

class Preflight : public testing::Test {
 protected:
  std::vector<PreflightRow> rows() {
    return preflight(agent_.config, directory_.file("run"), agent_.system, agent_.meter);
  }

  TemporaryDirectory directory_;
  AgentBench agent_{agent_yaml(2, 1)};
};

TEST_F(Preflight, PassesWhereNothingIsMissing) {
  agent_.system.rows.push_back({PreflightStatus::kWarn, "clock", "not synchronized", "run NTP"});
  EXPECT_TRUE(can_run(rows()));
  EXPECT_THAT(preflight_table(rows()), HasSubstr("ok       device fake"));
  EXPECT_THAT(preflight_table(rows()), HasSubstr("-> run NTP"));
  const auto json = nlohmann::json::parse(preflight_json(rows()));
  EXPECT_EQ(json["can_run"], true);
  EXPECT_EQ(json["checks"][1]["status"], "warn");
  EXPECT_FALSE(std::filesystem::exists(directory_.file("run")));
}

TEST_F(Preflight, FailsIfAnythingIsMissing) {
  agent_.system.rows.push_back({PreflightStatus::kMissing, "port", "is down", "plug it in"});
  EXPECT_FALSE(can_run(rows()));
  EXPECT_EQ(first_obstacle(rows()), "port: is down; plug it in");
  EXPECT_EQ(nlohmann::json::parse(preflight_json(rows()))["can_run"], false);
}

TEST_F(Preflight, LooksAtTheDirectoryAndTheMetrics) {
  std::ofstream(directory_.file("run")) << "a file";
  EXPECT_THAT(first_obstacle(rows()), HasSubstr("is not a directory"));
  std::filesystem::remove(directory_.file("run"));
  agent_.config.metrics = "0.0.0.0:0";
  EXPECT_TRUE(can_run(rows()));
  EXPECT_THAT(preflight_table(rows()), HasSubstr("can be read by others"));
  if (geteuid() != 0) {
    agent_.config.metrics = "127.0.0.1:1";
    EXPECT_THAT(first_obstacle(rows()), HasSubstr("Permission denied"));
  }
}

TEST(SystemClock, SleepsUntilItIsTime) {
  SystemClock clock;
  const Time until = clock.now() + milliseconds(5);
  EXPECT_EQ(clock.wait(until), Wake::kTime);
  EXPECT_GE(clock.now(), until);
  EXPECT_EQ(clock.wait(kStartOfRun), Wake::kTime);
  EXPECT_GT(clock.epoch_unix_ns(), 1'700'000'000'000'000'000);
}

TEST(SystemClock, IsWokenBySignalsOnceEach) {
  SystemClock clock;
  const Time far = clock.now() + hours(1);
  for (const auto& [signal, wake] :
       {std::pair(SIGHUP, Wake::kReload), {SIGTERM, Wake::kStop}, {SIGINT, Wake::kStop}}) {
    raise(signal);
    EXPECT_EQ(clock.wait(far), wake);
    EXPECT_EQ(clock.wait(kStartOfRun), Wake::kTime);
  }
}

TEST(Reload, TakesOverWhatBearsOnNothingRecorded) {
  const AgentConfig running = parse_agent_config(agent_yaml(2, 1), "agent.yaml");
  const Reload reload =
      reload_agent_config(running, agent_yaml(2, 1, "limits: {cpu: 3%, memory: 64MiB}\n"));
  ASSERT_TRUE(reload.config);
  EXPECT_FALSE(reload.refused);
  EXPECT_EQ(reload.config->limits.cpu, 0.03);
  EXPECT_EQ(reload.message, "reload: changed limits.cpu, limits.memory");
  // Back to the defaults, from what is in force now.
  const Reload back = reload_agent_config(*reload.config, agent_yaml(2, 1));
  ASSERT_TRUE(back.config);
  EXPECT_EQ(back.config->limits, AgentLimits{});
}

TEST(Reload, RefusesTheRestWhole) {
  const AgentConfig running = parse_agent_config(agent_yaml(2, 1), "agent.yaml");
  const Reload reload = reload_agent_config(running, agent_yaml(3, 1, "limits: {cpu: 3%}\n"));
  EXPECT_FALSE(reload.config);
  EXPECT_TRUE(reload.refused);
  EXPECT_THAT(reload.message, HasSubstr("nothing changed: hosts[1].management, hosts[1].name, "));
  EXPECT_THAT(reload.message, HasSubstr(" more cannot change while the agent runs"));
}

TEST(Reload, SaysSoIfNothingIsNew) {
  const AgentConfig running = parse_agent_config(agent_yaml(2, 1), "agent.yaml");
  const Reload reload = reload_agent_config(running, agent_yaml(2, 1, "# a comment\n"));
  EXPECT_FALSE(reload.config);
  EXPECT_FALSE(reload.refused);
}

TEST(Reload, RefusesAFileThatIsGone) {
  const AgentConfig running = parse_agent_config(agent_yaml(2, 1), "no/such/agent.yaml");
  const Reload reload = reload_agent_config(running);
  EXPECT_TRUE(reload.refused);
  EXPECT_THAT(reload.message, HasSubstr("no/such/agent.yaml"));
}

}  // namespace
}  // namespace bonescan::fakes
