// What an agent costs at 10 probes a second and RNIC, with 8 RNICs.
//
//   build/release/tests/bench/whole_agent_cost 600        # seconds
//
// Two whole agents run in this process and answer each other over fake RNICs: verbs engines,
// management connections, pipeline, run log, CSV and metrics are the real ones, each agent sends 80
// probes a second and answers 80.  Half of the processor time is one agent's; the memory is that of
// both.  Exit status: 0 within 1 % of a core and 35 MB for an agent, 1 beyond, 3 it did not run.
#include "detectors/backend_verbs/verbs_probes.h"
#include "tests/support/fake_hosts.h"
#include "tests/support/fake_runner.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_clock.h"
#include "tools/agent/agent_run.h"
#include "tools/agent/system_sources.h"
#include "tools/evaluate/run_data.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>

namespace bonescan::fakes {
namespace {

constexpr int kRnics = 8;
constexpr double kMaxCpuRatio = 0.01;
constexpr double kMaxMemoryMb = 35.0;

std::array<std::uint16_t, 2> free_ports() {
  namespace asio = boost::asio;
  asio::io_context context;
  const auto loopback = asio::ip::make_address("127.0.0.1");
  asio::ip::tcp::acceptor first(context, {loopback, 0});
  asio::ip::tcp::acceptor second(context, {loopback, 0});
  return {first.local_endpoint().port(), second.local_endpoint().port()};
}

std::string yaml_of(char host, const std::array<std::uint16_t, 2>& ports) {
  std::string yaml = fmt::format(
      "agent: {{host: {}, metrics: '127.0.0.1:0', management: '127.0.0.1:{}'}}\n"
      "probing: {{visit: 1s, probes_per_visit: 10}}\n"
      "inventory:\n",
      host,
      ports[host == 'a' ? 0 : 1]);
  for (const char owner : {'a', 'b'}) {
    for (int i = 0; i < kRnics; ++i) {
      yaml += fmt::format(
          "  - {{name: {0}/rnic-{1}, host: {0}, rail: {1}, device: {0}{1}}}\n", owner, i);
    }
  }
  return yaml + fmt::format(
                    "hosts:\n  - {{name: a, management: '127.0.0.1:{}'}}\n"
                    "  - {{name: b, management: '127.0.0.1:{}'}}\n",
                    ports[0],
                    ports[1]);
}

int measure(std::chrono::seconds length) {
  const TemporaryDirectory directory;
  const verbs::MonotonicClock start(verbs::MonotonicClock::now_ns());
  verbs::FakeFabric fabric(start);
  fabric.latency = Duration::zero();
  for (int i = 0; i < kRnics; ++i) {
    fabric.add(fmt::format("a{}", i), fmt::format("10.9.{}.1", i));
    fabric.add(fmt::format("b{}", i), fmt::format("10.9.{}.2", i));
  }
  FakeRunner runner;
  const auto ports = free_ports();
  const auto run = [&](char host) {
    ThreadClock clock(start);
    SystemMeter meter;
    const auto system = make_system_sources(
        [&](const verbs::HostClock&) { return std::make_unique<verbs::SharedRdma>(fabric); },
        runner);
    const AgentConfig config = parse_agent_config(yaml_of(host, ports), "agent.yaml");
    run_agent(config,
              {.directory = directory.file(std::string(1, host)),
               .command = "whole_agent_cost",
               .duration = length},
              {*system, clock, meter, [](std::string_view) {}});
  };
  SystemMeter meter;
  const ResourceUse before = meter.read(".");
  const auto began = std::chrono::steady_clock::now();
  std::thread other([&] { run('b'); });
  run('a');
  other.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  const ResourceUse after = meter.read(".");
  const auto recorded = load_run(directory.file("a"));
  if (!recorded || recorded->result.probes_sent == 0) {
    fmt::print(stderr, "whole_agent_cost: nothing was probed\n");
    return 3;
  }
  const double cpu = (after.cpu_s - before.cpu_s) / wall.count() / 2;
  const double memory_mb = static_cast<double>(after.memory_bytes) / 1e6;
  fmt::print("{:.0f} s, {} RNICs, {} probes ({} lost), one agent of two in this process\n",
             wall.count(),
             kRnics,
             recorded->result.probes_sent,
             recorded->result.probes_lost);
  fmt::print(
      "cpu     {:.2f} % of a core per agent (at most {:.2f} %)\n", 100 * cpu, 100 * kMaxCpuRatio);
  fmt::print("memory  {:.1f} MB resident, both agents (at most {:.1f} MB each)\n",
             memory_mb,
             kMaxMemoryMb);
  return cpu <= kMaxCpuRatio && memory_mb <= 2 * kMaxMemoryMb ? 0 : 1;
}

}  // namespace
}  // namespace bonescan::fakes

int main(int argc, char** argv) {
  try {
    const long length = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 600;
    return bonescan::fakes::measure(std::chrono::seconds(length > 0 ? length : 600));
  } catch (const std::exception& error) {
    fmt::print(stderr, "whole_agent_cost: {}\n", error.what());
    return 3;
  }
}
