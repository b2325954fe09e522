#include "faults/kinds/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bonescan {

namespace {

/// Of the first sort or of the second, by a fair coin; of the one that there is, if one is empty.
template <class T>
std::optional<T> of_either(std::span<const T> first,
                           std::span<const T> second,
                           const RngStream& stream) {
  const bool heads = stream.at(3) % 2 == 0;
  const std::span<const T> chosen = second.empty() || (heads && !first.empty()) ? first : second;
  if (chosen.empty()) {
    return std::nullopt;
  }
  return one_of(chosen, stream, 0);
}

}  // namespace

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kKinds = {
      crc_error_kind(),
      switch_port_down_kind(),
      switch_port_flapping_kind(),
      switch_offline_kind(),
      rnic_hardware_failure_kind(),
      rnic_firmware_stall_kind(),
      rnic_port_down_kind(),
      rnic_port_flapping_kind(),
      offloading_failure_kind(),
      bond_error_kind(),
      gid_change_kind(),
      pcie_nic_error_kind(),
      gpudirect_error_kind(),
      not_using_rdma_kind(),
      repetitive_flow_offloading_kind(),
      suboptimal_flow_offloading_kind(),
      container_crash_kind(),
      hugepage_mismatch_kind(),
      congestion_control_off_kind(),
      missing_overlay_rule_kind(),
      overlay_loop_kind(),
      stale_flow_counters_kind(),
      one_way_loss_kind(),
      ecmp_path_loss_kind(),
      large_packet_loss_kind(),
      mtu_blackhole_kind(),
      dscp_loss_kind(),
      silent_blackhole_kind(),
      neighbour_missing_kind(),
      neighbour_stale_kind(),
      route_missing_kind(),
      vni_mismatch_kind(),
      tunnel_checksum_kind(),
      gid_holes_kind(),
      spoof_check_kind(),
      eswitch_full_kind(),
      lag_member_down_kind(),
      pcie_width_loss_kind(),
      lane_downgrade_kind(),
      optics_degrading_kind(),
      pfc_storm_kind(),
      hash_polarization_kind(),
      miscabled_rails_kind(),
      dual_tor_switchover_kind(),
      both_layers_kind(),
      two_faults_kind(),
  };
  return kKinds;
}

std::string_view to_string(FailureClass failure_class) {
  switch (failure_class) {
    case FailureClass::kLink:
      return "link";
    case FailureClass::kHost:
      return "host";
    case FailureClass::kSoftware:
      return "software";
  }
  return "unknown";
}

std::string_view to_string(SeenBy seen_by) {
  switch (seen_by) {
    case SeenBy::kProbes:
      return "probes";
    case SeenBy::kLoadedProbes:
      return "probes under load";
    case SeenBy::kHostChecks:
      return "host checks";
    case SeenBy::kNobody:
      return "nobody";
  }
  return "unknown";
}

const FaultKind* find_fault_kind(std::string_view name) {
  const auto found = std::ranges::find(fault_kinds(), name, &FaultKind::name);
  return found == fault_kinds().end() ? nullptr : &*found;
}

Expected<std::vector<EffectSpec>> effects_of_kind(std::string_view kind,
                                                  const KindParameters& parameters) {
  const FaultKind* found = find_fault_kind(kind);
  if (found == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no fault kind '{}'", kind));
  }
  const bool is_port = found->or_port && parameters.on.kind == RefKind::kPort;
  if (parameters.on.kind != found->on && !is_port) {
    return misfit(fmt::format("{} cannot be put on this kind of component", kind));
  }
  return found->effects(parameters);
}

Expected<std::vector<FaultSpec>> faults_with(const FaultKind& kind,
                                             const FaultSite& site,
                                             const KindParameters& first,
                                             const FaultSpec& spec,
                                             const RngStream& stream,
                                             Time end) {
  std::vector<FaultSpec> faults;
  if (kind.with == nullptr) {
    return faults;
  }
  for (const DrawnFault& drawn : kind.with(site, first, stream)) {
    FaultSpec fault = spec;
    fault.on = drawn.parameters.on;
    fault.at = spec.at + drawn.after;
    if (fault.at >= end) {
      continue;
    }
    fault.duration = std::min(spec.duration, end - fault.at);
    auto effects = effects_of_kind(drawn.kind, drawn.parameters);
    if (!effects) {
      return tl::unexpected(effects.error());
    }
    fault.effects = std::move(*effects);
    faults.push_back(std::move(fault));
  }
  return faults;
}

