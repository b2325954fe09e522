// What a configuration may say, and what is answered to one that it may not.
#include "tools/agent/agent_config.h"

#include "scenarios/schema/load_scenario.h"
#include "scenarios/schema/yaml_tree.h"
#include "tests/support/child_process.h"
#include "tests/support/fake_live.h"
#include "tools/agent/agent_markdown.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

const std::string kFolder = std::string(BONESCAN_SOURCE_DIR) + "/scenarios/agent/";

constexpr std::string_view kEveryKey = R"yaml(
agent:
  host: host-a
  management: 10.0.0.1:7475
  metrics: 127.0.0.1:9475
  alertmanager: 'http://[::1]:9093/prefix'
  output: runs/a
  flush: 10s
  seed: 7
  ovs_max_idle: 10s
  queue_pairs: 8
  service_level: 0
  visits: {file_size: 16MiB, files: 4}
limits: {probes_per_second: 1000, cpu: 5%, memory: 128MiB, disk_free: 256MiB}
inventory:
  - name: host-a/rnic-0
    host: host-a
    task: pretrain
    rail: 0
    tor: tor-1
    overlay_ip: 10.9.0.1
    underlay_ip: 192.168.0.1
    device: mlx5_0
    port: 1
    gid_index: 3
  - {name: host-a/rnic-1, host: host-a, device: mlx5_1, gid_address: '::ffff:10.9.0.2'}
  - {name: host-b/rnic-0, host: host-b}
hosts:
  - {name: host-b, management: '[fd00::2]:7475'}
topology: {file: cables.yaml, trace_routers: yes}
ovs:
  - name: host-a
    control: /run/openvswitch/ovs-vswitchd.1.ctl
    management: /run/openvswitch/br-int.mgmt
    database: unix:/run/openvswitch/db.sock
    bridge: br-int
    vtep: 192.168.0.1
    command_prefix: ip netns exec host-a
    offload_table: tc
    ports:
      - {endpoint: host-a/rnic-0, interface: pf0vf0, openflow_port: 3, mac: '02:00:00:00:00:01',
         tc_device: pf0vf0}
probing:
  list: full-mesh
  visit: 1s
  probes_per_visit: 5
  timeout: 500ms
  lateness: 2s
  payload: 1KiB
  dscp: 26
  counter_phase: yes
  skeleton: {evidence: flow-table, widest: same-rail, confidence: 0.9, opt_out: [{task: pretrain}],
             shortest_record: 2min, longest_record: 10min, segment: 30, hop: 10,
             false_alarm_every: 12h, dumps_per_round: 4, dump_again: 10min}
detection:
  configuration: bonescan
  window: {length: 30s, history: 10, history_age: 5min, history_sweeps: 12, cold_after: 10s}
  short_term: {neighbours: 5, distance_floor: 0.05, features: median, feature_floor: 1ms,
               threshold: 4, minimum_factor: 1.25, evaluation: sliding, false_alarms_per_day: 0.1}
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
  - {from: 5min, to: 10min, host: host-*}
  - {from_utc: '2026-11-30T08:00:00Z', for: 1min, component: host-a/rnic-0}
  - {from: 20min, for: 30s, task: pretrain}
)yaml";

AgentConfig parsed(const std::string& text) {
  return parse_agent_config(text, "agent.yaml");
}

std::string complaint_about(const std::string& text) {
  try {
    parsed(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it is accepted";
}

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

TEST(AgentConfig, TakesEveryKeyThatIsDocumentedAndNoOther) {
  ASSERT_NO_THROW(parsed(std::string(kEveryKey)));
  std::set<std::string> used;
  collect_paths(parse_yaml_tree(kEveryKey, nullptr), "", used);
  std::set<std::string> documented;
  for (const SchemaKey& key : agent_schema_keys()) {
    EXPECT_TRUE(documented.insert(key.path).second) << key.path << " is declared twice";
    EXPECT_TRUE(key.meaning.ends_with('.')) << key.path;
    EXPECT_FALSE(key.fallback.empty()) << key.path;
  }
  EXPECT_EQ(used, documented);
}

TEST(AgentConfig, HasTheSameKeysForDetectionAsAScenario) {
  const auto shared = [](const std::vector<SchemaKey>& keys) {
    std::vector<std::string> rows;
    for (const SchemaKey& key : keys) {
      if (key.path.starts_with("probing.") || key.path.starts_with("detection.")) {
        rows.push_back(key.path + key.type + key.fallback + key.range + key.meaning);
      }
    }
    return rows;
  };
  EXPECT_FALSE(shared(schema_keys()).empty());
  EXPECT_EQ(shared(agent_schema_keys()), shared(schema_keys()));
}

TEST(SchemaDocument, OfTheAgentIsWhatTheLoaderSays) {
  const std::string file = kFolder + "SCHEMA.md";
  if (std::getenv("BONESCAN_REGEN_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << agent_markdown();
  }
  EXPECT_EQ(read_file(file), agent_markdown()) << "tools/regen_golden.sh writes it anew";
}

TEST(AgentConfig, AcceptsItsExamples) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml" && entry.path().stem() != "topology") {
      SCOPED_TRACE(entry.path().string());
      EXPECT_NO_THROW(load_agent_config(entry.path().string()));
      ++examples;
    }
  }
  EXPECT_GE(examples, 1u);
}

