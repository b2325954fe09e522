#include "model/fabric/wiring_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kMostOfAKind = 4'096;

/// The numbers of "tor-1.3" after "tor-".
struct NodeName {
  std::vector<std::uint32_t> numbers;
};

std::optional<NodeName> numbers_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  NodeName result;
  while (true) {
    std::uint32_t value = 0;
    const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (status != std::errc() || value >= kMostOfAKind || result.numbers.size() == 3) {
      return std::nullopt;
    }
    result.numbers.push_back(value);
    name.remove_prefix(static_cast<std::size_t>(stop - name.data()));
    if (name.empty()) {
      return result;
    }
    if (!name.starts_with('.')) {
      return std::nullopt;
    }
    name.remove_prefix(1);
  }
}

tl::unexpected<Error> no_preset(std::string detail) {
  return fail(ErrorCode::kInvalid, std::move(detail));
}

/// Largest numbers seen in the names of one kind of node, plus one.
struct Counts {
  std::array<std::uint32_t, 3> most{};
  std::size_t numbers = 0;  ///< in each name; 0: no such node
  bool mixed = false;

  void add(const NodeName& name) {
    mixed = mixed || (numbers != 0 && numbers != name.numbers.size());
    numbers = name.numbers.size();
    for (std::size_t i = 0; i < numbers; ++i) {
      most[i] = std::max(most[i], name.numbers[i] + 1);
    }
  }
};

class Census final {
 public:
  /// @returns the name of a node that no preset has
  std::optional<std::string> count(const Wiring& found) {
    for (const WiringCable& cable : found.cables) {
      for (const WiringEnd* end : {&cable.lower, &cable.upper}) {
        if (!add(*end)) {
          return end->node;
        }
      }
      note_pod(cable);
    }
    return std::nullopt;
  }

  Counts hosts, tors, aggregations, cores;
  std::uint32_t rails = 0;
  std::uint32_t members = 1;
  std::set<std::uint32_t> segments_of_first_pod;

 private:
  bool add(const WiringEnd& end) {
    for (const auto& [prefix, counts] : {std::pair{"host-", &hosts},
                                         std::pair{"tor-", &tors},
                                         std::pair{"agg-", &aggregations},
                                         std::pair{"core-", &cores}}) {
      if (const auto name = numbers_after(end.node, prefix)) {
        counts->add(*name);
        return counts != &hosts || add_rnic(end);
      }
    }
    return false;
  }

  bool add_rnic(const WiringEnd& end) {
    const std::string_view port = end.port;
    const std::size_t slash = std::min(port.find('/'), port.size());
    const auto rail = numbers_after(port.substr(0, slash), "rnic-");
    if (!rail || rail->numbers.size() != 1) {
      return false;
    }
    rails = std::max(rails, rail->numbers[0] + 1);
    if (slash < port.size()) {
      const auto member = numbers_after(port.substr(slash + 1), "port-");
      if (!member || member->numbers.size() != 1) {
        return false;
      }
      members = std::max(members, member->numbers[0] + 1);
    }
    return true;
  }

  void note_pod(const WiringCable& cable) {
    const auto tor = numbers_after(cable.lower.node, "tor-");
    const auto aggregation = numbers_after(cable.upper.node, "agg-");
    if (tor && aggregation && aggregation->numbers.size() == 2 && aggregation->numbers[0] == 0) {
      segments_of_first_pod.insert(tor->numbers[0]);
    }
  }
};

/// The rate of all cables between two kinds of node, 0 if they differ or do not tell.
BitsPerSecond rate_between(const Wiring& found, std::string_view lower, std::string_view upper) {
  std::set<BitsPerSecond> rates;
  for (const WiringCable& cable : found.cables) {
    if (cable.lower.node.starts_with(lower) && cable.upper.node.starts_with(upper)) {
      rates.insert(cable.rate);
    }
  }
  return rates.size() == 1 ? *rates.begin() : BitsPerSecond(0);
}

FabricOptions options_of(const Census& census, const Wiring& found) {
  FabricOptions options;
  options.segments = census.hosts.most[0];
  options.hosts_per_segment = census.hosts.most[1];
  options.rails = census.rails;
  options.aggregation_switches = census.aggregations.most[census.aggregations.numbers - 1];
  options.access.rate = rate_between(found, "host-", "tor-");
  options.fabric.rate = rate_between(found, "tor-", "agg-");
  options.core.rate = rate_between(found, "agg-", "core-");
  if (census.tors.numbers == 3) {
    options.preset = FabricPreset::kHpn;
  } else if (census.cores.numbers == 1) {
    options.preset = FabricPreset::kThreeTier;
    options.core_switches = census.cores.most[0];
    options.segments_per_pod =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(census.segments_of_first_pod.size()));
  } else if (census.aggregations.numbers == 2) {
    options.preset = FabricPreset::kRailOnly;
  }
  if (options.preset != FabricPreset::kHpn) {
    options.bond_members = census.members;
  }
  return options;
}

