#include "model/fabric/component_ref.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace bonescan {
namespace {

/// The names that this fabric has.
std::string grammar(const Fabric& fabric) {
  const std::string_view tor = fabric.planes() > 1 ? "tor-S.R.P" : "tor-S.R";
  const std::string_view agg = fabric.names_groups() ? "agg-G.A" : "agg-A";
  const std::string_view port = fabric.ports() > 1 ? "/port-P" : "";
  std::string text = "write host-S.H, host-S.H/rnic-R, ";
  if (fabric.ports() > 1) {
    text += "host-S.H/rnic-R/port-P, ";
  }
  text += fmt::format("host-S.H/ovs, host-S.H/agent, {}, {}, ", tor, agg);
  if (fabric.core_count() > 0) {
    text += "core-C, ";
  }
  text += fmt::format("link(host-S.H/rnic-R{}, {}) or link({}, {})", port, tor, tor, agg);
  if (fabric.core_count() > 0) {
    text += fmt::format(" or link({}, core-C)", agg);
  }
  return text;
}

/// Reads one name of one fabric.
class Reader final {
 public:
  Reader(const Fabric& fabric, std::string_view text) : fabric_(fabric), rest_(text) {}

  Expected<ComponentRef> read() {
    if (fabric_.is_graph()) {
      return find_by_name();
    }
    Expected<ComponentRef> component = take_component();
    if (component && !rest_.empty()) {
      return malformed();
    }
    return component;
  }

 private:
  tl::unexpected<Error> malformed() const { return fail(ErrorCode::kInvalid, grammar(fabric_)); }

  /// Names of a graph follow no rule: the one that is equal.
  Expected<ComponentRef> find_by_name() {
    for (std::uint32_t s = 0; s < fabric_.switch_count(); ++s) {
      if (rest_ == fabric_.switch_name(SwitchId(s))) {
        return ComponentRef{RefKind::kSwitch, s};
      }
    }
    std::string tight(rest_);
    for (std::size_t at = 0; (at = tight.find(", ", at)) != std::string::npos;) {
      tight.erase(at + 1, 1);
    }
    for (std::uint32_t c = 0; rest_.starts_with("link(") && c < fabric_.cable_count(); ++c) {
      std::string name = fabric_.cable_name(CableId(c));
      name.erase(name.find(", ") + 1, 1);
      if (tight == name) {
        return cable_ref(CableId(c));
      }
    }
    const std::string_view host_name = rest_.substr(0, rest_.find('/'));
    for (std::uint32_t h = 0; h < fabric_.host_count(); ++h) {
      if (host_name == fabric_.host_name(HostId(h))) {
        rest_.remove_prefix(host_name.size());
        Expected<ComponentRef> part = take_part_of(HostId(h));
        if (part && !rest_.empty()) {
          return malformed();
        }
        return part;
      }
    }
    return fail(ErrorCode::kNotFound,
                fmt::format("the topology has {} hosts ({}, ...) and {} switches ({}, ...)",
                            fabric_.host_count(),
                            fabric_.host_name(HostId(0)),
                            fabric_.switch_count(),
                            fabric_.switch_name(SwitchId(0))));
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }

  /// Up to nine digits, so that the value fits in 32 bits.
  std::optional<std::uint32_t> take_number() {
    constexpr std::size_t kMaxDigits = 9;
    std::uint32_t value = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, status] = std::from_chars(rest_.data(), end, value);
    const auto digits = static_cast<std::size_t>(stop - rest_.data());
    if (status != std::errc() || digits > kMaxDigits) {
      return std::nullopt;
    }
    rest_.remove_prefix(digits);
    return value;
  }

