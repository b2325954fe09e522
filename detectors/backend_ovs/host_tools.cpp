#include "detectors/backend_ovs/host_tools.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

/// Conversations whose Ethernet addresses are remembered; the table starts afresh beyond.
constexpr std::size_t kConversationsMax = 65536;

constexpr std::array<std::string_view, 5> kTunnelTypes = {
    "vxlan", "geneve", "gre", "ip6gre", "gtpu"};

bool is_tunnel(const BridgePort& port) {
  return std::find(kTunnelTypes.begin(), kTunnelTypes.end(), port.type) != kTunnelTypes.end();
}

/// "remote_ip" in "key=flow, remote_ip=172.30.0.2"; empty if it is not there.
std::string_view option(std::string_view options, std::string_view key) {
  while (!options.empty()) {
    const std::size_t comma = options.find(',');
    std::string_view part = trimmed(options.substr(0, comma));
    if (take_prefix(part, key) && take_prefix(part, "=")) {
      return part;
    }
    options.remove_prefix(comma == std::string_view::npos ? options.size() : comma + 1);
  }
  return {};
}

/// How well a tunnel port suits a packet: 0 not at all.  As in Open vSwitch, a port that names its
/// remote end or its key goes before one that takes any.
int suitability(const BridgePort& port, std::string_view remote, std::optional<std::uint64_t> key) {
  const std::string_view remote_ip = option(port.options, "remote_ip");
  std::string_view own_key = option(port.options, "in_key");
  if (own_key.empty()) {
    own_key = option(port.options, "key");
  }
  int points = 1;
  if (remote_ip == remote) {
    points += 2;
  } else if (remote_ip != "flow" && !remote_ip.empty()) {
    return 0;
  }
  if (own_key != "flow") {
    if (to_number(own_key).value_or(0) != key.value_or(0)) {
      return 0;
    }
    points += 1;
  }
  return points;
}

/// What a parser says, with the host and the command before it; there is only one code for callers.
template <class T>
Expected<T> as_answer(Expected<T> parsed, const OvsHost& host, std::string_view command) {
  if (!parsed) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: {}: {}", host.name, command, parsed.error().detail));
  }
  return parsed;
}

tl::unexpected<Error> unavailable(const OvsHost& host, std::string_view what) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", host.name, what));
}

PortPlace place(const BridgeShow& bridge, const BridgePort& port) {
  return {bridge.name, port.name, port.openflow_number};
}

}  // namespace

const OvsPort* HostTools::configured_port(std::string_view endpoint) const {
  const auto found = std::find_if(host_.ports.begin(), host_.ports.end(), [&](const OvsPort& port) {
    return port.endpoint == endpoint;
  });
  return found == host_.ports.end() ? nullptr : &*found;
}

Expected<std::string> HostTools::appctl(std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"ovs-appctl"};
  if (!host_.control_socket.empty()) {
    argv.insert(argv.end(), {"-t", host_.control_socket});
  }
  argv.insert(argv.end(),
              std::make_move_iterator(arguments.begin()),
              std::make_move_iterator(arguments.end()));
  return gate_.run(host_, argv);
}

Expected<const HostTools::Inventory*> HostTools::inventory() {
  const auto now = std::chrono::steady_clock::now();
  if (inventory_ && now - inventory_->read < config_.inventory_lifetime) {
    return &*inventory_;
  }
  inventory_.reset();
  const auto bridges_text = appctl({"dpif/show"});
  if (!bridges_text) {
    return tl::unexpected(bridges_text.error());
  }
  auto datapaths = as_answer(parse_dpif_show(*bridges_text), host_, "dpif/show");
  if (!datapaths) {
    return tl::unexpected(datapaths.error());
  }
  const auto holds = [this](const DpifShow& datapath) {
    return std::any_of(
        datapath.bridges.begin(), datapath.bridges.end(), [this](const auto& bridge) {
          return bridge.name == host_.integration_bridge;
        });
  };
  const auto ours = std::find_if(datapaths->begin(), datapaths->end(), holds);
  if (ours == datapaths->end()) {
    return unavailable(host_, fmt::format("there is no bridge {}", host_.integration_bridge));
  }
  const auto ports_text = appctl({"dpctl/show", ours->datapath});
  if (!ports_text) {
    return tl::unexpected(ports_text.error());
  }
  auto ports = as_answer(parse_datapath_show(*ports_text), host_, "dpctl/show");
  if (!ports) {
    return tl::unexpected(ports.error());
  }
  inventory_.emplace();
  inventory_->names.add(*ours);
  inventory_->bridges = std::move(*ours);
  if (!ports->empty()) {
    inventory_->names.add(ports->front());
    inventory_->ports = std::move(ports->front().ports);
  }
  inventory_->read = now;
  return &*inventory_;
}

