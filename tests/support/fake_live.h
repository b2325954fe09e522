// A machine for an agent to run on: fake sources, a clock that does not wait, a meter that is told
// what to say.
#pragma once

#include "tests/support/fake_telemetry.h"
#include "tools/agent/agent_run.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bonescan::fakes {

/// Time passes only in wait(); signals come when the script says.
class FakeClock final : public AgentClock {
 public:
  Time now() const override { return now_; }

  std::int64_t epoch_unix_ns() const override { return 1'790'000'000'000'000'000; }

  Wake wait(Time until) override {
    if (!signals.empty() && signals.front().first <= until) {
      const auto [at, wake] = signals.front();
      signals.erase(signals.begin());
      now_ = std::max(now_, at);
      if (on_wake) {
        on_wake(wake);
      }
      return wake;
    }
    now_ = std::max(now_, until);
    return Wake::kTime;
  }

  std::vector<std::pair<Time, Wake>> signals;  ///< by time
  std::function<void(Wake)> on_wake;           ///< before the agent hears of it

 private:
  Time now_ = kStartOfRun;
};

class FakeMeter final : public ResourceMeter {
 public:
  explicit FakeMeter(const AgentClock& clock) : clock_(clock) {}

  ResourceUse read(const std::string&) override {
    ResourceUse use = at ? at(clock_.now()) : ResourceUse{};
    if (!at) {
      use.memory_bytes = std::int64_t{20} << 20;
      use.disk_free_bytes = std::int64_t{1} << 40;
    }
    return use;
  }

  std::function<ResourceUse(Time)> at;

 private:
  const AgentClock& clock_;
};

/// Opens a FakeTelemetry over the endpoints of the configuration; `prepare` scripts it.
class FakeLiveSystem final : public LiveSystem {
 public:
  std::vector<PreflightRow> inspect(const AgentConfig&) override { return rows; }

  Expected<std::unique_ptr<LiveSources>> open(const AgentConfig&,
                                              const EndpointDirectory& endpoints,
                                              const AgentClock&) override {
    if (!refusal.empty()) {
      return fail(ErrorCode::kIo, refusal);
    }
    auto sources = std::make_unique<Sources>(*this, endpoints);
    prepare(sources->world);
    return sources;
  }

  std::vector<PreflightRow> rows = {{PreflightStatus::kOk, "device fake", "is there", ""}};
  std::string refusal;  ///< not empty: nothing opens
  std::function<void(FakeTelemetry&)> prepare = [](FakeTelemetry& world) {
    world.all_ready(kStartOfRun);
  };
  std::vector<std::string> notes;  ///< handed out once
  int stops_announced = 0;
  std::size_t requests = 0;  ///< that reached the devices of closed runs

 private:
  class Sources final : public LiveSources {
   public:
    Sources(FakeLiveSystem& system, const EndpointDirectory& endpoints)
        : world(endpoints), system_(system) {}

    ~Sources() override { system_.requests += world.requests.size(); }

    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    Telemetry telemetry() override { return world.telemetry(); }

    std::vector<std::string> take_notes() override { return std::exchange(system_.notes, {}); }

    void announce_stop() override { ++system_.stops_announced; }

    FakeTelemetry world;

   private:
    FakeLiveSystem& system_;
  };
};

/// Hosts "host-1.01", ...; the first one is the agent's.  No metrics, short windows.
inline std::string agent_yaml(int hosts, int rnics, const std::string& more = "") {
  std::string yaml =
      "agent: {host: host-1.01, metrics: none}\n"
      "detection: {window: {length: 2s}}\n"
      "probing: {visit: 1s, timeout: 200ms}\n" +
      more + "inventory:\n";
  std::string managed = "hosts:\n";
  const EndpointDirectory endpoints = fake_endpoints(hosts, rnics);
  for (const Endpoint& endpoint : endpoints) {
    yaml += fmt::format(
        "  - {{name: {}, host: {}, rail: {}, tor: {}, overlay_ip: {}, underlay_ip: {}, "
        "device: fake{}}}\n",
        endpoint.name,
        endpoint.host,
        endpoint.rail,
        endpoint.tor,
        endpoint.overlay_ip,
        endpoint.underlay_ip,
        endpoint.rail);
    if (endpoint.rail == 0 && endpoint.host != "host-1.01") {
      managed += fmt::format("  - {{name: {}, management: '127.0.0.1:7475'}}\n", endpoint.host);
    }
  }
  return yaml + (hosts > 1 ? managed : "");
}

/// An agent, its machine and what it said.
struct AgentBench {
  explicit AgentBench(std::string yaml) : config(parse_agent_config(yaml, "agent.yaml")) {}

  Time run(const std::string& directory, std::optional<Duration> duration = std::nullopt) {
    const AgentServices services{
        system, clock, meter, [this](std::string_view line) { log += std::string(line) + "\n"; }};
    return run_agent(
        config, {.directory = directory, .command = "test", .duration = duration}, services);
  }

  AgentConfig config;
  FakeLiveSystem system;
  FakeClock clock;
  FakeMeter meter{clock};
  std::string log;
};

}  // namespace bonescan::fakes
