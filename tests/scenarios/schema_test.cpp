// The documented schema and the accepted one are the same.
#include "scenarios/schema/load_scenario.h"
#include "scenarios/schema/schema_markdown.h"
#include "scenarios/schema/yaml_tree.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

const std::string kFolder = std::string(BONESCAN_SOURCE_DIR) + "/scenarios/";

/// A valid scenario with every key there is.
constexpr std::string_view kEveryKey = R"yaml(
name: every key
description: All of them.
duration: 30min
seed: 7
fabric:
  preset: rail-optimized
  file: ../tests/golden/topology/two_segments.yaml
  links: [{from: host-0/rnic-0, from_port: 1, to: tor-0, to_port: 1, rate: 400Gbps, name: a}]
  segments: 2
  hosts_per_segment: 4
  rails: 8
  aggregation_switches: 2
  spare_hosts: 1
  spare_tor_ports: 2
  segments_per_pod: 1
  core_switches: 4
  link: {rate: 400Gbps}
  access: {rate: 200Gbps, llr: yes}
  uplink: {rate: 400Gbps, llr: no}
  core: {rate: 800Gbps, llr: no}
  convergence: 800ms
  bond: {members: 2, failover: 100ms, route_withdrawal: 300ms}
  hash:
    algorithm: mix
    switches:
      - {switch: tor-0.1, algorithm: crc, salt: 7}
overlay:
  ovs:
    max_idle: 10s
    max_revalidator: 500ms
    counter_refresh: 1s
    reoffload: on_upcall
    version: 3.3
    flow_limit: 200000
    min_revalidate_pps: 5
    offloaded_stats_delay: 2s
    dump_cost: 5us
    background_flows: 1000
    cpu_load: 10%
    tc_policy: skip_sw
    offload_rebalance: yes
  eswitch: {entries: 1000}
  vxlan: {port: 4789, vni: 100, mtu: 9000B}
  ecn_marked_share: 1%
  slow_path: 52us
  upcall: 400us
latency:
  endpoints: 9.6us
  access_link: 600ns
  fabric_link: 750ns
  jitter_sigma: 0.04
  spike_ratio: 0.1%
  spike_mean: 20us
  spike_tail: pareto
  spike_shape: 1.5
  spike_bound: 10ms
  load_queue_mean: 2us
  base_loss_ratio: 2e-6
load:
  model: links
  ring_rate: 15Gbps
  pipeline_rate: 15Mbps
  flows:
    - {from: host-0.00/rnic-1, to: host-1.00/rnic-1, rate: 30%, packet: 4214B, at: 10s, length: 20s}
  incasts:
    - {to: host-0.00/rnic-0, senders: 3, burst: 80000B, period: 200us, at: 10s, length: 20s}
  congestion:
    control: dcqcn
    flow_control: pfc
    reaction: 60us
    ecn_min: 100KiB
    ecn_max: 400KiB
    xoff: 300KiB
    xon: 200KiB
    buffer: 4MiB
jobs:
  - name: pretrain
    gpus: 32
    parallelism: {tp: 8, pp: 2, dp: 2, cp: 1, ep: 2}
    step: {time: 8s, jitter: 3%, microbatches: 16, burst_share: 20%, stage_offset: 500ms,
           schedule: 1f1b, stage_order: back-first, chunks: 2, worker_spread: 2%,
           worker_jitter: 1%}
    start: {at: 0s, ready_spread: 2min}
    rank_order: known
    workload: training
    activity: 30%
    gradients: {collective: tree, sharding: optimizer}
    experts: {rails: cross, volume: 0.5}
    context: {volume: 0.5}
    container: {rnics: 8}
    model: {parameters: 7e9, layers: 32, hidden: 4096, sequence: 4096, batch: 256,
            peak_flops: 312e12, mfu: 45%, experts_per_token: 2, sync_rate: 100Gbps}
    phases: [{kind: checkpoint, every: 100, length: 30s, rate: 5Gbps}]
    stragglers: [{container: 1, late_by: 1s, at: 1min, for: 2min}]
    idle: [{rank: 3}]
    changes: [{at: 10min, parallelism: {tp: 8, pp: 1, dp: 4}, restart: 30s}]
  - {name: neighbour, gpus: 8, parallelism: {tp: 4, dp: 2}, container: {rnics: 4}}
  - {name: beside, gpus: 8, parallelism: {tp: 4, dp: 2}, container: {rnics: 4, beside: neighbour}}
