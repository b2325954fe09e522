#include "detectors/backend_ovs/walk_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

/// Where the packet is about to be looked at.
struct Position {
  HostTools* host = nullptr;
  std::string bridge;
  std::uint32_t in_port = 0;
  std::optional<TunnelExit> tunnel;  ///< through which it came
};

std::string bridge_name(const HostTools& host, std::string_view bridge) {
  return fmt::format("{}/{}", host.host().name, bridge);
}

std::string rule_name(const HostTools& host, const TraceHop& hop) {
  return fmt::format("{} table={} priority={}{}{}",
                     bridge_name(host, hop.bridge),
                     hop.table,
                     hop.priority,
                     hop.match.empty() ? "" : ",",
                     hop.match);
}

void append_hops(const HostTools& host, const OpenflowTrace& trace, std::vector<ChainHop>& hops) {
  for (const TracePass& pass : trace.passes) {
    for (const TraceHop& hop : pass.hops) {
      hops.push_back({bridge_name(host, hop.bridge),
                      hop.miss ? "table miss" : fmt::format("table={} {}", hop.table, hop.rule),
                      fmt::format("{}", fmt::join(hop.actions, ","))});
    }
  }
}

/// "br-phy" in "neighbor cache miss for 10.60.8.12 on bridge br-phy, sending ARP request".
std::string bridge_in(std::string_view line) {
  constexpr std::string_view kMark = "on bridge ";
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) {
    return {};
  }
  line.remove_prefix(at + kMark.size());
  return std::string(line.substr(0, line.find_first_of(", ")));
}

/// May an Ethernet address have decided?  Not only where a rule names one: a rule that did not
/// match counts as well, and all of them are in the megaflow.
bool looks_at_ethernet(const OpenflowTrace& trace) {
  return std::any_of(trace.passes.begin(), trace.passes.end(), [](const TracePass& pass) {
    return pass.megaflow.find("dl_src=") != std::string::npos ||
           pass.megaflow.find("dl_dst=") != std::string::npos;
  });
}

class Walk final {
 public:
  Walk(const ChainQuestion& question, HostSet& hosts)
      : question_(question), hosts_(hosts), packet_(packet_of(question)) {}

  Expected<ChainAnswer> run() {
    HostTools* first = hosts_.named(question_.source.host);
    if (first == nullptr) {
      return no_view_of(question_.source.host);
    }
    const auto port = first->port_of(question_.source.endpoint);
    if (!port) {
      return tl::unexpected(port.error());
    }
    first->fill_ethernet(packet_);
    Position position{first, port->bridge, port->openflow_number, std::nullopt};
    for (std::size_t i = 0; i < kHostsMax; ++i) {
      auto trace = position.host->trace(
          position.bridge,
          flow_text(packet_, position.in_port, position.tunnel ? &*position.tunnel : nullptr));
      if (!trace) {
        if (answer_.hops.empty()) {
          return tl::unexpected(trace.error());
        }
        out_of_view(trace.error().detail);
        return std::move(answer_);
      }
      append_hops(*position.host, *trace, answer_.hops);
      looked_at_ethernet_ = looked_at_ethernet_ || looks_at_ethernet(*trace);
      if (trace->end != TraceEnd::kForwarded) {
        broken(*position.host, *trace);
        return finished();
      }
      auto next = leave(position, *trace);
      if (!next) {
        return finished();
      }
      position = std::move(*next);
    }
    end_at_rule(WalkEnd::kLoop, fmt::format("still under way after {} hosts", kHostsMax));
    return finished();
  }

