// Runs a scenario in memory and keeps every probe record: for tests that compare runs.
#pragma once

#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::test {

/// One visit of a run; ends instead of a PairId, so that runs with other lists can be compared.
struct VisitRecord {
  Time start;
  RnicId source;
  RnicId target;
  std::uint32_t first = 0;
  std::uint16_t source_port = 0;
  std::uint16_t payload_bytes = 0;
  std::uint8_t dscp = 0;
  std::uint8_t count = 0;

  bool operator==(const VisitRecord&) const = default;
};

struct ProbeRecords {
  std::vector<Time> collected;            ///< per batch: when
  std::vector<std::size_t> visits_until;  ///< per batch: visits so far
  std::vector<VisitRecord> visits;
  std::vector<std::uint32_t> sent_after_ns;
  std::vector<std::uint32_t> rtt_ns;

  bool operator==(const ProbeRecords&) const = default;

  Time sent(const VisitRecord& visit, std::uint32_t probe) const {
    return visit.start + Duration(sent_after_ns[visit.first + probe]);
  }
};

inline void append(ProbeRecords& records,
                   Time now,
                   const ProbeBatch& batch,
                   const Pipeline& pipeline,
                   const EndpointMap& endpoints) {
  const auto offset = static_cast<std::uint32_t>(records.rtt_ns.size());
  for (const Visit& visit : batch.visits) {
    const Pair& ends = pipeline.pairs()[visit.pair];
    records.visits.push_back({.start = visit.start,
                              .source = endpoints.rnic(ends.source),
                              .target = endpoints.rnic(ends.target),
                              .first = offset + visit.first,
                              .source_port = visit.source_port,
                              .payload_bytes = visit.payload_bytes,
                              .dscp = visit.dscp,
                              .count = visit.count});
  }
  records.collected.push_back(now);
  records.visits_until.push_back(records.visits.size());
  records.rtt_ns.insert(records.rtt_ns.end(), batch.rtt_ns.begin(), batch.rtt_ns.end());
  records.sent_after_ns.insert(
      records.sent_after_ns.end(), batch.sent_after_ns.begin(), batch.sent_after_ns.end());
}

/// Runs `simulation` to the end of `scenario`.
inline ProbeRecords run(Simulation& simulation, const Scenario& scenario, Pipeline& pipeline) {
  ProbeRecords records;
  RunLoopHooks hooks;
  hooks.observed = [&](Time now, const ProbeBatch& batch) {
    append(records, now, batch, pipeline, simulation.backend().endpoints());
  };
  run_loop(pipeline,
           simulation.backend().telemetry(),
           scenario.pipeline.probing,
           kStartOfRun + scenario.duration,
           hooks);
  return records;
}

inline ProbeRecords records_of(const Scenario& scenario, const SimulationOptions& options) {
  Simulation simulation(scenario, options);
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  simulation.learn_paths(pipeline.pairs());
  return run(simulation, scenario, pipeline);
}

/// For a failure message.
inline std::string first_difference(const ProbeRecords& a, const ProbeRecords& b) {
  const std::size_t count = std::min(a.visits.size(), b.visits.size());
  for (std::size_t v = 0; v < count; ++v) {
    const VisitRecord& x = a.visits[v];
    if (!(x == b.visits[v])) {
      return fmt::format("visit {} at {} s is another one", v, seconds(x.start));
    }
    for (std::uint32_t i = 0; i < x.count; ++i) {
      if (a.rtt_ns[x.first + i] != b.rtt_ns[x.first + i]) {
        return fmt::format("{} -> {} at {:.9f} s, probe {}: {} ns and {} ns",
                           x.source.index(),
                           x.target.index(),
                           seconds(x.start),
                           i,
                           a.rtt_ns[x.first + i],
                           b.rtt_ns[x.first + i]);
      }
    }
  }
  return fmt::format("{} and {} visits", a.visits.size(), b.visits.size());
}

inline Scenario smoke_scenario(std::string_view name, const std::vector<std::string>& settings) {
  return load_scenario(fmt::format("{}/scenarios/smoke/{}.yaml", BONESCAN_SOURCE_DIR, name),
                       settings);
}

/// Two segments of four hosts: every kind of fault, some at once, among all confounders.  Each
/// fault has a rail of its own, so with same-rail lists no pair meets two.
inline Scenario busy_scenario(const std::vector<std::string>& settings) {
  constexpr std::string_view kText = R"yaml(
name: busy
duration: 4min
fabric: {segments: 2, hosts_per_segment: 4, rails: 8, aggregation_switches: 4}
jobs:
  - name: pretrain
    gpus: 64
    parallelism: {tp: 8, pp: 2, dp: 4}
    start: {at: 0s, ready_spread: 20s}
confounders:
  late_starts: {share: 20%, delay: 50s}
  agent_crashes: {count: 6, down: 15s}
  congestion: {per_minute: 12, length: 4s, queue: 15us}
faults:
  - {name: crc, kind: crc-error, on: "link(tor-0.3, agg-2)", direction: up, loss: 20%,
     at: 40s, for: 40s}
  - {name: port, kind: switch-port-down, on: "link(host-1.02/rnic-2, tor-1.2)", at: 60s, for: 30s}
  - {name: trunk, kind: switch-port-down, on: "link(tor-1.7, agg-1)", at: 70s, for: 30s}
  - {name: flap, kind: rnic-port-flapping, on: host-0.01/rnic-5, down: 700ms, up: 1900ms,
     at: 95s, for: 30s}
  - {name: counters, kind: stale-flow-counters, on: host-1.01/rnic-6, at: 100s, for: 60s}
  - {name: rule, kind: missing-overlay-rule, on: host-0.02/rnic-1, rule: deliver,
     at: 150s, for: 20s}
  - {name: loop, kind: overlay-loop, on: host-1.00/rnic-4, rule: encap, to: host-0.03/rnic-4,
     at: 160s, for: 30s}
)yaml";
  return parse_scenario(kText, "busy.yaml", settings);
}

}  // namespace bonescan::test