  /// `count` numbers with dots between them.
  std::optional<std::array<std::uint32_t, 3>> take_numbers(std::size_t count) {
    std::array<std::uint32_t, 3> numbers{};
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && !take(".")) {
        return std::nullopt;
      }
      const auto number = take_number();
      if (!number) {
        return std::nullopt;
      }
      numbers[i] = *number;
    }
    return numbers;
  }

  /// "S.H" after "host-".
  Expected<HostId> take_host() {
    const auto at = take_numbers(2);
    if (!at) {
      return malformed();
    }
    if ((*at)[0] >= fabric_.options().segments || (*at)[1] >= fabric_.hosts_in_segment()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("hosts are {} to {}",
                              fabric_.host_name(HostId(0)),
                              fabric_.host_name(HostId(fabric_.host_count() - 1))));
    }
    return fabric_.host((*at)[0], (*at)[1]);
  }

  /// "R" after "/rnic-".
  Expected<RnicId> take_rnic(HostId host) {
    const auto rail = take_number();
    if (!rail) {
      return malformed();
    }
    const std::uint32_t rails = fabric_.options().rails;
    if (*rail >= rails) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("RNICs of a host are rnic-0 to rnic-{}", rails - 1));
    }
    return fabric_.rnic(host, *rail);
  }

  /// "P" after "/port-".
  Expected<std::uint32_t> take_port() {
    const auto port = take_number();
    if (!port) {
      return malformed();
    }
    if (*port >= fabric_.ports()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("ports of an RNIC are port-0 to port-{}", fabric_.ports() - 1));
    }
    return *port;
  }

  /// "S.R" or "S.R.P" after "tor-".
  Expected<SwitchId> take_tor() {
    const auto at = take_numbers(fabric_.planes() > 1 ? 3 : 2);
    if (!at) {
      return malformed();
    }
    const FabricOptions& options = fabric_.options();
    if ((*at)[0] >= options.segments || (*at)[1] >= options.rails || (*at)[2] >= fabric_.planes()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("ToRs are {} to {}",
                              fabric_.switch_name(SwitchId(0)),
                              fabric_.switch_name(SwitchId(fabric_.tor_count() - 1))));
    }
    return fabric_.tor((*at)[0], (*at)[1], (*at)[2]);
  }

  /// "A" or "G.A" after "agg-".
  Expected<SwitchId> take_aggregation() {
    const auto at = take_numbers(fabric_.names_groups() ? 2 : 1);
    if (!at) {
      return malformed();
    }
    const std::uint32_t group = fabric_.names_groups() ? (*at)[0] : 0;
    const std::uint32_t index = fabric_.names_groups() ? (*at)[1] : (*at)[0];
    if (group >= fabric_.group_count() || index >= fabric_.options().aggregation_switches) {
      const std::uint32_t last = fabric_.aggregation_count() - 1;
      return fail(ErrorCode::kNotFound,
                  fmt::format("aggregation switches are {} to {}",
                              fabric_.switch_name(fabric_.aggregation(0)),
                              fabric_.switch_name(fabric_.aggregation(last))));
    }
    return fabric_.aggregation(group, index);
  }

  /// "C" after "core-"; counts core switches.
  Expected<std::uint32_t> take_core() {
    const auto index = take_number();
    if (!index) {
      return malformed();
    }
    if (*index >= fabric_.core_count()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("core switches are core-0 to core-{}", fabric_.core_count() - 1));
    }
    return *index;
  }

  bool take_comma() {
    if (!take(",")) {
      return false;
    }
    while (take(" ")) {
    }
    return true;
  }

  static ComponentRef cable_ref(CableId cable) { return {RefKind::kCable, cable.index()}; }

  /// "host-S.H/rnic-R, tor-S.R" after "link(host-".
  Expected<ComponentRef> take_access_cable() {
    const auto host = take_host();
    if (!host) {
      return tl::unexpected(host.error());
    }
    if (!take("/rnic-")) {
      return malformed();
    }
    const auto rnic = take_rnic(*host);
    if (!rnic) {
      return tl::unexpected(rnic.error());
    }
    std::optional<std::uint32_t> port;
    if (fabric_.ports() > 1 && take("/port-")) {
      const auto taken = take_port();
      if (!taken) {
        return tl::unexpected(taken.error());
      }
      port = *taken;
    }
    if (!take_comma() || !take("tor-")) {
      return malformed();
    }
    const auto tor = take_tor();
    if (!tor) {
      return tl::unexpected(tor.error());
    }
    return access_cable(*rnic, port, *tor);
  }

  Expected<ComponentRef> access_cable(RnicId rnic,
                                      std::optional<std::uint32_t> port,
                                      SwitchId tor) const {
    std::vector<std::string> cables;
    for (std::uint32_t p = 0; p < fabric_.ports(); ++p) {
      if ((!port || *port == p) && fabric_.tor_of(rnic, p) == tor) {
        cables.push_back(fabric_.cable_name(fabric_.access_cable(rnic, p)));
        if (port || fabric_.planes() == fabric_.ports()) {
          return cable_ref(fabric_.access_cable(rnic, p));
        }
      }
    }
    if (!cables.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("which of {}?", fmt::join(cables, " and ")));
    }
    if (fabric_.ports() == 1) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} has one cable, to {}",
                              fabric_.rnic_name(rnic),
                              fabric_.switch_name(fabric_.tor_of(rnic))));
    }
    for (std::uint32_t p = 0; p < fabric_.ports(); ++p) {
      cables.push_back(fabric_.cable_name(fabric_.access_cable(rnic, p)));
    }
    return fail(
        ErrorCode::kNotFound,
        fmt::format(
            "the cables of {} are {}", fabric_.rnic_name(rnic), fmt::join(cables, " and ")));
  }

  /// "tor-S.R, agg-A" after "link(tor-".
  Expected<ComponentRef> take_fabric_cable() {
    const auto tor = take_tor();
    if (!tor) {
      return tl::unexpected(tor.error());
    }
    if (!take_comma() || !take("agg-")) {
      return malformed();
    }
    const auto aggregation = take_aggregation();
    if (!aggregation) {
      return tl::unexpected(aggregation.error());
    }
    if (fabric_.group_of(*tor) != fabric_.group_of(*aggregation)) {
      const std::uint32_t group = fabric_.group_of(*tor);
      const std::uint32_t last = fabric_.options().aggregation_switches - 1;
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} is cabled to {} to {}",
                              fabric_.switch_name(*tor),
                              fabric_.switch_name(fabric_.aggregation(group, 0)),
                              fabric_.switch_name(fabric_.aggregation(group, last))));
    }
    const std::uint32_t index = aggregation->index() - fabric_.aggregation(0).index();
    return cable_ref(fabric_.fabric_cable(*tor, index % fabric_.options().aggregation_switches));
  }

  /// "agg-G.A, core-C" after "link(agg-".
  Expected<ComponentRef> take_core_cable() {
    const auto aggregation = take_aggregation();
    if (!aggregation) {
      return tl::unexpected(aggregation.error());
    }
    if (!take_comma() || !take("core-")) {
      return malformed();
    }
    const auto core = take_core();
    if (!core) {
      return tl::unexpected(core.error());
    }
    const std::uint32_t each = fabric_.cores_per_aggregation();
    const std::uint32_t index = aggregation->index() - fabric_.aggregation(0).index();
    const std::uint32_t first = index % fabric_.options().aggregation_switches * each;
    if (*core < first || *core >= first + each) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} is cabled to core-{} to core-{}",
                              fabric_.switch_name(*aggregation),
                              first,
                              first + each - 1));
    }
    return cable_ref(fabric_.core_cable(*aggregation, *core - first));
  }

  /// After "link(".
  Expected<ComponentRef> take_cable() {
    Expected<ComponentRef> cable = malformed();
    if (take("host-")) {
      cable = take_access_cable();
    } else if (take("tor-")) {
      cable = take_fabric_cable();
    } else if (fabric_.core_count() > 0 && take("agg-")) {
      cable = take_core_cable();
    }
    if (cable && !take(")")) {
      return malformed();
    }
    return cable;
  }

  /// "S.H" after "host-", and what of the host is meant.
  Expected<ComponentRef> take_host_part() {
    const auto host = take_host();
    if (!host) {
      return tl::unexpected(host.error());
    }
    return take_part_of(*host);
  }

  Expected<ComponentRef> take_part_of(HostId host) {
    if (take("/rnic-")) {
      return take_rnic_part(host);
    }
    if (take("/ovs")) {
      return ComponentRef{RefKind::kOvs, host.index()};
    }
    if (take("/agent")) {
      return ComponentRef{RefKind::kAgent, host.index()};
    }
    return ComponentRef{RefKind::kHost, host.index()};
  }

  Expected<ComponentRef> take_rnic_part(HostId host) {
    const auto rnic = take_rnic(host);
    if (!rnic) {
      return tl::unexpected(rnic.error());
    }
    if (fabric_.ports() > 1 && take("/port-")) {
      return take_port().map([&](std::uint32_t port) {
        return ComponentRef{RefKind::kPort, fabric_.access_cable(*rnic, port).index()};
      });
    }
    return ComponentRef{RefKind::kRnic, rnic->index()};
  }

  Expected<ComponentRef> take_component() {
    const auto as_switch = [](SwitchId id) { return ComponentRef{RefKind::kSwitch, id.index()}; };
    if (take("link(")) {
      return take_cable();
    }
    if (take("host-")) {
      return take_host_part();
    }
    if (take("tor-")) {
      return take_tor().map(as_switch);
    }
    if (take("agg-")) {
      return take_aggregation().map(as_switch);
    }
    if (fabric_.core_count() > 0 && take("core-")) {
      return take_core().map([&](std::uint32_t index) { return as_switch(fabric_.core(index)); });
    }
    return malformed();
  }

  const Fabric& fabric_;
  std::string_view rest_;
};

}  // namespace