Expected<std::string> HostTools::interface_with_mac(const std::string& mac) {
  std::vector<std::string> argv = {"ovs-vsctl"};
  if (!host_.database.empty()) {
    argv.push_back("--db=" + host_.database);
  }
  argv.insert(argv.end(),
              {"--no-wait",
               "--bare",
               "--columns=name",
               "find",
               "Interface",
               fmt::format("external_ids:attached-mac=\"{}\"", mac)});
  const auto text = gate_.run(host_, argv);
  if (!text) {
    return tl::unexpected(text.error());
  }
  // One interface a line; of several with one address the first is as good as any.
  const std::string_view first_line = std::string_view(*text).substr(0, text->find('\n'));
  const std::string_view name = trimmed(first_line);
  if (name.empty()) {
    return unavailable(host_, fmt::format("no interface has the attached-mac {}", mac));
  }
  return std::string(name);
}

Expected<PortPlace> HostTools::port_of(std::string_view endpoint) {
  const OvsPort* configured = configured_port(endpoint);
  if (configured == nullptr) {
    return unavailable(host_, fmt::format("no port is configured for {}", endpoint));
  }
  std::string name = configured->interface;
  if (name.empty() && configured->openflow_port == 0 && !configured->mac.empty()) {
    const auto found = interface_with_mac(configured->mac);
    if (!found) {
      return tl::unexpected(found.error());
    }
    name = *found;
  }
  const auto known = inventory();
  if (!known) {
    return tl::unexpected(known.error());
  }
  for (const BridgeShow& bridge : (*known)->bridges.bridges) {
    for (const BridgePort& port : bridge.ports) {
      if (name.empty() ? bridge.name == host_.integration_bridge &&
                             port.openflow_number == configured->openflow_port
                       : port.name == name) {
        return place(bridge, port);
      }
    }
  }
  return unavailable(host_,
                     name.empty() ? fmt::format("no port of {} has the number {}",
                                                host_.integration_bridge,
                                                configured->openflow_port)
                                  : fmt::format("no bridge has the port {}", name));
}

Expected<TunnelPlace> HostTools::tunnel_from(std::string_view remote,
                                             std::optional<std::uint64_t> key) {
  const auto known = inventory();
  if (!known) {
    return tl::unexpected(known.error());
  }
  const BridgePort* best = nullptr;
  int most = 0;
  TunnelPlace tunnel;
  for (const BridgeShow& bridge : (*known)->bridges.bridges) {
    for (const BridgePort& port : bridge.ports) {
      const int points = is_tunnel(port) ? suitability(port, remote, key) : 0;
      if (points > most) {
        most = points;
        best = &port;
        tunnel.port = place(bridge, port);
      }
    }
  }
  if (best == nullptr) {
    return unavailable(host_, fmt::format("no tunnel port takes packets from {}", remote));
  }
  const std::string_view in_key = option(best->options, "in_key");
  tunnel.key_visible = (in_key.empty() ? option(best->options, "key") : in_key) == "flow";
  for (const DatapathPort& port : (*known)->ports) {
    if (best->datapath_number && port.number == *best->datapath_number) {
      tunnel.datapath_name = port.name;
    }
  }
  return tunnel;
}

