// What an agent costs: 8 RNICs with 10 probes/s each, on a fake fabric, event driven.
//
//   agent_cost [--seconds N] [--rnics N] [--probes-per-second N]
//
// Plays the run loop's part (submit and collect once a second) with a real clock and the real I/O
// thread; every RNIC probes the next one, so the process also answers everything.  Prints the
// command, the processor time as a share of one core and the resident set, beside the goals of 1 %
// of a core and 35 MB.  Fails only if a probe was not answered: what a busy machine makes of a
// second says nothing about the agent.  The devices are fakes: system calls of a driver are not in
// the figure, those of the event loop are.
#include "detectors/backend_verbs/verbs_probes.h"
#include "tests/support/fake_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <thread>

namespace bonescan::verbs {
namespace {

constexpr double kGoalCorePercent = 1.0;
constexpr double kGoalResidentMb = 35.0;
constexpr Duration kTurn = std::chrono::seconds(1);

struct Load {
  int seconds = 10;
  std::uint32_t rnics = 8;
  std::uint8_t probes_per_second = 10;
};

struct Usage {
  double processor_s = 0;
  double resident_mb = 0;
};

Usage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {.processor_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          .resident_mb = static_cast<double>(usage.ru_maxrss) / 1024};
}

Load parse(int argc, char** argv) {
  Load load;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const int value = std::atoi(argv[i + 1]);
    if (option == "--seconds") {
      load.seconds = std::max(value, 1);
    } else if (option == "--rnics") {
      load.rnics = static_cast<std::uint32_t>(std::clamp(value, 2, 64));
    } else if (option == "--probes-per-second") {
      load.probes_per_second = static_cast<std::uint8_t>(std::clamp(value, 1, 100));
    }
  }
  return load;
}

std::vector<ProbeRequest> plan(const Load& load, Time from) {
  std::vector<ProbeRequest> requests;
  for (std::uint32_t i = 0; i < load.rnics; ++i) {
    requests.push_back({.pair = PairId(i),
                        .ends = {EndpointId(i), EndpointId((i + 1) % load.rnics)},
                        .start = from + i * kTurn / load.rnics / load.probes_per_second,
                        .spacing = kTurn / load.probes_per_second,
                        .timeout = std::chrono::milliseconds(500),
                        .source_port = static_cast<std::uint16_t>(50'000 + i),
                        .payload_bytes = 64,
                        .dscp = 26,
                        .count = load.probes_per_second});
  }
  return requests;
}

struct Outcome {
  std::uint64_t probes = 0;
  std::uint64_t answered = 0;
};

Outcome run(const Load& load, VerbsProbes& probes, const HostClock& clock) {
  Outcome outcome;
  ProbeBatch batch;
  const auto take = [&] {
    batch.clear();
    probes.collect(clock.now(), batch);
    for (const std::uint32_t rtt : batch.rtt_ns) {
      ++outcome.probes;
      outcome.answered += answered(rtt) ? 1 : 0;
    }
  };
  const Time begin = clock.now();
  for (int turn = 0; turn < load.seconds; ++turn) {
    probes.submit(plan(load, begin + turn * kTurn));
    std::this_thread::sleep_for(begin + (turn + 1) * kTurn - clock.now());
    take();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  take();
  return outcome;
}

int bench(int argc, char** argv) {
  const Load load = parse(argc, argv);
  const MonotonicClock clock(MonotonicClock::now_ns());
  FakeFabric fabric(clock);
  fabric.latency = Duration::zero();
  EndpointDirectory directory;
  VerbsProbesOptions options;
  for (std::uint32_t i = 0; i < load.rnics; ++i) {
    const std::string name = fmt::format("rnic-{}", i);
    fabric.add(name, fmt::format("10.0.0.{}", i + 1));
    Endpoint endpoint;
    endpoint.name = name;
    const EndpointId id = directory.push_back(endpoint);
    EndpointOptions one;
    one.id = id;
    one.name = name;
    one.device = name;
    options.endpoints.push_back(one);
  }
  PeerBook peers;
  auto probes = VerbsProbes::create(fabric, clock, directory, peers, std::move(options));
  if (!probes.has_value()) {
    fmt::print(stderr, "agent_cost: {}\n", probes.error().detail);
    return 4;
  }
  for (const auto& [id, address] : (*probes)->addresses()) {
    peers.set(id, address);
  }
  const Usage before = usage_now();
  const Time begin = clock.now();
  const Outcome outcome = run(load, **probes, clock);
  const double wall_s = seconds(clock.now() - begin);
  const Usage after = usage_now();
  (*probes)->stop();
  const double core_percent = 100 * (after.processor_s - before.processor_s) / wall_s;
  fmt::print("command: agent_cost --seconds {} --rnics {} --probes-per-second {}\n",
             load.seconds,
             load.rnics,
             load.probes_per_second);
  fmt::print("probes: {} of which answered {}\n", outcome.probes, outcome.answered);
  fmt::print("processor_core_percent: {:.3f} (goal {:.1f})\n", core_percent, kGoalCorePercent);
  fmt::print("resident_mb: {:.1f} (goal {:.1f})\n", after.resident_mb, kGoalResidentMb);
  const bool complete = outcome.probes == static_cast<std::uint64_t>(load.seconds) * load.rnics *
                                              load.probes_per_second &&
                        outcome.answered == outcome.probes;
  return complete ? 0 : 1;
}

}  // namespace
}  // namespace bonescan::verbs

int main(int argc, char** argv) {
  return bonescan::verbs::bench(argc, argv);
}
