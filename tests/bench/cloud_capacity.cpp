// The size of a measured cluster: 32,768 RNICs, about 2,000 tasks at a time, churn on.
//
// Not a micro-benchmark: prints how long the world takes to build, how fast it lives without and
// with probes, and the peak of resident memory.  The goals are 2 s and 6 GiB.
//   cloud_capacity [scenario] [simulated seconds]
#include "model/backend_sim/sim_backend.h"
#include "scenarios/schema/load_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

namespace bonescan {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Every ready endpoint visits another of its rail in its task, in turn, once a second.
class Prober {
 public:
  explicit Prober(SimBackend& backend) : telemetry_(backend.telemetry()) {}

  std::size_t turn(Time now) {
    events_.clear();
    telemetry_.membership.collect(now, events_);
    for (const MembershipEvent& event : events_) {
      const Endpoint& endpoint = telemetry_.endpoints[event.endpoint];
      const std::string ring = fmt::format("{}/{}", endpoint.task, endpoint.rail);
      if (event.kind == MembershipKind::kReady) {
        rings_[ring].push_back(event.endpoint);
      } else if (event.kind == MembershipKind::kStopping || event.kind == MembershipKind::kGone) {
        rings_.erase(ring);
      }
    }
    requests_.clear();
    for (const auto& [name, ring] : rings_) {
      for (std::size_t i = 0; i < ring.size() && ring.size() > 1; ++i) {
        visit(now, ring[i], ring[(i + 1 + turns_ % (ring.size() - 1)) % ring.size()]);
      }
    }
    telemetry_.probes.submit(requests_);
    batch_.clear();
    ++turns_;
    telemetry_.probes.collect(now + std::chrono::milliseconds(999), batch_);
    return batch_.rtt_ns.size();
  }

 private:
  void visit(Time now, EndpointId source, EndpointId target) {
    const std::uint64_t ends = std::uint64_t{source.index()} << 32 | target.index();
    const auto [known, is_new] =
        pairs_.emplace(ends, PairId(static_cast<std::uint32_t>(pairs_.size())));
    requests_.push_back({.pair = known->second,
                         .ends = {source, target},
                         .start = now,
                         .spacing = std::chrono::milliseconds(100),
                         .timeout = std::chrono::milliseconds(500),
                         .source_port = 50'000,
                         .dscp = 26,
                         .count = 4});
  }

  Telemetry telemetry_;
  std::uint32_t turns_ = 0;
  std::unordered_map<std::string, std::vector<EndpointId>> rings_;
  std::unordered_map<std::uint64_t, PairId> pairs_;
  std::vector<MembershipEvent> events_;
  std::vector<ProbeRequest> requests_;
  ProbeBatch batch_;
};

int run(const std::string& file, int length_s) {
  const Scenario scenario = load_scenario(file);
  const auto build_start = std::chrono::steady_clock::now();
  Engine engine;
  World world({.fabric = scenario.fabric,
               .overlay = scenario.overlay,
               .latency = scenario.latency,
               .jobs = scenario.jobs,
               .late_starts = {},
               .cloud = scenario.cloud,
               .clocks = {},
               .load = {},
               .seed = scenario.seed},
              engine);
  const double world_s = seconds_since(build_start);
  SimBackend backend(world, {});
  fmt::print("{} hosts, {} RNICs, {} cables\n",
             world.fabric().host_count(),
             world.fabric().rnic_count(),
             world.fabric().cable_count());
  fmt::print("build: world {:.3f} s, backend {:.3f} s (goal: below 2 s), {:.0f} MiB\n",
             world_s,
             seconds_since(build_start) - world_s,
             peak_mib());
  Prober prober(backend);
  std::size_t probes = 0;
  std::size_t most_quads = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int second = 0; second < length_s; ++second) {
    probes += prober.turn(kStartOfRun + std::chrono::seconds(second));
    most_quads = std::max(most_quads, world.flows().used());
    if (second % 60 == 0 || second + 1 == length_s) {
      const CloudCounts& counts = world.cloud()->counts();
      fmt::print(
          "{:4} s: {} tasks, {} containers, {} RNICs bound, {} waiting, {} refused, {} ended; {} "
          "endpoints ever, {} quads of {} places\n",
          second,
          counts.tasks,
          counts.containers,
          counts.leases,
          counts.waiting,
          counts.refused,
          counts.ended,
          backend.endpoints().directory().size(),
          world.flows().used(),
          world.flows().size());
    }
  }
  const double wall_s = seconds_since(start);
  fmt::print("{} simulated s in {:.1f} s: {} probes ({:.0f} ns each, churn and all)\n",
             length_s,
             wall_s,
             probes,
             probes == 0 ? 0.0 : wall_s * 1e9 / static_cast<double>(probes));
  fmt::print("peak: {} quads, {:.0f} MiB resident (goal: at most 6144)\n", most_quads, peak_mib());
  return world_s < 2.0 && peak_mib() <= 6144.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bonescan

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "scenarios/cloud/capacity.yaml";
  return bonescan::run(file, argc > 2 ? std::atoi(argv[2]) : 300);
}