cloud:
  initial_tasks: 2
  arrivals: {containers_per_minute: 10, until: 20min, queue_limit: 100}
  peaks: {containers_per_minute: 100, first: 5min, every: 10min, length: 1min}
  sizes: [{containers: 1, share: 90%}, {containers: 2, share: 10%}]
  shapes: [{rnics: 8, share: 80%}, {rnics: 4, share: 20%}]
  lifetimes: [{share: 50%, time: 10min}, {share: 90%, time: 2h}]
  trace: {file: ../tests/golden/cloud/trace.csv}
  tasks: [{at: 1s, containers: 2, rnics: 8, lifetime: 5min, ready_spread: 10s, trains: no}]
  quiet_share: 30%
  ready: {base: 20s, spread: 2min}
  crashes: {share: 1%, within: 30s, noticed: 1min}
  stop_grace: 10s
  agents: {restarts_per_day: 1, down: 5s, upgrade: {first: 10min, every: 10min, over: 5min}}
probing:
  list: skeleton
  visit: 1s
  probes_per_visit: 5
  counter_phase: yes
  timeout: 500ms
  lateness: 2s
  payload: 1KiB
  dscp: 26
  skeleton: {evidence: throughput, widest: full-mesh, confidence: 0.99, opt_out: [{task: pretrain}],
             shortest_record: 60s, longest_record: 5min, segment: 60, hop: 15,
             false_alarm_every: 24h, dumps_per_round: 8, dump_again: 5min}
detection:
  configuration: bonescan
  window: {length: 30s, history: 10, history_age: 5min, history_sweeps: 12, cold_after: 10s}
  short_term: {neighbours: 5, distance_floor: 0.05, features: all,
               feature_floor: 500ns, threshold: 4, minimum_factor: 1.25,
               evaluation: sliding, false_alarms_per_day: 0.1}
  long_term: {enabled: yes, period: 30min, reference: 24h, least_reference: 12h, relearn_after: 72h,
              least_factor: 1.05, least_shift: 1us, ewma_weight: 0.1, cusum_slack: 1,
              least_pairs: 5, false_alarms_per_day: 0.048, fleet_pairs: 300000,
              lags: {first: 1, second: 2, third: 4, form: published, least_samples: 30,
                     significance: 1.16e-9}}
  loss: {consecutive: 4, base_loss_ratio: 1e-5, pool_window: 60s, open_llr: 14}
  localize: {walks_per_round: 16, dumps_per_round: 4, latency_hit_ratio: 60%, tie_nats: 1}
  incident: {merge_gap: 60s, close_after: 90s, reopen_after: 10min}
  follow_up: {probes_per_round: 40, traces_per_round: 16, rounds: 6, large_payload: 1KiB,
              other_dscp: 0, decide_nats: 7}
  host_check: {inspections_per_round: 2, round_periods: 10, flat_after: 60s}
maintenance:
  - {from: 5min, to: 10min, host: host-0.*}
  - {from_utc: "1970-01-01T00:10:00Z", for: 1min, component: "link(tor-0.1, agg-1)"}
  - {from: 20min, for: 30s, task: job-1}
confounders:
  file: confounders/default.yaml
  late_starts: {share: 5%, delay: 4min}
  times: 2
  agent_crashes: {count: 1, per_host_day: 1, down: 40s}
  agent_upgrades: {first: 5min, every: 10min, over: 1min, down: 5s}
  congestion: {per_minute: 1, per_link_hour: 1, length: 4s, queue: 15us}
  rehashes: {per_switch_day: 1}
  maintenance: {per_host_month: 10, per_cable_month: 10, length: 2min, margin: 10s}
  slow_code: {per_container_day: 1, least_slowdown: 10%, most_slowdown: 60%, least_length: 10min,
              most_length: 72min}
  gpu_faults: {per_gpu_day: 1, silence: 1min}
  task_stops: {per_job_day: 1}
  telemetry: {lost: 1%, late: 5%, late_by: 2s, duplicated: 1%, repeat: 5s,
              background: 100Mbps, rdma_counters: yes,
              sampler: {phase: 1s, jitter: 20ms, missed: 1%, period: 500ms, dither: 100ms,
                        noise: 0.02}}