Expected<OpenflowTrace> HostTools::trace(const std::string& bridge, const std::string& flow) {
  const auto text = appctl({"ofproto/trace", "--names", bridge, flow});
  if (!text) {
    return tl::unexpected(text.error());
  }
  return as_answer(parse_openflow_trace(*text), host_, "ofproto/trace");
}

Expected<std::vector<DatapathFlow>> HostTools::datapath_flows() {
  const auto known = inventory();
  if (!known) {
    return tl::unexpected(known.error());
  }
  const auto text = appctl({"dpctl/dump-flows", "-m", "--names", (*known)->bridges.datapath});
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto flows = as_answer(parse_datapath_flows(*text), host_, "dpctl/dump-flows");
  if (flows) {
    remember_ethernet(*flows);
  }
  return flows;
}

Expected<std::vector<OpenflowFlow>> HostTools::openflow_flows(const std::string& bridge) {
  const bool by_socket = bridge == host_.integration_bridge && !host_.management_socket.empty();
  const std::array<std::string, 6> argv = {
      "ovs-ofctl",
      "--names",
      "-O",
      "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15",
      "dump-flows",
      by_socket ? host_.management_socket : bridge};
  const auto text = gate_.run(host_, argv);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return as_answer(parse_openflow_flows(*text), host_, "ovs-ofctl dump-flows");
}

Expected<const PortNames*> HostTools::port_names() {
  const auto known = inventory();
  if (!known) {
    return tl::unexpected(known.error());
  }
  return &(*known)->names;
}

void HostTools::remember_ethernet(const std::vector<DatapathFlow>& flows) {
  ethernet_read_ = std::chrono::steady_clock::now();
  if (ethernet_.size() > kConversationsMax) {
    ethernet_.clear();
  }
  for (const DatapathFlow& flow : flows) {
    const bool ipv6 = find_field(flow.match, "ipv6.src") != nullptr;
    const MatchField* ip_source = find_field(flow.match, ipv6 ? "ipv6.src" : "ipv4.src");
    const MatchField* ip_target = find_field(flow.match, ipv6 ? "ipv6.dst" : "ipv4.dst");
    const MatchField* eth_source = find_field(flow.match, "eth.src");
    const MatchField* eth_target = find_field(flow.match, "eth.dst");
    // A tc filter prints zeros under a wildcard, the datapath the values of its first packet.
    const auto known = [](const MatchField* field) {
      return field != nullptr && field->value != "00:00:00:00:00:00";
    };
    if (ip_source != nullptr && ip_target != nullptr && known(eth_source) && known(eth_target)) {
      ethernet_[{ip_source->value, ip_target->value}] = {eth_source->value, eth_target->value};
    }
  }
}

bool HostTools::apply_ethernet(InnerPacket& packet) const {
  const auto found = ethernet_.find({packet.ip_source, packet.ip_target});
  if (found == ethernet_.end()) {
    return false;
  }
  if (packet.eth_source.empty()) {
    packet.eth_source = found->second.first;
  }
  if (packet.eth_target.empty()) {
    packet.eth_target = found->second.second;
  }
  return true;
}

void HostTools::fill_ethernet(InnerPacket& packet) {
  if (!packet.eth_source.empty() && !packet.eth_target.empty()) {
    return;
  }
  const auto age = [this] { return std::chrono::steady_clock::now() - *ethernet_read_; };
  // What is remembered may belong to a container that is gone.
  if (ethernet_read_ && age() < config_.inventory_lifetime && apply_ethernet(packet)) {
    return;
  }
  // Pairs without traffic must not cost a dump each.
  if (!ethernet_read_ || age() >= config_.answer_lifetime) {
    static_cast<void>(datapath_flows());
  }
  apply_ethernet(packet);
}

Expected<std::vector<TcFilter>> HostTools::tc_filters(const std::string& device) {
  const std::array<std::string, 8> argv = {
      "tc", "-s", "-j", "filter", "show", "dev", device, "ingress"};
  const auto text = gate_.run(host_, argv);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return as_answer(parse_tc_filters(*text), host_, "tc filter show");
}

}  // namespace bonescan::backend_ovs