tl::unexpected<Error> misfit(std::string detail) {
  return fail(ErrorCode::kInvalid, std::move(detail));
}

EffectSpec effect_on(EffectKind kind, const ComponentRef& on) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = on;
  return spec;
}

ComponentRef on_rnic(RnicId rnic) {
  return {RefKind::kRnic, rnic.index()};
}

ComponentRef on_cable(CableId cable) {
  return {RefKind::kCable, cable.index()};
}

ComponentRef on_switch(SwitchId id) {
  return {RefKind::kSwitch, id.index()};
}

ComponentRef on_host(HostId host) {
  return {RefKind::kHost, host.index()};
}

double log_uniform(double low, double high, double u) {
  return low * std::pow(high / low, u);
}

std::optional<KindParameters> draw_rnic(const FaultSite& site, const RngStream& stream) {
  if (site.rnics().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_rnic(one_of(site.rnics(), stream, 0));
  return drawn;
}

std::optional<KindParameters> draw_cable(const FaultSite& site, const RngStream& stream) {
  const auto cable = of_either(site.access_cables(), site.fabric_cables(), stream);
  if (!cable) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_cable(*cable);
  return drawn;
}

std::optional<KindParameters> draw_switch(const FaultSite& site, const RngStream& stream) {
  const auto id = of_either(site.tors(), site.spines(), stream);
  if (!id) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_switch(*id);
  return drawn;
}

void draw_flap(const RngStream& stream, KindParameters& drawn) {
  // @source the campaign prior of public reports: down U[0.5, 3] s, up U[5, 30] s.
  drawn.down = from_seconds(0.5 + 2.5 * stream.open01_at(1));
  drawn.up = from_seconds(5.0 + 25.0 * stream.open01_at(2));
}

std::optional<Error> unfit_flap(std::string_view kind, const KindParameters& parameters) {
  if (parameters.down > Duration::zero() && parameters.up > Duration::zero()) {
    return std::nullopt;
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("{} needs a positive time down and a positive time up", kind)};
}

EffectSpec flap_of(const KindParameters& parameters) {
  EffectSpec flap = effect_on(EffectKind::kPortFlap, parameters.on);
  flap.down = parameters.down;
  flap.up = parameters.up;
  return flap;
}

Expected<std::vector<EffectSpec>> rule_effect(EffectKind kind, const KindParameters& parameters) {
  const bool is_encap = parameters.rule == RuleRole::kEncap;
  if (is_encap && !parameters.peer) {
    return misfit("an encap rule leads to one remote RNIC, so it needs a peer");
  }
  if (!is_encap && parameters.peer) {
    return misfit("only an encap rule leads to a peer");
  }
  if (parameters.peer && *parameters.peer == parameters.on.rnic()) {
    return misfit("the peer of an encap rule is another RNIC");
  }
  EffectSpec rule = effect_on(kind, parameters.on);
  rule.rule = parameters.rule;
  rule.peer = parameters.peer;
  rule.alteration = RuleAlteration::kLoop;
  return std::vector{rule};
}

std::optional<KindParameters> draw_rule(const FaultSite& site, const RngStream& stream) {
  if (site.flows().empty()) {
    return std::nullopt;
  }
  const auto& [source, target] = one_of(site.flows(), stream, 0);
  KindParameters drawn;
  drawn.on = on_rnic(source);
  constexpr RuleRole kRoles[] = {RuleRole::kClassify, RuleRole::kEncap, RuleRole::kDeliver};
  drawn.rule = one_of<RuleRole>(kRoles, stream, 1);
  if (drawn.rule == RuleRole::kEncap) {
    drawn.peer = target;
  }
  return drawn;
}

}  // namespace bonescan