clocks:
  offset: 1us
  wander: 200ns
  wander_period: 100s
  drift_ppm: 20
  holdover: {share: 10%, from: 5min}
  steps: {size: 10ms, period: 10min, lasts: 20s}
  timestamps: rnic
  scheduling: 3us
faults:
  - {name: a, kind: crc-error, on: "link(tor-0.0, agg-1)", at: 1min, for: 1min, direction: up,
     loss: 2%}
  - {name: b, kind: rnic-port-flapping, on: host-0.00/rnic-0, at: 1min, down: 2s, up: 8s}
  - {name: c, kind: overlay-loop, on: host-0.00/rnic-0, at: 1min, rule: encap, to: host-1.00/rnic-0}
  - {name: e, kind: suboptimal-flow-offloading, on: host-0.00/rnic-0, at: 1min, flow_share: 50%}
  - {name: f, kind: hugepage-mismatch, on: host-0.00, at: 1min, pages: 10}
  - {name: g, kind: rnic-firmware-stall, on: host-0.00/rnic-0, at: 1min, delay: 50us}
  - name: d
    at: 2min
    effects:
      - effect: link.loss
        on: link(host-0.00/rnic-0/port-1, tor-0.0)
        direction: down
        ratio: 10%
        min_packet: 1000B
        max_packet: 4KiB
        dscp: 26
        flow_share: 50%
      - {effect: link.delay, on: "link(tor-0.0, agg-1)", delay: 5us}
      - {effect: link.ber, on: "link(tor-0.0, agg-1)", ber: 1e-3}
      - {effect: port.flap, on: "link(tor-0.0, agg-1)", down: 1s, up: 2s}
      - {effect: rule.alter, on: host-0.00/rnic-1, rule: encap, to: host-1.00/rnic-1,
         alteration: drop}
      - {effect: tunnel.neighbour, on: host-0.00/rnic-1, to: host-1.00/rnic-1, neighbour: stale}
      - {effect: tunnel.mtu, on: host-0.00/rnic-1, mtu: 1500B}
      - {effect: eswitch.capacity, on: host-0.00/rnic-1, entries: 10}
      - {effect: counters.set, on: host-0.00/rnic-1, value: 0}
      - {effect: flow.edit, on: host-0.00/rnic-1, to: host-1.00/rnic-1, edit: delete}
      - {effect: ovs.flow_limit, on: host-0.00/ovs, flows: 1000}
      - {effect: gid.missing, on: host-0.00/rnic-1, missing: ipv4}
      - {effect: pcie.width, on: host-0.00/rnic-1, lanes: 8}
      - {effect: hugepages.set, on: host-0.00, pages: 100}
  - name: rm
    at: 2min
    effects:
      - {effect: switch.loss, on: agg-1, ratio: 10%, flow_share: 50%}
      - {effect: link.ber, on: "link(tor-0.0, agg-1)", ber: 1e-3, ber_from: 1e-5, over: 1min}
      - {effect: link.rate, on: "link(tor-0.0, agg-1)", rate_left: 50%}
      - {effect: pause.storm, on: "link(host-0.00/rnic-0/port-1, tor-0.0)", paused: 90%}
      - {effect: hash.change, on: tor-0.0}
      - {effect: cable.swap, on: host-0.00/rnic-1, to: host-0.00/rnic-2}
  - {name: re, kind: large-packet-loss, on: "link(tor-0.0, agg-1)", at: 2min, direction: up,
     min_packet: 1025B}
  - {name: rf, kind: dscp-loss, on: "link(tor-0.0, agg-1)", at: 2min, dscp: 26, direction: up}
  - {name: rg, kind: silent-blackhole, on: agg-0, at: 2min, tuple_share: 30%}
  - {name: rh, kind: mtu-blackhole, on: host-0.00/rnic-2, at: 2min, mtu: 1500B}
  - {name: ri, kind: eswitch-full, on: host-0.00/rnic-2, at: 2min, entries: 2}
  - {name: rj, kind: pcie-width-loss, on: host-0.00/rnic-2, at: 2min, lanes: 8}
  - {name: rk, kind: lane-downgrade, on: "link(tor-0.0, agg-1)", at: 2min, rate_left: 50%}
  - {name: rm2, kind: pfc-storm, on: "link(host-0.00/rnic-0/port-1, tor-0.0)", at: 2min,
     paused: 90%}
  - {name: rl, kind: optics-degrading, on: "link(tor-0.0, agg-1)", at: 2min, ber_from: 1e-5,
     ber: 2e-3, over: 1min}
