#include "model/fabric/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace bonescan {
namespace {

/// Who is at the two ends, whichever is written first.
using Ends = std::pair<WiringEnd, WiringEnd>;

Ends ends_of(const WiringCable& cable) {
  return std::minmax(cable.lower, cable.upper);
}

std::set<std::string> nodes_with_ports(const Wiring& wiring) {
  std::set<std::string> nodes;
  for (const WiringCable& cable : wiring.cables) {
    for (const WiringEnd* end : {&cable.lower, &cable.upper}) {
      if (!end->port.empty()) {
        nodes.insert(end->node);
      }
    }
  }
  return nodes;
}

/// Port 9 before port 10.
bool comes_first(const WiringEnd& a, const WiringEnd& b) {
  if (a.node != b.node) {
    return a.node < b.node;
  }
  return a.port.size() != b.port.size() ? a.port.size() < b.port.size() : a.port < b.port;
}

/// Leaves out the ports of nodes of which the other side names none.
Wiring comparable(const Wiring& wiring, const std::set<std::string>& known) {
  Wiring result = wiring;
  for (WiringCable& cable : result.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      if (known.count(end->node) == 0) {
        end->port.clear();
      }
    }
  }
  return result;
}

std::string cable_text(const Ends& cable) {
  return fmt::format("{} and {}", end_text(cable.first), end_text(cable.second));
}

/// Cables that one side has and the other does not, by either end.
class Leftover final {
 public:
  void add(const Ends& cable) {
    ++counts_[cable];
    by_end_[cable.first].insert(cable.second);
    by_end_[cable.second].insert(cable.first);
  }

  bool has(const WiringEnd& a, const WiringEnd& b) const {
    const auto found = counts_.find(std::minmax(a, b));
    return found != counts_.end() && found->second > 0;
  }

  void take(const WiringEnd& a, const WiringEnd& b) {
    const Ends cable = std::minmax(a, b);
    if (--counts_[cable] == 0) {
      counts_.erase(cable);
      by_end_[a].erase(b);
      by_end_[b].erase(a);
    }
  }

  const std::set<WiringEnd>& peers(const WiringEnd& end) const {
    static const std::set<WiringEnd> kNone;
    const auto found = by_end_.find(end);
    return found == by_end_.end() ? kNone : found->second;
  }

  const std::map<Ends, std::uint32_t>& cables() const { return counts_; }

 private:
  std::map<Ends, std::uint32_t> counts_;
  std::map<WiringEnd, std::set<WiringEnd>> by_end_;
};

class Comparison final {
 public:
  Comparison(const Wiring& blueprint, const Wiring& found) {
    std::map<Ends, std::int64_t> surplus;
    for (const WiringCable& cable : found.cables) {
      ++surplus[ends_of(cable)];
    }
    for (const WiringCable& cable : blueprint.cables) {
      --surplus[ends_of(cable)];
    }
    for (const auto& [cable, count] : surplus) {
      for (std::int64_t i = 0; i < std::abs(count); ++i) {
        (count > 0 ? extra_ : missing_).add(cable);
      }
    }
  }

  std::vector<WiringFinding> findings() {
    find_swaps();
    find_misplaced();
    for (const auto& [cable, count] : missing_.cables()) {
      for (std::uint32_t i = 0; i < count; ++i) {
        add(WiringFault::kMissing,
            fmt::format("no cable between {}", cable_text(cable)),
            {cable.first, cable.second});
      }
    }
    for (const auto& [cable, count] : extra_.cables()) {
      for (std::uint32_t i = 0; i < count; ++i) {
        add(WiringFault::kExtra,
            fmt::format("a cable between {}, which the blueprint does not have", cable_text(cable)),
            {cable.first, cable.second});
      }
    }
    return std::move(findings_);
  }

 private:
  /// Planned a-x and b-y, found a-y and b-x.
  struct Swap {
    WiringEnd a, b, x, y;
  };

  std::optional<Swap> swap_of(const Ends& found) const {
    for (const auto& [a, y] : {found, Ends{found.second, found.first}}) {
      for (const WiringEnd& x : missing_.peers(a)) {
        for (const WiringEnd& b : missing_.peers(y)) {
          if (b != a && x != y && extra_.has(b, x)) {
            return Swap{a, b, x, y};
          }
        }
      }
    }
    return std::nullopt;
  }

