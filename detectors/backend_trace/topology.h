// The cables of a network as its operator wrote them down: who is plugged into whom.
//
// Nodes are the endpoints of the run and the switches between them.  A switch routes (a packet's
// TTL falls there, so it can be made to answer) or only bridges.  Endpoints do not forward.
// Invariants: 1. ends of a cable are different nodes; 2. an address belongs to one switch.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/strong_id.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

struct SwitchSpec {
  std::string name;
  bool routes = true;
  std::vector<std::string> addresses;  ///< from which it may answer; IPv4 or IPv6
};

struct CableSpec {
  std::string from;  ///< lower end: an endpoint or a switch
  std::string to;    ///< upper end
  std::string name;  ///< of the link as a component; empty: "link(from, to)"
};

/// A topology as written, before names are resolved.
struct TopologyDraft {
  /// The operator states that answers take the way of their request: every switch hashes both
  /// directions of a flow alike.
  bool symmetric_hashing = false;
  /// If there are any, every switch that a cable names must be among them.
  std::vector<SwitchSpec> switches;
  std::vector<CableSpec> cables;
};

/// What is wrong with a draft, and where.
struct TopologyProblem {
  enum class Where : std::uint8_t {
    kSwitch,
    kCable
  };

  Where where = Where::kCable;
  std::size_t index = 0;
  std::string expected;
  std::string found;
  std::string hint;
};

std::optional<TopologyProblem> find_problem(const TopologyDraft& draft,
                                            const EndpointDirectory& endpoints);

/// The one spelling of an IP address that is compared; nothing if it is none.
std::optional<std::string> canonical_address(std::string_view text);

using TopologyNodeId = StrongId<struct TopologyNodeTag>;
using TopologyCableId = StrongId<struct TopologyCableTag>;

class Topology final {
 public:
  struct Node {
    enum class Kind : std::uint8_t {
      kEndpoint,
      kRouter,
      kBridge
    };

    std::string name;
    Kind kind = Kind::kRouter;
  };

  /// A cable seen from one of its ends.
  struct Exit {
    TopologyNodeId to;
    TopologyCableId cable;
    LinkDirection direction = LinkDirection::kUp;
  };

  /// REQUIRES: find_problem() finds nothing.
  Topology(const TopologyDraft& draft, const EndpointDirectory& endpoints);

  bool symmetric_hashing() const { return symmetric_hashing_; }

  std::size_t node_count() const { return nodes_.size(); }

  const Node& node(TopologyNodeId id) const { return nodes_[id]; }

  std::span<const Exit> exits(TopologyNodeId id) const { return exits_[id]; }

  /// Names of the links as components.
  const IdVector<TopologyCableId, std::string>& cable_names() const { return cable_names_; }

  /// Invalid if no cable names the endpoint.
  TopologyNodeId node_of(EndpointId endpoint) const { return endpoint_nodes_[endpoint]; }

  /// The switch that answers from there; invalid if none does.
  /// REQUIRES: a canonical address.
  TopologyNodeId node_at(std::string_view address) const;

 private:
  TopologyNodeId intern(const std::string& name, Node::Kind kind);

  bool symmetric_hashing_;
  IdVector<TopologyNodeId, Node> nodes_;
  IdVector<TopologyNodeId, std::vector<Exit>> exits_;
  IdVector<TopologyCableId, std::string> cable_names_;
  IdVector<EndpointId, TopologyNodeId> endpoint_nodes_;
  std::map<std::string, TopologyNodeId, std::less<>> by_name_;
  std::map<std::string, TopologyNodeId, std::less<>> by_address_;
};

}  // namespace bonescan