failures:
  kinds: [{kind: crc-error, share: 3}, {kind: overlay-loop, share: 1}]
  count: 2
  from: 1min
  until: 20min
  length: 2min
  apart: 1min
  process: count
  mix: list
  rates: {link: 0.1, tor: 0.1, rnic: 0.1, software: 0.1}
  times: 100
  weibull_shape: 0.7
  repair: {law: fixed, median: 1min, p90: 5min, comes_back: 10%, within: 1min}
  frailty: {shape: 0.9}
  groups: {share: 10%, of: any, members: 3, spread: 10s, batches: 4}
  trace:
    file: ../tests/golden/traces/faults.json
    faults: [{node: a, at: 1h, length: 2h, class: NIC, fault: NIC Lost}]
    speedup: 1000
    offset: 1h
    nodes: hash
    others: stall
)yaml";

constexpr std::string_view kSmallest = R"(
name: smallest
duration: 30min
jobs:
  - {gpus: 512, parallelism: {tp: 8, pp: 8, dp: 8}}
)";

/// "faults[].at" for every value of the tree that is no section.
void collect_paths(const YamlNode& node, const std::string& path, std::set<std::string>& paths) {
  if (node.kind != YamlNode::Kind::kMap) {
    paths.insert(path);
  }
  for (const YamlEntry& entry : node.entries) {
    collect_paths(entry.value, path.empty() ? entry.key : path + "." + entry.key, paths);
  }
  for (const YamlNode& item : node.items) {
    collect_paths(item, path + "[]", paths);
  }
  std::erase_if(paths, [](const std::string& known) { return known.ends_with("[]"); });
}

std::set<std::string> schema_paths() {
  std::set<std::string> paths;
  for (const SchemaKey& key : schema_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " is declared twice";
  }
  return paths;
}