TEST(AgentConfig, FillsInValues) {
  const AgentConfig config = parsed(std::string(kEveryKey));
  EXPECT_EQ(config.limits.cpu, 0.05);
  EXPECT_EQ(config.limits.memory_bytes, std::int64_t{128} << 20);
  EXPECT_EQ(config.inventory[0].gid_index, 3u);
  EXPECT_EQ(config.inventory[1].gid_index, std::nullopt);
  EXPECT_EQ(config.ovs[0].offload_table, OffloadExpectation::kTc);
  EXPECT_EQ(config.ovs[0].ports[0].openflow_port, 3u);
  EXPECT_EQ(config.pipeline.seed, 7u);
  EXPECT_EQ(config.pipeline.skeleton.evidence, SkeletonEvidence::kFlowTable);
  EXPECT_EQ(config.pipeline.skeleton.opt_out, std::vector<std::string>{"pretrain"});
  EXPECT_EQ(config.pipeline.short_term.features, FeatureChoice::kMedian);
  const EndpointDirectory endpoints = endpoint_directory(config);
  ASSERT_EQ(endpoints.size(), 3u);
  EXPECT_TRUE(endpoints[EndpointId(0)].local);
  EXPECT_TRUE(endpoints[EndpointId(1)].local);
  EXPECT_FALSE(endpoints[EndpointId(2)].local);
}

