#include "tools/agent/agent_config.h"

#include "detectors/backend_peers/peer_address.h"
#include "scenarios/schema/config_file.h"
#include "scenarios/schema/detection_keys.h"
#include "scenarios/schema/yaml_edit.h"
#include "scenarios/schema/yaml_tree.h"
#include "sim/base/fingerprint.h"
#include "tools/agent/agent_keys.h"
#include "tools/agent/alert_poster.h"
#include "tools/agent/topology_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

namespace bonescan {
namespace {

class AgentConfigChecker final {
 public:
  AgentConfigChecker(const AgentConfig& config, const YamlNode& root)
      : config_(config), root_(root) {}

  void check() {
    check_detection(config_.pipeline, root_);
    if (config_.pipeline.skeleton.evidence == SkeletonEvidence::kOracle) {
      complain("probing.skeleton.evidence",
               {"throughput or flow-table",
                "'oracle'",
                "only the twin knows the truth; an agent has to look"});
    }
    check_socket(config_.management, "agent.management");
    if (config_.metrics != "none") {
      check_socket(config_.metrics, "agent.metrics");
    }
    if (config_.alertmanager != "none" && !parse_alertmanager_url(config_.alertmanager)) {
      complain("agent.alertmanager",
               {"a URL with an IP address and a port",
                in_quotes(config_.alertmanager),
                "write it as 'http://127.0.0.1:9093'; names are not looked up, https is not "
                "spoken"});
    }
    for (std::size_t i = 0; i < config_.inventory.size(); ++i) {
      check_entry(config_.inventory[i], fmt::format("inventory[{}]", i));
    }
    if (local_count_ == 0) {
      complain("agent.host",
               {"a host of the inventory",
                in_quotes(config_.host),
                "give it an endpoint in the inventory, or correct the name"});
    }
    check_hosts();
    check_ovs();
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  void check_socket(const std::string& text, const std::string& path) const {
    if (!parse_socket_address(text)) {
      complain(path,
               {"an IP address and a port",
                in_quotes(text),
                "write it as '10.0.0.1:7475' or '[fd00::1]:7475'"});
    }
  }

  void check_address(const std::string& text, const std::string& path) const {
    if (!text.empty() && !gid_from_text(text)) {
      complain(path, {"an IPv4 or IPv6 address", in_quotes(text), "names are not looked up"});
    }
  }

  void check_entry(const InventoryEntry& entry, const std::string& path) {
    const auto [known, is_new] = endpoints_.emplace(entry.name, path);
    if (!is_new) {
      complain(path + ".name",
               {"a name that no other endpoint has",
                in_quotes(entry.name),
                fmt::format("{} has the same name", known->second)});
    }
    hosts_.emplace(entry.host, path);
    check_address(entry.overlay_ip, path + ".overlay_ip");
    check_address(entry.underlay_ip, path + ".underlay_ip");
    if (entry.gid_index && !entry.gid_address.empty()) {
      complain(path + ".gid_index",
               {"either an index or an address", "both", "delete one of the two"});
    }
    if (!entry.gid_address.empty() && !gid_from_text(entry.gid_address)) {
      complain(path + ".gid_address",
               {"a GID", in_quotes(entry.gid_address), "write it as '::ffff:10.0.0.1'"});
    }
    if (entry.host != config_.host) {
      return;
    }
    ++local_count_;
    if (entry.device.empty()) {
      complain(path + ".device",
               {"an RDMA device, since the endpoint is on this agent's host",
                "nothing",
                "add it: `rdma link` lists the devices of this host"});
    }
  }

  void check_known(const std::map<std::string, std::string>& known,
                   const std::string& name,
                   const std::string& path,
                   const std::string& what) const {
    if (!known.contains(name)) {
      complain(path,
               {fmt::format("{} of the inventory", what),
                in_quotes(name),
                "correct the name, or add it to the inventory"});
    }
  }

  void check_hosts() const {
    std::map<std::string, std::string> managed;
    for (std::size_t i = 0; i < config_.hosts.size(); ++i) {
      const ManagedHost& host = config_.hosts[i];
      const std::string path = fmt::format("hosts[{}]", i);
      check_known(hosts_, host.name, path + ".name", "a host");
      check_socket(host.management, path + ".management");
      const auto [known, is_new] = managed.emplace(host.name, path);
      if (!is_new) {
        complain(path + ".name",
                 {"each host once",
                  in_quotes(host.name),
                  fmt::format("{} is the same host", known->second)});
      }
    }
    for (const auto& [host, path] : hosts_) {
      if (host != config_.host && !managed.contains(host)) {
        complain(path + ".host",
                 {"a host that `hosts` has the management address of",
                  in_quotes(host),
                  "add it to hosts, as {name: ..., management: '10.0.0.1:7475'}"});
      }
    }
  }

  void check_ovs() const {
    for (std::size_t i = 0; i < config_.ovs.size(); ++i) {
      const OvsHostConfig& host = config_.ovs[i];
      const std::string path = fmt::format("ovs[{}]", i);
      check_known(hosts_, host.name, path + ".name", "a host");
      check_address(host.vtep, path + ".vtep");
      for (std::size_t k = 0; k < host.ports.size(); ++k) {
        check_known(endpoints_,
                    host.ports[k].endpoint,
                    fmt::format("{}.ports[{}].endpoint", path, k),
                    "an endpoint");
      }
    }
  }

  const AgentConfig& config_;
  const YamlNode& root_;
  std::map<std::string, std::string> endpoints_;  ///< name, and where it stands
  std::map<std::string, std::string> hosts_;
  std::size_t local_count_ = 0;
};

}  // namespace

std::optional<SocketAddress> parse_socket_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string address(text.substr(0, colon));
  const bool bracketed = address.size() > 2 && address.starts_with('[') && address.ends_with(']');
  if (bracketed) {
    address = address.substr(1, address.size() - 2);
  }
  const bool is_ipv6 = address.find(':') != std::string::npos;
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || status != std::errc() || end != digits.data() + digits.size() ||
      is_ipv6 != bracketed || !gid_from_text(address)) {
    return std::nullopt;
  }
  return SocketAddress{std::move(address), port};
}

std::string to_string(const SocketAddress& address) {
  const bool is_ipv6 = address.address.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", address.address, address.port)
                 : fmt::format("{}:{}", address.address, address.port);
}

AgentConfig parse_agent_config(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  AgentConfig config;
  agent_table().read(root, "", config);
  apply_configuration(config.pipeline, root);
  config.pipeline.seed = config.seed;
  AgentConfigChecker(config, root).check();
  config.file = file;
  config.text = std::string(text);
  Fingerprint fingerprint;
  fingerprint.add(text);
  config.hash = fingerprint.hex();
  return config;
}

AgentConfig load_agent_config(const std::string& file) {
  AgentConfig config = parse_agent_config(read_config_file(file), file);
  check_topology(config);
  return config;
}

EndpointDirectory endpoint_directory(const AgentConfig& config) {
  EndpointDirectory endpoints;
  for (const InventoryEntry& entry : config.inventory) {
    endpoints.push_back({.name = entry.name,
                         .host = entry.host,
                         .task = entry.task,
                         .overlay_ip = entry.overlay_ip,
                         .underlay_ip = entry.underlay_ip,
                         .tor = entry.tor,
                         .rail = entry.rail,
                         .local = entry.host == config.host});
  }
  return endpoints;
}

std::vector<SchemaKey> agent_schema_keys() {
  return agent_table().keys("");
}

}  // namespace bonescan