std::string_view last_number(std::string_view text) {
  const std::size_t end = text.find_last_of("0123456789");
  if (end == text.npos) {
    return {};
  }
  text = text.substr(0, end + 1);
  const std::size_t before = text.find_last_not_of("0123456789");
  text.remove_prefix(before == text.npos ? 0 : before + 1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return text;
}

void normalize(WiringEnd& end, bool is_host) {
  const std::string number(last_number(end.port));
  if (number.empty() || end.port.starts_with("rnic-")) {
    return;
  }
  if (!is_host) {
    end.port = number;
    return;
  }
  // HCA-1 is the first adapter, mlx5_0 is.
  const bool from_one = end.port.starts_with("HCA-");
  std::uint32_t rail = 0;
  std::from_chars(number.data(), number.data() + number.size(), rail);
  end.port = fmt::format("rnic-{}", from_one && rail > 0 ? rail - 1 : rail);
}

}  // namespace

Expected<FabricOptions> fit_preset(const Wiring& found) {
  Census census;
  if (const auto stranger = census.count(found)) {
    return no_preset(fmt::format(
        "'{}' is no name that a preset has: host-S.H/rnic-R, tor-S.R, agg-A and so on", *stranger));
  }
  for (const Counts* counts : {&census.hosts, &census.tors, &census.aggregations, &census.cores}) {
    if (counts->mixed) {
      return no_preset("names of one kind of node have different numbers of dots");
    }
  }
  if (census.hosts.numbers != 2 || census.tors.numbers < 2 || census.aggregations.numbers == 0 ||
      census.aggregations.numbers > 2 || census.cores.numbers > 1) {
    return no_preset("there must be hosts (host-S.H), ToRs (tor-S.R) and aggregation switches");
  }
  const FabricOptions options = options_of(census, found);
  const std::uint64_t ports = std::uint64_t{options.segments} * options.hosts_per_segment *
                              options.rails * std::max(2u, options.bond_members);
  if (ports > found.cables.size() * 4) {
    return no_preset(
        fmt::format("names up to host-{}.{} and rnic-{} promise more hosts than there are cables",
                    options.segments - 1,
                    options.hosts_per_segment - 1,
                    options.rails - 1));
  }
  if (options.preset == FabricPreset::kThreeTier &&
      options.core_switches % options.aggregation_switches != 0) {
    return no_preset(fmt::format("{} core switches are no multiple of {} aggregation switches",
                                 options.core_switches,
                                 options.aggregation_switches));
  }
  Wiring bare = found;
  for (WiringCable& cable : bare.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      if (!end->node.starts_with("host-")) {
        end->port.clear();
      }
    }
    cable.rate = BitsPerSecond(0);
  }
  const auto findings = check_wiring(wiring_like(bare, Fabric(options)), bare);
  if (!findings.empty()) {
    return no_preset(fmt::format("as {} with {} segments of {} hosts it has {} mistakes, first: {}",
                                 to_string(options.preset),
                                 options.segments,
                                 options.hosts_per_segment,
                                 findings.size(),
                                 findings.front().text));
  }
  return options;
}

void normalize_ports(Wiring& wiring, const Fabric& fabric) {
  std::set<std::string> hosts;
  std::set<std::string> switches;
  for (std::uint32_t h = 0; h < fabric.host_count(); ++h) {
    hosts.insert(fabric.host_name(HostId(h)));
  }
  for (std::uint32_t s = 0; s < fabric.switch_count(); ++s) {
    switches.insert(fabric.switch_name(SwitchId(s)));
  }
  for (WiringCable& cable : wiring.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      const bool is_host = hosts.count(end->node) > 0;
      if (is_host || switches.count(end->node) > 0) {
        normalize(*end, is_host);
      }
    }
  }
}

Wiring wiring_like(const Wiring& found, const Fabric& fabric) {
  const auto names_ports = [](const WiringCable& cable) {
    return cable.lower.port.find("/port-") != std::string::npos ||
           cable.upper.port.find("/port-") != std::string::npos;
  };
  Wiring wiring = wiring_of(fabric);
  if (std::ranges::any_of(found.cables, names_ports)) {
    return wiring;
  }
  for (WiringCable& cable : wiring.cables) {
    cable.lower.port = cable.lower.port.substr(0, cable.lower.port.find("/port-"));
  }
  return wiring;
}

}  // namespace bonescan