Expected<ComponentRef> parse_component(const Fabric& fabric, std::string_view text) {
  return Reader(fabric, text).read();
}

std::string component_name(const Fabric& fabric, const ComponentRef& ref) {
  switch (ref.kind) {
    case RefKind::kHost:
      return fabric.host_name(ref.host());
    case RefKind::kRnic:
      return fabric.rnic_name(ref.rnic());
    case RefKind::kSwitch:
      return fabric.switch_name(ref.switch_id());
    case RefKind::kCable:
      return fabric.cable_name(ref.cable());
    case RefKind::kPort:
      return fabric.port_name(fabric.rnic_end(ref.cable()), fabric.port_of(ref.cable()));
    case RefKind::kOvs:
      return fabric.host_name(ref.host()) + "/ovs";
    case RefKind::kAgent:
      return fabric.host_name(ref.host()) + "/agent";
  }
  BONESCAN_CHECK(false);
  return {};
}

std::vector<CableId> cables_of(const Fabric& fabric, const ComponentRef& ref) {
  std::vector<CableId> cables;
  if (ref.kind == RefKind::kCable || ref.kind == RefKind::kPort) {
    cables.push_back(ref.cable());
  } else if (ref.kind == RefKind::kRnic) {
    for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
      cables.push_back(fabric.access_cable(ref.rnic(), port));
    }
  }
  return cables;
}

}  // namespace bonescan
