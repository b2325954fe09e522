// The things that can be blamed: links, ports, switches, RNICs, bridges and their rules.
//
// A component is a type and a name, interned to a dense id by whoever reports it (path tracer,
// overlay inspector, flow-table source).  The pipeline counts ids and prints names; it never parses
// a name.  Invariant: equal (type, name) give the same id for the whole run.
#pragma once

#include "sim/base/strong_id.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace bonescan {

using ComponentId = StrongId<struct ComponentTag>;

enum class ComponentType : std::uint8_t {
  kLink,       ///< a cable with both of its ports: "link(tor-1.3, agg-2)"
  kSwitch,     ///< "tor-1.3"
  kRnic,       ///< an RNIC with its eswitch: "host-3.11/rnic-6"
  kBridge,     ///< an Open vSwitch bridge: "host-1.02/br-int"
  kRule,       ///< a rule of a bridge: "host-1.02/br-int table=10 vni=100,dst=10.2.5.3"
  kContainer,  ///< "host-0.01/container"
  kAgent,      ///< the probing process: "host-0.01/agent"
  kHost,       ///< "host-0.01"
};

std::string_view to_string(ComponentType type);

struct Component {
  ComponentType type = ComponentType::kLink;
  std::string name;

  auto operator<=>(const Component&) const = default;
};

class ComponentTable {
 public:
  /// The id of a component, made on first sight.
  ComponentId intern(ComponentType type, std::string_view name);

  const Component& operator[](ComponentId id) const { return components_[id]; }

  std::size_t size() const { return components_.size(); }

 private:
  IdVector<ComponentId, Component> components_;
  std::map<Component, ComponentId> ids_;
};

}  // namespace bonescan
