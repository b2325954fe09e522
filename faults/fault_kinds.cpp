#include "faults/fault_spec.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

tl::unexpected<Error> misfit(std::string detail) {
  return fail(ErrorCode::kInvalid, std::move(detail));
}

EffectSpec effect(EffectKind kind, const ComponentRef& on) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = on;
  return spec;
}

Expected<std::vector<EffectSpec>> crc_error(const KindParameters& parameters) {
  if (!(parameters.loss > 0.0 && parameters.loss <= 1.0)) {
    return misfit("crc-error needs a loss above 0 and at most 1");
  }
  EffectSpec loss = effect(EffectKind::kLinkLoss, parameters.on);
  loss.direction = parameters.direction;
  loss.ratio = parameters.loss;
  return std::vector{loss};
}

Expected<std::vector<EffectSpec>> switch_port_down(const KindParameters& parameters) {
  return std::vector{effect(EffectKind::kPortDown, parameters.on)};
}

Expected<std::vector<EffectSpec>> rnic_port_flapping(const KindParameters& parameters) {
  if (parameters.down <= Duration::zero() || parameters.up <= Duration::zero()) {
    return misfit("rnic-port-flapping needs a positive time down and a positive time up");
  }
  EffectSpec flap = effect(EffectKind::kPortFlap, parameters.on);
  flap.down = parameters.down;
  flap.up = parameters.up;
  return std::vector{flap};
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
  EffectSpec rule = effect(kind, parameters.on);
  rule.rule = parameters.rule;
  rule.peer = parameters.peer;
  rule.alteration = RuleAlteration::kLoop;
  return std::vector{rule};
}

Expected<std::vector<EffectSpec>> missing_overlay_rule(const KindParameters& parameters) {
  return rule_effect(EffectKind::kRuleRemove, parameters);
}

Expected<std::vector<EffectSpec>> overlay_loop(const KindParameters& parameters) {
  return rule_effect(EffectKind::kRuleAlter, parameters);
}

Expected<std::vector<EffectSpec>> stale_flow_counters(const KindParameters& parameters) {
  return std::vector{effect(EffectKind::kCountersFreeze, parameters.on)};
}

/// A kind and how its effects are made; one row each.
struct Preset {
  FaultKindInfo info;
  Expected<std::vector<EffectSpec>> (*effects)(const KindParameters&);
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kRows = {
      {{.name = "crc-error",
        .on = RefKind::kCable,
        .or_port = true,
        .keys = "direction loss",
        .meaning = "A bad transceiver or fibre corrupts a share of the packets of a link."},
       crc_error},
      {{.name = "switch-port-down",
        .on = RefKind::kCable,
        .or_port = true,
        .keys = "",
        .meaning = "A switch port is dead: nothing passes its cable, in neither direction."},
       switch_port_down},
      {{.name = "rnic-port-flapping",
        .on = RefKind::kRnic,
        .or_port = true,
        .keys = "down up",
        .meaning = "The port of an RNIC goes down and comes back, again and again."},
       rnic_port_flapping},
      {{.name = "missing-overlay-rule",
        .on = RefKind::kRnic,
        .keys = "rule to",
        .meaning =
            "An OpenFlow rule for the RNIC's virtual function is gone from its host's bridge."},
       missing_overlay_rule},
      {{.name = "overlay-loop",
        .on = RefKind::kRnic,
        .keys = "rule to",
        .meaning = "An OpenFlow rule sends packets back to an earlier table: they never leave."},
       overlay_loop},
      {{.name = "stale-flow-counters",
        .on = RefKind::kRnic,
        .keys = "",
        .meaning =
            "The RNIC stops refreshing its flow counters, so busy flows look idle, lose their "
            "eswitch entry and take the slow path."},
       stale_flow_counters},
  };
  return kRows;
}

}  // namespace

const std::vector<FaultKindInfo>& fault_kinds() {
  static const std::vector<FaultKindInfo> kInfos = [] {
    std::vector<FaultKindInfo> kinds;
    for (const Preset& preset : presets()) {
      kinds.push_back(preset.info);
    }
    return kinds;
  }();
  return kInfos;
}

Expected<std::vector<EffectSpec>> effects_of_kind(std::string_view kind,
                                                  const KindParameters& parameters) {
  const auto preset =
      std::ranges::find(presets(), kind, [](const Preset& row) { return row.info.name; });
  if (preset == presets().end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no fault kind '{}'", kind));
  }
  const bool is_port = preset->info.or_port && parameters.on.kind == RefKind::kPort;
  if (parameters.on.kind != preset->info.on && !is_port) {
    return misfit(fmt::format("{} cannot be put on this kind of component", kind));
  }
  return preset->effects(parameters);
}

}  // namespace bonescan
