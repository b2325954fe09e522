#include "model/fabric/component_ref.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace bonescan {
namespace {

constexpr std::string_view kGrammar =
    "write host-S.H, host-S.H/rnic-R, host-S.H/ovs, host-S.H/agent, tor-S.R, agg-A, "
    "link(host-S.H/rnic-R, tor-S.R) or link(tor-S.R, agg-A)";

tl::unexpected<Error> not_of_the_grammar() {
  return fail(ErrorCode::kInvalid, std::string(kGrammar));
}

/// Eats a name from its front.
class Cursor final {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

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

 private:
  std::string_view rest_;
};

/// "S.H" after "host-".
Expected<HostId> take_host(const Fabric& fabric, Cursor& cursor) {
  const auto segment = cursor.take_number();
  if (!segment || !cursor.take(".")) {
    return not_of_the_grammar();
  }
  const auto index = cursor.take_number();
  if (!index) {
    return not_of_the_grammar();
  }
  const FabricOptions& options = fabric.options();
  if (*segment >= options.segments || *index >= options.hosts_per_segment) {
    return fail(ErrorCode::kNotFound,
                fmt::format("hosts are {} to {}",
                            fabric.host_name(HostId(0)),
                            fabric.host_name(HostId(fabric.host_count() - 1))));
  }
  return fabric.host(*segment, *index);
}

/// "R" after "/rnic-".
Expected<RnicId> take_rnic(const Fabric& fabric, HostId host, Cursor& cursor) {
  const auto rail = cursor.take_number();
  if (!rail) {
    return not_of_the_grammar();
  }
  const std::uint32_t rails = fabric.options().rails;
  if (*rail >= rails) {
    return fail(ErrorCode::kNotFound,
                fmt::format("RNICs of a host are rnic-0 to rnic-{}", rails - 1));
  }
  return fabric.rnic(host, *rail);
}

/// "S.R" after "tor-".
Expected<SwitchId> take_tor(const Fabric& fabric, Cursor& cursor) {
  const auto segment = cursor.take_number();
  if (!segment || !cursor.take(".")) {
    return not_of_the_grammar();
  }
  const auto rail = cursor.take_number();
  if (!rail) {
    return not_of_the_grammar();
  }
  const FabricOptions& options = fabric.options();
  if (*segment >= options.segments || *rail >= options.rails) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("ToRs are tor-0.0 to tor-{}.{}", options.segments - 1, options.rails - 1));
  }
  return fabric.tor(*segment, *rail);
}

/// "A" after "agg-"; the result counts aggregation switches, not all switches.
Expected<std::uint32_t> take_aggregation(const Fabric& fabric, Cursor& cursor) {
  const auto index = cursor.take_number();
  if (!index) {
    return not_of_the_grammar();
  }
  const std::uint32_t count = fabric.options().aggregation_switches;
  if (*index >= count) {
    return fail(ErrorCode::kNotFound,
                fmt::format("aggregation switches are agg-0 to agg-{}", count - 1));
  }
  return *index;
}

bool take_comma(Cursor& cursor) {
  if (!cursor.take(",")) {
    return false;
  }
  while (cursor.take(" ")) {
  }
  return true;
}

ComponentRef cable_ref(CableId cable) {
  return {RefKind::kCable, cable.index()};
}

/// "host-S.H/rnic-R, tor-S.R)" after "link(".
Expected<ComponentRef> take_access_cable(const Fabric& fabric, Cursor& cursor) {
  const auto host = take_host(fabric, cursor);
  if (!host) {
    return tl::unexpected(host.error());
  }
  if (!cursor.take("/rnic-")) {
    return not_of_the_grammar();
  }
  const auto rnic = take_rnic(fabric, *host, cursor);
  if (!rnic) {
    return tl::unexpected(rnic.error());
  }
  if (!take_comma(cursor) || !cursor.take("tor-")) {
    return not_of_the_grammar();
  }
  const auto tor = take_tor(fabric, cursor);
  if (!tor) {
    return tl::unexpected(tor.error());
  }
  if (*tor != fabric.tor_of(*rnic)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has one cable, to {}",
                            fabric.rnic_name(*rnic),
                            fabric.switch_name(fabric.tor_of(*rnic))));
  }
  return cable_ref(fabric.access_cable(*rnic));
}

/// "tor-S.R, agg-A)" after "link(".
Expected<ComponentRef> take_fabric_cable(const Fabric& fabric, Cursor& cursor) {
  const auto tor = take_tor(fabric, cursor);
  if (!tor) {
    return tl::unexpected(tor.error());
  }
  if (!take_comma(cursor) || !cursor.take("agg-")) {
    return not_of_the_grammar();
  }
  const auto aggregation = take_aggregation(fabric, cursor);
  if (!aggregation) {
    return tl::unexpected(aggregation.error());
  }
  return cable_ref(fabric.fabric_cable(*tor, *aggregation));
}

Expected<ComponentRef> take_cable(const Fabric& fabric, Cursor& cursor) {
  Expected<ComponentRef> cable = not_of_the_grammar();
  if (cursor.take("host-")) {
    cable = take_access_cable(fabric, cursor);
  } else if (cursor.take("tor-")) {
    cable = take_fabric_cable(fabric, cursor);
  }
  if (cable && !cursor.take(")")) {
    return not_of_the_grammar();
  }
  return cable;
}

/// "S.H" after "host-", and what of the host is meant.
Expected<ComponentRef> take_host_part(const Fabric& fabric, Cursor& cursor) {
  const auto host = take_host(fabric, cursor);
  if (!host) {
    return tl::unexpected(host.error());
  }
  if (cursor.take("/rnic-")) {
    return take_rnic(fabric, *host, cursor).map([](RnicId rnic) {
      return ComponentRef{RefKind::kRnic, rnic.index()};
    });
  }
  if (cursor.take("/ovs")) {
    return ComponentRef{RefKind::kOvs, host->index()};
  }
  if (cursor.take("/agent")) {
    return ComponentRef{RefKind::kAgent, host->index()};
  }
  return ComponentRef{RefKind::kHost, host->index()};
}

Expected<ComponentRef> take_component(const Fabric& fabric, Cursor& cursor) {
  if (cursor.take("link(")) {
    return take_cable(fabric, cursor);
  }
  if (cursor.take("host-")) {
    return take_host_part(fabric, cursor);
  }
  if (cursor.take("tor-")) {
    return take_tor(fabric, cursor).map([](SwitchId tor) {
      return ComponentRef{RefKind::kSwitch, tor.index()};
    });
  }
  if (cursor.take("agg-")) {
    return take_aggregation(fabric, cursor).map([&fabric](std::uint32_t index) {
      return ComponentRef{RefKind::kSwitch, fabric.aggregation(index).index()};
    });
  }
  return not_of_the_grammar();
}

}  // namespace

Expected<ComponentRef> parse_component(const Fabric& fabric, std::string_view text) {
  Cursor cursor(text);
  Expected<ComponentRef> component = take_component(fabric, cursor);
  if (component && !cursor.done()) {
    return not_of_the_grammar();
  }
  return component;
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
    case RefKind::kOvs:
      return fabric.host_name(ref.host()) + "/ovs";
    case RefKind::kAgent:
      return fabric.host_name(ref.host()) + "/agent";
  }
  BONESCAN_CHECK(false);
  return {};
}

}  // namespace bonescan
