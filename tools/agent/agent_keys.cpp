#include "tools/agent/agent_keys.h"

#include "scenarios/schema/detection_keys.h"

#include <chrono>
#include <limits>
#include <utility>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName{1, 200};
constexpr Range<std::size_t> kMaybe{0, 1000};
constexpr Range<std::int64_t> kPort{1, 255};

const Choices<bool> kNoYes = {{"no", false}, {"yes", true}};

void add_agent(AgentTable& table) {
  table
      .text("agent.host",
            kName,
            field(&AgentConfig::host),
            "Host that this agent runs on: it probes from the endpoints of the inventory that have "
            "this host.")
      .required();
  table.text("agent.management",
             kName,
             field(&AgentConfig::management),
             "Address and TCP port on which peers find this agent.");
  table.text("agent.metrics",
             kName,
             field(&AgentConfig::metrics),
             "Address and TCP port of the Prometheus endpoint, or `none`.");
  table.text("agent.alertmanager",
             {1, 500},
             field(&AgentConfig::alertmanager),
             "Alertmanager that is told of incidents, as `http://127.0.0.1:9093`, or `none`.");
  table
      .text("agent.output",
            kMaybe,
            field(&AgentConfig::output),
            "Run directory to make; `--out` wins.")
      .otherwise("runs/agent-HOST");
  table.duration("agent.flush",
                 {std::chrono::milliseconds(100), std::chrono::hours(1)},
                 field(&AgentConfig::flush),
                 "run.sqlite is committed as windows close, and at least this often. Can change "
                 "while the agent runs.");
  table.count("agent.seed",
              {0, std::numeric_limits<std::int64_t>::max()},
              field(&AgentConfig::seed),
              "Decides the order of visits and the source ports.");
  table.count("agent.queue_pairs",
              {1, 64},
              field(&AgentConfig::queue_pairs),
              "Queue pairs of each local endpoint: more of them probe more paths.");
  table.count("agent.service_level",
              {0, 15},
              field(&AgentConfig::service_level),
              "Service level of probes, where the device maps it to a priority.");
  table.duration(
      "agent.ovs_max_idle",
      {std::chrono::milliseconds(1), std::chrono::hours(1)},
      field(&AgentConfig::pipeline, &PipelineOptions::localize, &LocalizeOptions::max_idle),
      "Open vSwitch other_config:max-idle of the bridges: a flow idle for longer is "
      "evicted, and its absence is no fault.");
  table.size("agent.visits.file_size",
             {Bytes(4096), Bytes(std::int64_t{1} << 40)},
             field(&AgentConfig::visits, &VisitFileOptions::file_bytes),
             "visits.csv is renamed to visits.1.csv, and so on, when it is this large. Can change "
             "while the agent runs.");
  table.count("agent.visits.files",
              {0, 1000},
              field(&AgentConfig::visits, &VisitFileOptions::files),
              "So many files of visits are kept; 0 writes none. Can change while the agent runs.");
}

void add_limits(AgentTable& table) {
  const auto limits = [](auto member) { return field(&AgentConfig::limits, member); };
  table.count("limits.probes_per_second",
              {1, 1'000'000},
              limits(&AgentLimits::probes_per_second),
              "Probes that all local endpoints together may send; what is beyond is left out and "
              "recorded as throttled.");
  table.ratio("limits.cpu",
              {0.001, 64.0},
              limits(&AgentLimits::cpu),
              "Share of one core, averaged over ten seconds, with the tools that the agent runs.");
  table.size("limits.memory",
             {Bytes(std::int64_t{16} << 20), Bytes(std::int64_t{1} << 40)},
             limits(&AgentLimits::memory_bytes),
             "Resident memory.");
  table.size("limits.disk_free",
             {Bytes(0), Bytes(std::int64_t{1} << 50)},
             limits(&AgentLimits::disk_free_bytes),
             "Space that stays free on the file system of the run directory.");
}

