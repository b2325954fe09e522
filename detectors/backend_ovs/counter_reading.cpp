#include "detectors/backend_ovs/counter_reading.h"

#include "detectors/backend_ovs/datapath_exit.h"
#include "detectors/backend_ovs/parse/match_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace bonescan::backend_ovs {
namespace {

bool is_exact(const MatchField& field) {
  return field.mask.empty() || field.mask == "255.255.255.255" ||
         field.mask == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" ||
         field.mask == "ff:ff:ff:ff:ff:ff";
}

/// The value that every packet of the entry has in this field; empty if they may differ.
std::string_view exact(const DatapathFlow& entry, std::string_view key) {
  const MatchField* field = find_field(entry.match, key);
  return field != nullptr && is_exact(*field) ? std::string_view(field->value) : std::string_view();
}

/// ARP and other packets that no endpoint's RDMA is made of.
bool is_other_protocol(const DatapathFlow& entry) {
  const std::string_view type = exact(entry, "eth_type");
  return !type.empty() && type != "0x0800" && type != "0x86dd";
}

/// Is the lowest bit of the first byte set: broadcast or multicast?
bool is_group(std::string_view mac) {
  return mac.size() > 1 && std::string_view("13579bdfBDF").find(mac[1]) != std::string_view::npos;
}

using Matches = std::vector<std::size_t>;

template <class Key>
Matches all_with(std::span<const CountedPeer> peers, std::string_view value, Key key) {
  Matches found;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (key(peers[i].end) == value) {
      found.push_back(i);
    }
  }
  return found;
}

/// Indices of the peers that the entry's packets may be for; nullopt if it may be anybody.
std::optional<Matches> targets_of(const DatapathFlow& entry, std::span<const CountedPeer> peers) {
  for (const std::string_view key : {"ipv4.dst", "ipv6.dst"}) {
    if (const std::string_view ip = exact(entry, key); !ip.empty()) {
      return all_with(peers, ip, [](const ChainEnd& end) { return std::string_view(end.ip); });
    }
  }
  if (const std::string_view mac = exact(entry, "eth.dst"); !mac.empty()) {
    const auto of_end = [](const ChainEnd& end) { return std::string_view(end.mac); };
    Matches found = all_with(peers, mac, of_end);
    if (!found.empty() || is_group(mac) || all_with(peers, {}, of_end).empty()) {
      return found;
    }
  }
  const DatapathExit exit = read_datapath_exit(entry.actions);
  if (exit.tunnels.empty() || exit.ports.size() > exit.tunnels.size()) {
    return std::nullopt;
  }
  Matches found;
  for (const TunnelExit& tunnel : exit.tunnels) {
    const Matches behind = all_with(
        peers, tunnel.target, [](const ChainEnd& end) { return std::string_view(end.vtep); });
    found.insert(found.end(), behind.begin(), behind.end());
  }
  return found;
}

bool recirculates(const DatapathFlow& entry) {
  return entry.actions.find("recirc(") != std::string::npos;
}

bool is_first_pass(const DatapathFlow& entry) {
  const MatchField* pass = find_field(entry.match, "recirc_id");
  return pass == nullptr || pass->value == "0";
}

}  // namespace

Expected<std::vector<FlowCounter>> count_by_peer(std::span<const DatapathFlow> entries,
                                                 std::string_view port,
                                                 const PortNames& ports,
                                                 std::span<const CountedPeer> peers) {
  struct Count {
    bool present = false;
    std::array<std::uint64_t, 2> bytes{};  ///< of later passes, of first passes
  };

  std::vector<Count> counts(peers.size());
  for (const DatapathFlow& entry : entries) {
    if (is_other_protocol(entry) || ports.of_datapath(entry.in_port) != port) {
      continue;
    }
    const std::optional<Matches> targets = targets_of(entry, peers);
    if (!targets) {
      if (recirculates(entry) || entry.packets == 0) {
        continue;  // Its packets are counted by a later pass, or there were none yet.
      }
      return fail(ErrorCode::kUnavailable,
                  fmt::format("an entry of port {} takes packets to anybody", port));
    }
    for (const std::size_t target : *targets) {
      counts[target].present = true;
      counts[target].bytes[is_first_pass(entry) ? 1 : 0] += entry.bytes;
    }
  }
  std::vector<FlowCounter> flows;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (counts[i].present) {
      flows.push_back({peers[i].id, std::max(counts[i].bytes[0], counts[i].bytes[1]), {}});
    }
  }
  return flows;
}

void CounterBook::tell_ages(const CounterQuestion& question, std::vector<FlowCounter>& flows) {
  std::map<EndpointId, Seen>& before = seen_[question.endpoint];
  std::map<EndpointId, Seen> now;
  for (FlowCounter& flow : flows) {
    const auto last = before.find(flow.peer);
    const bool same = last != before.end() && flow.bytes >= last->second.bytes;
    const Time since = same ? last->second.since : question.asked;
    now[flow.peer] = {since, flow.bytes};
    flow.age = question.asked - since;
  }
  before = std::move(now);
}

Expected<std::vector<FlowCounter>> CounterBook::read(const CounterQuestion& question,
                                                     HostSet& hosts) {
  HostTools* here = hosts.named(question.host);
  if (here == nullptr) {
    return no_view_of(question.host);
  }
  const auto port = here->port_of(question.endpoint);
  const auto names = here->port_names();
  if (!port || !names) {
    return tl::unexpected(!port ? port.error() : names.error());
  }
  const PortNames ports = **names;
  const auto entries = here->datapath_flows();
  if (!entries) {
    return tl::unexpected(entries.error());
  }
  auto flows = count_by_peer(*entries, port->name, ports, question.peers);
  if (flows) {
    tell_ages(question, *flows);
  }
  return flows;
}

}  // namespace bonescan::backend_ovs
