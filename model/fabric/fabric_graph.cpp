#include "model/fabric/fabric_graph.h"

#include "model/fabric/graph_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kMostRails = 16;
constexpr std::uint32_t kMostPorts = 4;
constexpr std::uint32_t kMostSwitches = 8'192;

tl::unexpected<Error> no_fabric(std::string detail) {
  return fail(ErrorCode::kInvalid, std::move(detail));
}

struct RnicPort {
  std::uint32_t rail = 0;
  std::uint32_t port = 0;
};

std::optional<std::uint32_t> take_number(std::string_view& text, std::uint32_t limit) {
  std::uint32_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || value >= limit) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

/// "rnic-3" or "rnic-3/port-1".
std::optional<RnicPort> rnic_port(std::string_view text) {
  constexpr std::string_view kRnic = "rnic-";
  constexpr std::string_view kPort = "/port-";
  if (!text.starts_with(kRnic)) {
    return std::nullopt;
  }
  text.remove_prefix(kRnic.size());
  const auto rail = take_number(text, kMostRails);
  if (!rail) {
    return std::nullopt;
  }
  if (text.empty()) {
    return RnicPort{*rail, 0};
  }
  if (!text.starts_with(kPort)) {
    return std::nullopt;
  }
  text.remove_prefix(kPort.size());
  const auto port = take_number(text, kMostPorts);
  return port && text.empty() ? std::optional(RnicPort{*rail, *port}) : std::nullopt;
}

class GraphBuilder final {
 public:
  explicit GraphBuilder(const Wiring& wiring) : wiring_(wiring) {}

  Expected<FabricOptions> build() {
    for (const auto& step : {&GraphBuilder::sort_nodes, &GraphBuilder::add_cables}) {
      if (auto done = (this->*step)(); !done) {
        return tl::unexpected(done.error());
      }
    }
    if (auto routed = check_routes(); !routed) {
      return tl::unexpected(routed.error());
    }
    return std::move(options_);
  }

 private:
  static bool is_host(const WiringEnd& end) { return rnic_port(end.port).has_value(); }

  Expected<void> sort_nodes() {
    std::set<std::string> hosts;
    std::set<std::string> tors;
    for (const WiringCable& cable : wiring_.cables) {
      if (cable.upper.node.find_first_of(" ,/()#") != std::string::npos ||
          cable.lower.node.find_first_of(" ,/()#") != std::string::npos) {
        return no_fabric(fmt::format("a name with a blank or one of ,/()# in {} - {}",
                                     end_text(cable.lower),
                                     end_text(cable.upper)));
      }
      if (is_host(cable.upper)) {
        return no_fabric(fmt::format("{} is a lower end", end_text(cable.upper)));
      }
      if (is_host(cable.lower)) {
        tors.insert(cable.upper.node);
        if (hosts.insert(cable.lower.node).second) {
          hosts_.emplace(cable.lower.node, options_.graph.hosts.size());
          options_.graph.hosts.push_back(cable.lower.node);
        }
      }
    }
    for (const bool wants_tor : {true, false}) {
      for (const WiringCable& cable : wiring_.cables) {
        for (const WiringEnd* end : {&cable.lower, &cable.upper}) {
          if (is_host(*end) || (tors.count(end->node) > 0) != wants_tor) {
            continue;
          }
          if (hosts.count(end->node) > 0) {
            return no_fabric(fmt::format("{} is a host with a port that is no rnic-R", end->node));
          }
          if (switches_.emplace(end->node, options_.graph.switches.size()).second) {
            options_.graph.switches.push_back(end->node);
          }
        }
      }
    }
    options_.graph.tors = static_cast<std::uint32_t>(tors.size());
    if (hosts.empty() || switches_.size() > kMostSwitches) {
      return no_fabric(hosts.empty() ? "no host: no lower end is called HOST/rnic-R"
                                     : fmt::format("more than {} switches", kMostSwitches));
    }
    return {};
  }

  Expected<void> add_cables() {
    std::uint32_t rails = 0;
    std::uint32_t ports = 0;
    for (const WiringCable& cable : wiring_.cables) {
      if (const auto at = rnic_port(cable.lower.port)) {
        rails = std::max(rails, at->rail + 1);
        ports = std::max(ports, at->port + 1);
      }
    }
    const auto hosts = static_cast<std::uint32_t>(options_.graph.hosts.size());
    constexpr std::uint32_t kNone = ~0u;
    options_.graph.access_tors.assign(std::size_t{hosts} * rails * ports, kNone);
    for (const WiringCable& cable : wiring_.cables) {
      const auto at = rnic_port(cable.lower.port);
      const auto upper = static_cast<std::uint32_t>(switches_.at(cable.upper.node));
      if (!at) {
        const auto lower = static_cast<std::uint32_t>(switches_.at(cable.lower.node));
        options_.graph.trunks.push_back({lower, upper, cable.rate});
        continue;
      }
      const std::size_t rnic = hosts_.at(cable.lower.node) * rails + at->rail;
      std::uint32_t& tor = options_.graph.access_tors[std::size_t{at->port} * hosts * rails + rnic];
      if (tor != kNone) {
        return no_fabric(fmt::format("{} has two cables", end_text(cable.lower)));
      }
      tor = upper;
    }
    const auto bare = std::ranges::find(options_.graph.access_tors, kNone);
    if (bare != options_.graph.access_tors.end()) {
      const auto index = static_cast<std::size_t>(bare - options_.graph.access_tors.begin());
      return no_fabric(fmt::format("{} has no cable at rnic-{}{}; every host must have {} RNICs",
                                   options_.graph.hosts[index / rails % hosts],
                                   index % rails,
                                   ports > 1 ? fmt::format("/port-{}", index / rails / hosts) : "",
                                   rails));
    }
    options_.preset = FabricPreset::kGraph;
    options_.segments = 1;
    options_.hosts_per_segment = hosts;
    options_.rails = rails;
    options_.bond_members = ports;
    return {};
  }

  Expected<void> check_routes() const {
    const Fabric fabric(options_);
    std::set<std::string> names;
    for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
      const std::string name = fabric.cable_name(CableId(c));
      if (!names.insert(name).second) {
        return no_fabric(fmt::format("{} twice: parallel cables cannot be told apart", name));
      }
    }
    const GraphRoutes routes(fabric);
    for (std::uint32_t a = 0; a < fabric.tor_count(); ++a) {
      for (std::uint32_t b = 0; b < fabric.tor_count(); ++b) {
        const std::uint32_t distance = routes.distance(SwitchId(a), SwitchId(b));
        if (distance > GraphRoutes::kFarthest) {
          const std::string apart = distance == GraphRoutes::kUnreachable
                                        ? "not connected"
                                        : fmt::format("{} cables apart", distance);
          return no_fabric(fmt::format("{} and {} are {}; at most {} are allowed",
                                       fabric.switch_name(SwitchId(a)),
                                       fabric.switch_name(SwitchId(b)),
                                       apart,
                                       GraphRoutes::kFarthest));
        }
      }
    }
    return {};
  }

  const Wiring& wiring_;
  FabricOptions options_;
  std::map<std::string, std::size_t> hosts_;
  std::map<std::string, std::size_t> switches_;
};

}  // namespace

Expected<FabricOptions> graph_fabric(const Wiring& wiring) {
  return GraphBuilder(wiring).build();
}

}  // namespace bonescan
