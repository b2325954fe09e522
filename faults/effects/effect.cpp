#include "faults/effects/effect.h"

#include <fmt/format.h>

#include <array>

namespace bonescan {
namespace {

/// In the order of EffectKind.
constexpr std::array<std::string_view, 41> kEffectNames = {
    "link.loss",        "link.delay",       "port.down",       "port.flap",      "rule.remove",
    "rule.alter",       "offload.remove",   "counters.freeze", "process.stop",   "link.ber",
    "tunnel.neighbour", "tunnel.route",     "tunnel.vni",      "tunnel.mtu",     "tunnel.checksum",
    "vf.spoof_drop",    "eswitch.capacity", "rule.priority",   "ovs.flow_limit", "cc.off",
    "counters.set",     "flow.edit",        "gid.reregister",  "gid.sparse",     "gid.missing",
    "pcie.width",       "hugepages.set",    "switch.loss",     "link.rate",      "switch.down",
    "rnic.fail",        "rnic.stall",       "offload.refuse",  "offload.churn",  "pcie.board",
    "gpudirect.off",    "rdma.bypass",      "container.crash", "pause.storm",    "hash.change",
    "cable.swap",
};
static_assert(kEffectNames.size() == static_cast<std::size_t>(EffectKind::kCableSwap) + 1);

std::unique_ptr<Effect> make(const EffectSpec& spec) {
  switch (spec.kind) {
    case EffectKind::kLinkLoss:
    case EffectKind::kLinkDelay:
    case EffectKind::kLinkBer:
    case EffectKind::kSwitchLoss:
    case EffectKind::kLinkRate:
      return make_link_effect(spec);
    case EffectKind::kPortDown:
    case EffectKind::kPortFlap:
      return make_port_effect(spec);
    case EffectKind::kRuleRemove:
    case EffectKind::kRuleAlter:
      return make_rule_effect(spec);
    case EffectKind::kOffloadRemove:
    case EffectKind::kCountersFreeze:
    case EffectKind::kCountersSet:
    case EffectKind::kFlowEdit:
    case EffectKind::kOffloadRefuse:
    case EffectKind::kOffloadChurn:
      return make_offload_effect(spec);
    case EffectKind::kProcessStop:
    case EffectKind::kContainerCrash:
      return make_process_effect(spec);
    case EffectKind::kTunnelNeighbour:
    case EffectKind::kTunnelRoute:
    case EffectKind::kTunnelVni:
    case EffectKind::kTunnelMtu:
    case EffectKind::kTunnelChecksum:
    case EffectKind::kSpoofDrop:
      return make_tunnel_effect(spec);
    case EffectKind::kEswitchCapacity:
    case EffectKind::kRulePriority:
    case EffectKind::kFlowLimit:
      return make_eswitch_effect(spec);
    case EffectKind::kControlOff:
    case EffectKind::kPauseStorm:
      return make_queue_effect(spec);
    case EffectKind::kHashChange:
    case EffectKind::kCableSwap:
      return make_route_effect(spec);
    case EffectKind::kGidReregister:
    case EffectKind::kGidSparse:
    case EffectKind::kGidMissing:
    case EffectKind::kPcieWidth:
    case EffectKind::kHugepages:
      return make_device_effect(spec);
    case EffectKind::kSwitchDown:
      return make_switch_effect(spec);
    case EffectKind::kRnicFail:
    case EffectKind::kRnicStall:
    case EffectKind::kBoardError:
    case EffectKind::kGpuDirectOff:
    case EffectKind::kRdmaBypass:
      return make_rnic_effect(spec);
  }
  return nullptr;
}

}  // namespace

std::string_view effect_name(EffectKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kEffectNames.size() ? kEffectNames[index] : "unknown";
}

Expected<std::unique_ptr<Effect>> make_effect(const EffectSpec& spec) {
  std::unique_ptr<Effect> effect = make(spec);
  if (!effect) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} cannot act on this kind of component", effect_name(spec.kind)));
  }
  return effect;
}

}  // namespace bonescan