KeyTable<InventoryEntry> inventory_table() {
  KeyTable<InventoryEntry> table;
  table.text("name", kName, field(&InventoryEntry::name), "Name of the endpoint, unique.")
      .required();
  table.text("host", kName, field(&InventoryEntry::host), "Host of the RNIC.").required();
  table.text("task",
             kName,
             field(&InventoryEntry::task),
             "Job of the endpoint: only endpoints of one job probe each other.");
  table.count("rail", {0, 1023}, field(&InventoryEntry::rail), "Index of the RNIC in its host.");
  table
      .text("tor",
            kMaybe,
            field(&InventoryEntry::tor),
            "Switch at the other end of the RNIC's cable.")
      .otherwise("unknown");
  table
      .text("overlay_ip",
            kMaybe,
            field(&InventoryEntry::overlay_ip),
            "Address of the endpoint as the job sees it.")
      .otherwise("unknown");
  table
      .text("underlay_ip",
            kMaybe,
            field(&InventoryEntry::underlay_ip),
            "Address of the RNIC in the physical network.")
      .otherwise("unknown");
  table
      .text("device",
            kMaybe,
            field(&InventoryEntry::device),
            "RDMA device, as `rdma link` names it; needed for the endpoints of `agent.host`.")
      .otherwise("none");
  table.count("port", kPort, field(&InventoryEntry::port), "Port of the device.");
  table
      .count("gid_index",
             {0, 65'535},
             field(&InventoryEntry::gid_index),
             "Entry of the GID table to probe from.")
      .otherwise("chosen: RoCE v2, IPv4 before IPv6, routable before link-local");
  table
      .text("gid_address",
            {0, 64},
            field(&InventoryEntry::gid_address),
            "The same by address, which survives a change of the table.")
      .otherwise("chosen");
  return table;
}

KeyTable<ManagedHost> host_table() {
  KeyTable<ManagedHost> table;
  table.text("name", kName, field(&ManagedHost::name), "Host, as in the inventory.").required();
  table
      .text("management",
            kName,
            field(&ManagedHost::management),
            "Address and TCP port on which its agent listens.")
      .required();
  return table;
}

KeyTable<OvsPortConfig> ovs_port_table() {
  KeyTable<OvsPortConfig> table;
  table.text("endpoint", kName, field(&OvsPortConfig::endpoint), "Endpoint of the inventory.")
      .required();
  table
      .text("interface",
            kMaybe,
            field(&OvsPortConfig::interface),
            "Its port of Open vSwitch, a representor.")
      .otherwise("looked up");
  table.count("openflow_port",
              {0, 4'294'967'295},
              field(&OvsPortConfig::openflow_port),
              "OpenFlow number of that port; 0: looked up.");
  table.text("mac", kMaybe, field(&OvsPortConfig::mac), "Link address of the endpoint.")
      .otherwise("looked up");
  table
      .text("tc_device",
            kMaybe,
            field(&OvsPortConfig::tc_device),
            "Network device whose ingress holds the filters of this endpoint's flows.")
      .otherwise("the interface");
  return table;
}

KeyTable<OvsHostConfig> ovs_table() {
  KeyTable<OvsHostConfig> table;
  table.text("name", kName, field(&OvsHostConfig::name), "Host, as in the inventory.").required();
  table
      .text("control",
            kMaybe,
            field(&OvsHostConfig::control),
            "Control socket of ovs-vswitchd, for `ovs-appctl -t`.")
      .otherwise("the installation's");
  table
      .text("management",
            kMaybe,
            field(&OvsHostConfig::management),
            "Management socket of the bridge, for `ovs-ofctl`.")
      .otherwise("the installation's");
  table
      .text("database",
            kMaybe,
            field(&OvsHostConfig::database),
            "Database of Open vSwitch, for `ovs-vsctl --db`.")
      .otherwise("the installation's");
  table.text(
      "bridge", kName, field(&OvsHostConfig::bridge), "Bridge that the endpoints' ports are in.");
  table.text("vtep", kMaybe, field(&OvsHostConfig::vtep), "Address at which its tunnels end.")
      .otherwise("unknown");
  table
      .text("command_prefix",
            kMaybe,
            field(&OvsHostConfig::command_prefix),
            "Words put before each command, separated by blanks: `ip netns exec host-a`.")
      .otherwise("none");
  table.choice<OffloadExpectation>(
      "offload_table",
      {{"none", OffloadExpectation::kNone},
       {"tc", OffloadExpectation::kTc},
       {"hardware", OffloadExpectation::kHardware}},
      field(&OvsHostConfig::offload_table),
      "Where offloaded flows are expected: nowhere, as tc filters, or as tc filters in hardware.");
  table.list("ports",
             {0, 10'000},
             ovs_port_table(),
             field(&OvsHostConfig::ports),
             "How endpoints are attached, where Open vSwitch does not tell.");
  return table;
}

void add_surroundings(AgentTable& table) {
  table
      .list("inventory",
            {1, 100'000},
            inventory_table(),
            field(&AgentConfig::inventory),
            "All endpoints of the job, on this host and on others.")
      .required();
  table.list("hosts",
             {0, 100'000},
             host_table(),
             field(&AgentConfig::hosts),
             "Where the agents of the other hosts are.");
  table
      .text("topology.file",
            kMaybe,
            field(&AgentConfig::topology_file),
            "File with the cables of the network, relative to this one; see scenarios/TOPOLOGY.md.")
      .otherwise("none");
  table.choice<bool>("topology.trace_routers",
                     kNoYes,
                     field(&AgentConfig::trace_routers),
                     "Where there are several ways, ask the routers with packets that expire on "
                     "them.");
  table.list("ovs",
             {0, 10'000},
             ovs_table(),
             field(&AgentConfig::ovs),
             "Hosts whose Open vSwitch can be asked from here.");
}

}  // namespace

const AgentTable& agent_table() {
  static const AgentTable kTable = [] {
    AgentTable table;
    add_agent(table);
    add_limits(table);
    add_surroundings(table);
    table.include(detection_table(), field(&AgentConfig::pipeline));
    return table;
  }();
  return kTable;
}

}  // namespace bonescan