  void find_swaps() {
    std::vector<Ends> candidates;
    for (const auto& [cable, count] : extra_.cables()) {
      candidates.insert(candidates.end(), count, cable);
    }
    for (const Ends& cable : candidates) {
      if (!extra_.has(cable.first, cable.second)) {
        continue;
      }
      if (const auto swap = swap_of(cable)) {
        missing_.take(swap->a, swap->x);
        missing_.take(swap->b, swap->y);
        extra_.take(swap->a, swap->y);
        extra_.take(swap->b, swap->x);
        report(*swap);
      }
    }
  }

  void report(const Swap& swap) {
    Swap s = swap;
    // Whoever swapped them stood at the node that both ends share.
    if (s.a.node == s.b.node && s.x.node != s.y.node) {
      std::swap(s.a, s.x);
      std::swap(s.b, s.y);
    }
    if (s.x.node != s.y.node || s.x.port.empty() || s.y.port.empty()) {
      if (comes_first(s.y, s.x)) {
        std::swap(s.x, s.y);
        std::swap(s.a, s.b);
      }
      add(WiringFault::kSwapped,
          fmt::format("the cables of {} and {} are crossed: {} goes to {}, and {} to {}",
                      end_text(s.x),
                      end_text(s.y),
                      end_text(s.x),
                      end_text(s.b),
                      end_text(s.y),
                      end_text(s.a)),
          {s.x, s.y});
      return;
    }
    if (comes_first(s.y, s.x)) {
      std::swap(s.x, s.y);
      std::swap(s.a, s.b);
    }
    const std::string second = end_text(s.y).substr(s.y.node.size() + 1);
    add(WiringFault::kSwapped,
        fmt::format("{} and {} are swapped: {} should be in the first and {} in the second",
                    end_text(s.x),
                    second,
                    end_text(s.a),
                    end_text(s.b)),
        {s.x, s.y});
  }

  /// A found cable whose one end is planned with another peer.
  void find_misplaced() {
    std::vector<Ends> candidates;
    for (const auto& [cable, count] : extra_.cables()) {
      candidates.insert(candidates.end(), count, cable);
    }
    for (const Ends& cable : candidates) {
      for (const auto& [end, wrong] : {cable, Ends{cable.second, cable.first}}) {
        if (end.port.empty() || missing_.peers(end).empty()) {
          continue;
        }
        const WiringEnd right = *missing_.peers(end).begin();
        missing_.take(end, right);
        extra_.take(cable.first, cable.second);
        add(WiringFault::kMisplaced,
            fmt::format("{} is cabled to {} instead of {}",
                        end_text(end),
                        end_text(wrong),
                        end_text(right)),
            {end, wrong, right});
        break;
      }
    }
  }

  void add(WiringFault fault, std::string text, const std::vector<WiringEnd>& ends) {
    WiringFinding finding{fault, std::move(text), {}};
    for (const WiringEnd& end : ends) {
      finding.ends.push_back(end_text(end));
    }
    findings_.push_back(std::move(finding));
  }

  Leftover missing_;
  Leftover extra_;
  std::vector<WiringFinding> findings_;
};

/// Cables of both sides whose rates are known and differ.
void compare_rates(const Wiring& blueprint,
                   const Wiring& found,
                   std::vector<WiringFinding>& findings) {
  std::map<Ends, BitsPerSecond> planned;
  for (const WiringCable& cable : blueprint.cables) {
    planned[ends_of(cable)] = cable.rate;
  }
  std::map<Ends, BitsPerSecond> wrong;
  for (const WiringCable& cable : found.cables) {
    const auto plan = planned.find(ends_of(cable));
    if (plan != planned.end() && plan->second.count() > 0 && cable.rate.count() > 0 &&
        plan->second != cable.rate) {
      wrong.emplace(ends_of(cable), cable.rate);
    }
  }
  for (const auto& [cable, rate] : wrong) {
    findings.push_back({WiringFault::kRate,
                        fmt::format("the cable between {} runs at {} Gb/s instead of {}",
                                    cable_text(cable),
                                    rate.count() / 1'000'000'000,
                                    planned[cable].count() / 1'000'000'000),
                        {end_text(cable.first), end_text(cable.second)}});
  }
}

}  // namespace