TEST(AgentConfig, SaysWhereAndWhatIsWrong) {
  struct Case {
    const char* name;
    std::string text;
    std::string complaint;
  };

  const std::string one = "inventory: [{name: a, host: h, device: d}]\n";
  const std::vector<Case> cases = {
      {"no host", "agent: {}\n" + one, "agent.yaml:1:1: agent.host: expected this key"},
      {"no inventory", "agent: {host: h}\n", "inventory: expected this key"},
      {"unknown key",
       "agent: {host: h, managment: x}\n" + one,
       "agent.yaml:1:18: agent.managment: expected a known key; found 'managment'; hint: did you "
       "mean 'management'?"},
      {"a host without endpoints",
       "agent: {host: x}\n" + one,
       "agent.yaml:1:15: agent.host: expected a host of the inventory; found 'x'"},
      {"a name as address",
       "agent: {host: h, management: 'localhost:7'}\n" + one,
       "agent.management: expected an IP address and a port; found 'localhost:7'"},
      {"IPv6 without brackets",
       "agent: {host: h, management: 'fd00::1:7'}\n" + one,
       "agent.management: expected an IP address and a port"},
      {"port out of range",
       "agent: {host: h, metrics: '127.0.0.1:70000'}\n" + one,
       "agent.metrics: expected an IP address and a port"},
      {"alerts over https",
       "agent: {host: h, alertmanager: 'https://127.0.0.1:9093'}\n" + one,
       "agent.alertmanager: expected a URL with an IP address and a port"},
      {"endpoint twice",
       "agent: {host: h}\ninventory:\n  - {name: a, host: h, device: d}\n  - {name: a, host: h, "
       "device: e}\n",
       "agent.yaml:4:12: inventory[1].name: expected a name that no other endpoint has; found 'a'; "
       "hint: inventory[0] has the same name"},
      {"local without device",
       "agent: {host: h}\ninventory: [{name: a, host: h}]\n",
       "inventory[0].device: expected an RDMA device"},
      {"index and address",
       "agent: {host: h}\ninventory: [{name: a, host: h, device: d, gid_index: 1, gid_address: "
       "'::1'}]\n",
       "inventory[0].gid_index: expected either an index or an address; found both"},
      {"no GID",
       "agent: {host: h}\ninventory: [{name: a, host: h, device: d, gid_address: '10.0.0.300'}]\n",
       "inventory[0].gid_address: expected a GID"},
      {"no overlay address",
       "agent: {host: h}\ninventory: [{name: a, host: h, device: d, overlay_ip: '10.0'}]\n",
       "inventory[0].overlay_ip: expected an IPv4 or IPv6 address"},
      {"a host that cannot be reached",
       "agent: {host: h}\ninventory: [{name: a, host: h, device: d}, {name: b, host: k}]\n",
       "inventory[1].host: expected a host that `hosts` has the management address of"},
      {"a stranger among the hosts",
       "agent: {host: h}\n" + one + "hosts: [{name: k, management: '10.0.0.1:1'}]\n",
       "agent.yaml:3:16: hosts[0].name: expected a host of the inventory; found 'k'"},
      {"a stranger with Open vSwitch",
       "agent: {host: h}\n" + one + "ovs: [{name: k}]\n",
       "ovs[0].name: expected a host of the inventory"},
      {"a stranger's port",
       "agent: {host: h}\n" + one + "ovs: [{name: h, ports: [{endpoint: z}]}]\n",
       "ovs[0].ports[0].endpoint: expected an endpoint of the inventory; found 'z'"},
      {"an agent that knows the truth",
       "agent: {host: h}\n" + one + "probing: {skeleton: {evidence: oracle}}\n",
       "agent.yaml:3:32: probing.skeleton.evidence: expected throughput or flow-table; found "
       "'oracle'"},
      {"windows shorter than visits",
       "agent: {host: h}\n" + one + "detection: {window: {length: 1s}}\nprobing: {visit: 2s}\n",
       "probing.visit: expected a visit in every window"},
      {"a drift without a reference",
       "agent: {host: h}\n" + one + "detection: {long_term: {reference: 1h}}\n",
       "agent.yaml:3:36: detection.long_term.reference: expected a reference that is not shorter"},
      {"no unit",
       "agent: {host: h}\nlimits: {memory: 100}\n" + one,
       "limits.memory: expected a size"},
      {"scenario",
       "name: x\nduration: 5s\njobs: []\n",
       "agent.yaml:1:1: name: expected a known key; found 'name'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(complaint_about(c.text), HasSubstr(c.complaint));
  }
}

TEST(AgentConfig, NamesAFileThatIsNotThere) {
  EXPECT_THROW(load_agent_config("missing.yaml"), ConfigError);
}

TEST(AgentConfig, ReadsATopologyFileBesideIt) {
  const TemporaryDirectory directory;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory.file(name)) << text;
  };
  write("agent.yaml",
        "agent: {host: h}\ninventory: [{name: a, host: h, device: d}]\n"
        "topology: {file: cables.yaml}\n");
  EXPECT_THROW(load_agent_config(directory.file("agent.yaml")), ConfigError);
  write("cables.yaml", "links: [{from: a, to: tor-1}]\n");
  const AgentConfig config = load_agent_config(directory.file("agent.yaml"));
  // What was recorded can be read without that file.
  EXPECT_NO_THROW(parsed(config.text));
  write("cables.yaml", "links: [{from: a, to: a}]\n");
  try {
    load_agent_config(directory.file("agent.yaml"));
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cables.yaml:1:9: links[0]: expected"));
  }
}

TEST(SocketAddress, IsReadAndWritten) {
  EXPECT_EQ(parse_socket_address("10.0.0.1:80"), (SocketAddress{"10.0.0.1", 80}));
  EXPECT_EQ(parse_socket_address("[fd00::1]:0"), (SocketAddress{"fd00::1", 0}));
  EXPECT_EQ(to_string(SocketAddress{"10.0.0.1", 80}), "10.0.0.1:80");
  EXPECT_EQ(to_string(SocketAddress{"fd00::1", 80}), "[fd00::1]:80");
  for (const char* wrong : {"",
                            ":",
                            "10.0.0.1",
                            "10.0.0.1:",
                            "10.0.0.1:-1",
                            "10.0.0.1:8x",
                            "[10.0.0.1]:80",
                            "fd00::1:80",
                            "[]:80",
                            "[fd00::1:80",
                            "host:80"}) {
    EXPECT_EQ(parse_socket_address(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace bonescan::fakes