 private:
  /// A break proves nothing if rules decided by an address that the traced packet did not have.
  Expected<ChainAnswer> finished() {
    const bool unknown = packet_.eth_source.empty() || packet_.eth_target.empty();
    const bool broken = answer_.end != WalkEnd::kDelivered && answer_.end != WalkEnd::kOutOfView &&
                        answer_.end != WalkEnd::kMissingNeighbour;
    if (broken && unknown && looked_at_ethernet_) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("rules look at Ethernet addresses, and those between {} and {} are "
                              "not known ({})",
                              question_.source.endpoint,
                              question_.target.endpoint,
                              answer_.reason));
    }
    return std::move(answer_);
  }

  void out_of_view(std::string reason) {
    answer_.end = WalkEnd::kOutOfView;
    answer_.reason = std::move(reason);
  }

  void end_at_rule(WalkEnd end, std::string reason) {
    answer_.end = end;
    answer_.culprit = last_rule_;
    answer_.reason = std::move(reason);
  }

  void broken(const HostTools& host, const OpenflowTrace& trace) {
    const TraceHop* hop = trace.last_hop();
    const Component bridge{ComponentType::kBridge,
                           bridge_name(host, hop == nullptr ? "" : hop->bridge)};
    const Component rule = hop == nullptr || hop->miss
                               ? bridge
                               : Component{ComponentType::kRule, rule_name(host, *hop)};
    answer_.reason = trace.cause;
    switch (trace.end) {
      case TraceEnd::kForwarded:
        break;
      case TraceEnd::kDropped:
        answer_.end = WalkEnd::kNoNextHop;
        answer_.culprit = rule;
        break;
      case TraceEnd::kLoop:
        answer_.end = WalkEnd::kLoop;
        answer_.culprit = rule;
        break;
      case TraceEnd::kTunnelRouteFailed:
        answer_.end = WalkEnd::kNoNextHop;
        answer_.culprit = bridge;
        break;
      case TraceEnd::kNeighbourMissing: {
        const std::string named = bridge_in(trace.cause);
        answer_.end = WalkEnd::kMissingNeighbour;
        answer_.culprit =
            named.empty() ? bridge : Component{ComponentType::kBridge, bridge_name(host, named)};
        break;
      }
    }
  }

  /// Where the packet goes on; nullopt if the walk ends here, and then the answer says how.
  std::optional<Position> leave(const Position& position, const OpenflowTrace& trace) {
    DatapathExit exit;
    for (const TracePass& pass : trace.passes) {
      DatapathExit more = read_datapath_exit(pass.datapath_actions);
      exit.ports.insert(exit.ports.end(), more.ports.begin(), more.ports.end());
      exit.tunnels.insert(exit.tunnels.end(), more.tunnels.begin(), more.tunnels.end());
      packet_ = rewritten(packet_, more.edits);
    }
    if (const TraceHop* hop = trace.last_hop(); hop != nullptr) {
      last_rule_ = hop->miss
                       ? Component{ComponentType::kBridge, bridge_name(*position.host, hop->bridge)}
                       : Component{ComponentType::kRule, rule_name(*position.host, *hop)};
    }
    const bool at_target = position.host->host().name == question_.target.host;
    if (at_target) {
      const auto port = position.host->port_of(question_.target.endpoint);
      if (!port) {
        out_of_view(port.error().detail);
        return std::nullopt;
      }
      if (std::find(exit.ports.begin(), exit.ports.end(), port->name) != exit.ports.end()) {
        answer_.end = WalkEnd::kDelivered;
        return std::nullopt;
      }
    }
    if (!exit.tunnels.empty()) {
      return through_tunnel(exit.tunnels);
    }
    const std::string& actions = trace.passes.back().datapath_actions;
    if (exit.ports.empty()) {
      end_at_rule(WalkEnd::kNoNextHop, fmt::format("no port in the actions: {}", actions));
    } else if (at_target) {
      end_at_rule(WalkEnd::kNotLocal,
                  fmt::format("it goes to {}, which is not the port of {}",
                              fmt::join(exit.ports, ","),
                              question_.target.endpoint));
    } else {
      out_of_view(fmt::format("{}: it leaves through {}, without a tunnel",
                              position.host->host().name,
                              fmt::join(exit.ports, ",")));
    }
    return std::nullopt;
  }

  std::optional<Position> through_tunnel(const std::vector<TunnelExit>& tunnels) {
    // A flooded packet takes several; the one to the target's host matters.
    const HostTools* const home = hosts_.named(question_.target.host);
    const auto leads_home = [&](const TunnelExit& tunnel) {
      return tunnel.target == question_.target.vtep ||
             (home != nullptr && tunnel.target == home->host().vtep_address);
    };
    const auto wanted = std::find_if(tunnels.begin(), tunnels.end(), leads_home);
    const TunnelExit& tunnel = wanted == tunnels.end() ? tunnels.front() : *wanted;
    HostTools* next = hosts_.with_vtep(tunnel.target);
    if (next == nullptr && wanted != tunnels.end()) {
      next = hosts_.named(question_.target.host);
    }
    if (next == nullptr) {
      if (wanted == tunnels.end() && !question_.target.vtep.empty()) {
        end_at_rule(WalkEnd::kNotLocal,
                    fmt::format("the tunnel leads to {}, the target is behind {}",
                                tunnel.target,
                                question_.target.vtep));
      } else {
        out_of_view(fmt::format("the tunnel leads to {}, a host that cannot be inspected from here",
                                tunnel.target));
      }
      return std::nullopt;
    }
    return enter(*next, tunnel);
  }

  std::optional<Position> enter(HostTools& host, const TunnelExit& tunnel) {
    const auto place = host.tunnel_from(tunnel.source, tunnel.key);
    if (!place) {
      out_of_view(place.error().detail);
      return std::nullopt;
    }
    Position next{&host, place->port.bridge, place->port.openflow_number, tunnel};
    if (!place->key_visible) {
      next.tunnel->key.reset();
    }
    const std::string seen = fmt::format(
        "{}/{}/{}/{}", host.host().name, next.bridge, next.in_port, tunnel.key.value_or(0));
    if (!entered_.insert(seen).second) {
      end_at_rule(
          WalkEnd::kLoop,
          fmt::format(
              "it comes back to {} through {}", bridge_name(host, next.bridge), place->port.name));
      return std::nullopt;
    }
    return next;
  }

  const ChainQuestion& question_;
  HostSet& hosts_;
  InnerPacket packet_;
  ChainAnswer answer_;
  std::optional<Component> last_rule_;
  std::set<std::string> entered_;
  bool looked_at_ethernet_ = false;
};

}  // namespace

HostSet::HostSet(const OvsConfig& config, CommandGate& gate) {
  hosts_.reserve(config.hosts.size());
  for (const OvsHost& host : config.hosts) {
    hosts_.push_back(std::make_unique<HostTools>(host, config, gate));
  }
}

HostTools* HostSet::named(std::string_view host) {
  const auto found = std::find_if(
      hosts_.begin(), hosts_.end(), [&](const auto& tools) { return tools->host().name == host; });
  return found == hosts_.end() ? nullptr : found->get();
}

HostTools* HostSet::with_vtep(std::string_view address) {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(), [&](const auto& tools) {
    return !address.empty() && tools->host().vtep_address == address;
  });
  return found == hosts_.end() ? nullptr : found->get();
}

InnerPacket packet_of(const ChainQuestion& question) {
  return {question.source.mac,
          question.target.mac,
          question.source.ip,
          question.target.ip,
          question.source_port};
}

Expected<ChainAnswer> walk_chain(const ChainQuestion& question, HostSet& hosts) {
  return Walk(question, hosts).run();
}

}  // namespace bonescan::backend_ovs