std::string read_all(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A key of a job or of the whole, which can be set without regard to others.
bool stands_alone(const SchemaKey& key) {
  return !key.path.starts_with("faults") && !key.path.starts_with("failures") &&
         key.path != "confounders.file" && key.path != "jobs" && key.path != "fabric.file" &&
         !key.path.starts_with("fabric.hash.switches") && !key.path.starts_with("fabric.links") &&
         key.path != "cloud.trace.file" && !key.path.starts_with("cloud.sizes") &&
         !key.path.starts_with("cloud.shapes") && !key.path.starts_with("cloud.lifetimes") &&
         !key.path.starts_with("cloud.tasks") && !key.path.starts_with("load.flows") &&
         !key.path.starts_with("load.incasts") &&
         !key.path.starts_with("probing.skeleton.opt_out") &&
         !key.path.starts_with("jobs[].phases") && !key.path.starts_with("jobs[].stragglers") &&
         !key.path.starts_with("jobs[].idle") && !key.path.starts_with("jobs[].changes") &&
         key.path != "jobs[].container.beside" && key.path != "overlay.ovs.offload_rebalance" &&
         key.path != "overlay.ovs.offloaded_stats_delay" && !key.path.starts_with("maintenance");
}

std::string set_key(const SchemaKey& key, const std::string& value) {
  std::string path = key.path;
  if (const std::size_t list = path.find("[]"); list != std::string::npos) {
    path.insert(list + 1, "0");
  }
  return path + "=" + value;
}

Scenario smallest_with(const std::string& setting) {
  const std::vector<std::string> settings = {setting};
  return parse_scenario(kSmallest, kFolder + "smallest.yaml", settings);
}

TEST(Schema, HasEveryKeyThatIsAcceptedAndNoOther) {
  const std::string file = kFolder + "every_key.yaml";
  ASSERT_NO_THROW(parse_scenario(kEveryKey, file));
  std::set<std::string> used;
  collect_paths(parse_yaml_tree(kEveryKey, nullptr), "", used);
  EXPECT_EQ(used, schema_paths());
}

TEST(Schema, SaysSomethingAboutEveryKey) {
  for (const SchemaKey& key : schema_keys()) {
    SCOPED_TRACE(key.path);
    EXPECT_FALSE(key.type.empty());
    EXPECT_FALSE(key.fallback.empty());
    EXPECT_TRUE(key.meaning.ends_with('.'));
    const bool unbounded = key.type.starts_with("one of") || key.type == "component";
    EXPECT_EQ(key.range.empty(), unbounded);
  }
}

TEST(Schema, DocumentsDefaultsThatAreAccepted) {
  for (const SchemaKey& key : schema_keys()) {
    if (stands_alone(key) && key.fallback != "required" && !key.path.starts_with("jobs[].par")) {
      SCOPED_TRACE(key.path);
      EXPECT_NO_THROW(smallest_with(set_key(key, key.fallback)));
    }
  }
}

TEST(Schema, DocumentsChoicesThatAreAccepted) {
  for (const SchemaKey& key : schema_keys()) {
    if (!stands_alone(key) || !key.type.starts_with("one of ")) {
      continue;
    }
    std::istringstream words(key.type.substr(std::string("one of ").size()));
    for (std::string word; words >> word;) {
      if (word != "|" && word != "graph") {  // Which needs cables.
        EXPECT_NO_THROW(smallest_with(set_key(key, word))) << key.path << " " << word;
      }
    }
  }
}

TEST(Schema, KeepsItsRanges) {
  const std::vector<std::pair<std::string, std::string>> beyond = {{"count", "-1"},
                                                                   {"number", "-0.001"},
                                                                   {"ratio", "-1%"},
                                                                   {"duration", "-1ns"},
                                                                   {"rate", "-1bps"},
                                                                   {"size", "-1B"}};
  std::size_t tried = 0;
  for (const SchemaKey& key : schema_keys()) {
    for (const auto& [type, value] : beyond) {
      if (stands_alone(key) && key.type == type) {
        ++tried;
        try {
          smallest_with(set_key(key, value));
          ADD_FAILURE() << key.path << " accepts " << value;
        } catch (const ConfigError& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("hint: the least is ")) << key.path;
        }
      }
    }
  }
  EXPECT_GT(tried, 50u);
}

TEST(SchemaDocument, IsWhatTheTablesSay) {
  const std::string generated = schema_markdown();
  if (std::getenv("BONESCAN_REGEN_GOLDEN") != nullptr) {
    std::ofstream(kFolder + "SCHEMA.md") << generated;
  }
  const std::string committed = read_all(kFolder + "SCHEMA.md");
  const auto differ = std::ranges::mismatch(committed, generated).in2 - generated.begin();
  // Not EXPECT_EQ: it would print both documents.
  EXPECT_TRUE(committed == generated)
      << "SCHEMA.md is not what schema_markdown() writes (tools/regen_golden.sh) from here on:\n"
      << generated.substr(static_cast<std::size_t>(differ), 200);
}

TEST(SchemaDocument, HasOneRowPerKeyAndNoOther) {
  std::set<std::string> rows;
  std::istringstream lines(read_all(kFolder + "SCHEMA.md"));
  bool in_keys = false;
  for (std::string line; std::getline(lines, line);) {
    in_keys = line.starts_with("| Key |") || (in_keys && line.starts_with("|"));
    if (in_keys && line.starts_with("| `")) {
      const std::size_t end = line.find('`', 3);
      EXPECT_TRUE(rows.insert(line.substr(3, end - 3)).second) << line;
    }
  }
  EXPECT_EQ(rows, schema_paths());
}

}  // namespace
}  // namespace bonescan