std::string_view to_string(WiringFault fault) {
  switch (fault) {
    case WiringFault::kSwapped:
      return "swapped";
    case WiringFault::kMisplaced:
      return "misplaced";
    case WiringFault::kMissing:
      return "missing";
    case WiringFault::kExtra:
      return "extra";
    case WiringFault::kRate:
      return "rate";
    case WiringFault::kHost:
      return "host";
  }
  return "";
}

std::string end_text(const WiringEnd& end) {
  if (end.port.empty()) {
    return end.node;
  }
  const bool is_number = end.port.find_first_not_of("0123456789") == std::string::npos;
  return fmt::format("{} {}{}", end.node, is_number ? "port " : "", end.port);
}

std::vector<WiringFinding> check_wiring(const Wiring& blueprint, const Wiring& found) {
  const Wiring planned = comparable(blueprint, nodes_with_ports(found));
  const Wiring seen = comparable(found, nodes_with_ports(blueprint));
  std::vector<WiringFinding> findings = Comparison(planned, seen).findings();
  std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    return a.fault < b.fault;
  });
  compare_rates(planned, seen, findings);
  return findings;
}

namespace {

/// "host-0.03" and "rnic-3", with its port if there are several.
WiringEnd rnic_end(const Fabric& fabric, CableId access) {
  const RnicId rnic = fabric.rnic_end(access);
  std::string port = fmt::format("rnic-{}", fabric.rail_of(rnic));
  if (fabric.ports() > 1) {
    port += fmt::format("/port-{}", fabric.port_of(access));
  }
  return {fabric.host_name(fabric.host_of(rnic)), std::move(port)};
}

/// Cables of a graph know no ports of switches.
Wiring graph_wiring(const Fabric& fabric) {
  Wiring wiring;
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    const CableId cable(c);
    WiringEnd lower;
    if (fabric.is_access(cable)) {
      lower = rnic_end(fabric, cable);
    } else {
      lower.node = fabric.switch_name(fabric.lower_switch(cable));
    }
    wiring.cables.push_back({std::move(lower),
                             {fabric.switch_name(fabric.upper_switch(cable)), {}},
                             fabric.rate(cable)});
  }
  return wiring;
}

}  // namespace

Wiring wiring_of(const Fabric& fabric) {
  if (fabric.is_graph()) {
    return graph_wiring(fabric);
  }
  const FabricOptions& options = fabric.options();
  const std::uint32_t members = fabric.ports() / fabric.planes();
  const std::uint32_t first_uplink =
      1 + fabric.hosts_in_segment() * members + options.spare_tor_ports;
  // CORRECTNESS: cables come in the order of ToRs, then of aggregation switches, so every switch
  // above meets its cables in the order of its ports.
  std::vector<std::uint32_t> next_port(fabric.switch_count(), 1);
  Wiring wiring;
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    const CableId cable(c);
    const SwitchId upper = fabric.upper_switch(cable);
    WiringCable found{{}, {fabric.switch_name(upper), {}}, fabric.rate(cable)};
    switch (fabric.tier_of(cable)) {
      case CableTier::kAccess: {
        const RnicId rnic = fabric.rnic_end(cable);
        const std::uint32_t port = fabric.port_of(cable);
        const std::uint32_t index = fabric.index_in_segment(fabric.host_of(rnic));
        found.lower = rnic_end(fabric, cable);
        found.upper.port = std::to_string(1 + index * members + port % members);
        break;
      }
      case CableTier::kFabric:
        found.lower = {fabric.switch_name(fabric.tor_end(cable)),
                       std::to_string(first_uplink + fabric.aggregation_end(cable))};
        found.upper.port = std::to_string(next_port[upper.index()]++);
        break;
      case CableTier::kCore: {
        const SwitchId lower = fabric.lower_switch(cable);
        found.lower = {fabric.switch_name(lower), std::to_string(next_port[lower.index()]++)};
        found.upper.port = std::to_string(next_port[upper.index()]++);
        break;
      }
    }
    wiring.cables.push_back(std::move(found));
  }
  return wiring;
}

}  // namespace bonescan
