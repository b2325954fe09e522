#include "detectors/backend_trace/topology.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <set>
#include <utility>

namespace bonescan {
namespace {

using Names = std::set<std::string, std::less<>>;

std::string quoted(std::string_view text) {
  return fmt::format("'{}'", text);
}

std::string cable_name(const CableSpec& cable) {
  return cable.name.empty() ? fmt::format("link({}, {})", cable.from, cable.to) : cable.name;
}

std::optional<TopologyProblem> find_switch_problem(const SwitchSpec& one,
                                                   std::size_t index,
                                                   const Names& endpoints,
                                                   Names& names,
                                                   Names& addresses) {
  constexpr auto kHere = TopologyProblem::Where::kSwitch;
  if (endpoints.count(one.name) > 0) {
    return TopologyProblem{
        kHere, index, "a switch", quoted(one.name) + ", an endpoint", "list only switches here"};
  }
  if (!names.insert(one.name).second) {
    return TopologyProblem{
        kHere, index, "one entry per switch", quoted(one.name) + " again", "delete one of them"};
  }
  for (const std::string& text : one.addresses) {
    const std::optional<std::string> address = canonical_address(text);
    if (!address) {
      return TopologyProblem{
          kHere, index, "IP addresses", quoted(text), "write it as 10.0.0.1 or fd00::1"};
    }
    if (!addresses.insert(*address).second) {
      return TopologyProblem{kHere,
                             index,
                             "every address once",
                             quoted(text) + " again",
                             "an answer from there could be either switch's"};
    }
  }
  return std::nullopt;
}

std::optional<TopologyProblem> find_cable_problem(const CableSpec& cable,
                                                  std::size_t index,
                                                  const Names& endpoints,
                                                  const Names& switches) {
  constexpr auto kHere = TopologyProblem::Where::kCable;
  if (cable.from == cable.to) {
    return TopologyProblem{kHere,
                           index,
                           "two ends",
                           quoted(cable.from) + " twice",
                           "a cable joins two different things"};
  }
  for (const std::string& end : {cable.from, cable.to}) {
    if (!switches.empty() && switches.count(end) == 0 && endpoints.count(end) == 0) {
      return TopologyProblem{kHere,
                             index,
                             "an endpoint or a switch of the list",
                             quoted(end),
                             "add it to switches, or correct the name"};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> canonical_address(std::string_view text) {
  const std::string terminated(text);
  std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> printed{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, terminated.c_str(), bytes.data()) == 1) {
      inet_ntop(family, bytes.data(), printed.data(), static_cast<socklen_t>(printed.size()));
      return std::string(printed.data());
    }
  }
  return std::nullopt;
}

std::optional<TopologyProblem> find_problem(const TopologyDraft& draft,
                                            const EndpointDirectory& endpoints) {
  Names endpoint_names;
  for (const Endpoint& endpoint : endpoints) {
    endpoint_names.insert(endpoint.name);
  }
  Names switches;
  Names addresses;
  for (std::size_t i = 0; i < draft.switches.size(); ++i) {
    if (auto problem =
            find_switch_problem(draft.switches[i], i, endpoint_names, switches, addresses)) {
      return problem;
    }
  }
  Names cables;
  for (std::size_t i = 0; i < draft.cables.size(); ++i) {
    if (auto problem = find_cable_problem(draft.cables[i], i, endpoint_names, switches)) {
      return problem;
    }
    if (!cables.insert(cable_name(draft.cables[i])).second) {
      return TopologyProblem{TopologyProblem::Where::kCable,
                             i,
                             "every link once",
                             quoted(cable_name(draft.cables[i])) + " again",
                             "give parallel cables names of their own"};
    }
  }
  return std::nullopt;
}

Topology::Topology(const TopologyDraft& draft, const EndpointDirectory& endpoints)
    : symmetric_hashing_(draft.symmetric_hashing), endpoint_nodes_(endpoints.size()) {
  std::map<std::string, EndpointId, std::less<>> endpoint_ids;
  for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
    endpoint_ids.emplace(endpoints[EndpointId(i)].name, EndpointId(i));
  }
  for (const SwitchSpec& one : draft.switches) {
    const TopologyNodeId node =
        intern(one.name, one.routes ? Node::Kind::kRouter : Node::Kind::kBridge);
    for (const std::string& address : one.addresses) {
      by_address_.emplace(canonical_address(address).value_or(address), node);
    }
  }
  const auto end_of = [&](const std::string& name) {
    const auto endpoint = endpoint_ids.find(name);
    if (endpoint == endpoint_ids.end()) {
      return intern(name, Node::Kind::kRouter);
    }
    const TopologyNodeId node = intern(name, Node::Kind::kEndpoint);
    endpoint_nodes_[endpoint->second] = node;
    return node;
  };
  for (const CableSpec& spec : draft.cables) {
    const TopologyNodeId from = end_of(spec.from);
    const TopologyNodeId to = end_of(spec.to);
    const TopologyCableId cable = cable_names_.push_back(cable_name(spec));
    exits_[from].push_back({to, cable, LinkDirection::kUp});
    exits_[to].push_back({from, cable, LinkDirection::kDown});
  }
}

TopologyNodeId Topology::intern(const std::string& name, Node::Kind kind) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    return found->second;
  }
  const TopologyNodeId made = nodes_.push_back({name, kind});
  exits_.push_back({});
  by_name_.emplace(name, made);
  return made;
}

TopologyNodeId Topology::node_at(std::string_view address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? TopologyNodeId() : found->second;
}

}  // namespace bonescan
