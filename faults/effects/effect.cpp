#include "faults/effects/effect.h"

#include <fmt/format.h>

namespace bonescan {
namespace {

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
  switch (kind) {
    case EffectKind::kLinkLoss:
      return "link.loss";
    case EffectKind::kLinkDelay:
      return "link.delay";
    case EffectKind::kPortDown:
      return "port.down";
    case EffectKind::kPortFlap:
      return "port.flap";
    case EffectKind::kRuleRemove:
      return "rule.remove";
    case EffectKind::kRuleAlter:
      return "rule.alter";
    case EffectKind::kOffloadRemove:
      return "offload.remove";
    case EffectKind::kCountersFreeze:
      return "counters.freeze";
    case EffectKind::kProcessStop:
      return "process.stop";
    case EffectKind::kLinkBer:
      return "link.ber";
    case EffectKind::kTunnelNeighbour:
      return "tunnel.neighbour";
    case EffectKind::kTunnelRoute:
      return "tunnel.route";
    case EffectKind::kTunnelVni:
      return "tunnel.vni";
    case EffectKind::kTunnelMtu:
      return "tunnel.mtu";
    case EffectKind::kTunnelChecksum:
      return "tunnel.checksum";
    case EffectKind::kSpoofDrop:
      return "vf.spoof_drop";
    case EffectKind::kEswitchCapacity:
      return "eswitch.capacity";
    case EffectKind::kRulePriority:
      return "rule.priority";
    case EffectKind::kFlowLimit:
      return "ovs.flow_limit";
    case EffectKind::kControlOff:
      return "cc.off";
    case EffectKind::kCountersSet:
      return "counters.set";
    case EffectKind::kFlowEdit:
      return "flow.edit";
    case EffectKind::kGidReregister:
      return "gid.reregister";
    case EffectKind::kGidSparse:
      return "gid.sparse";
    case EffectKind::kGidMissing:
      return "gid.missing";
    case EffectKind::kPcieWidth:
      return "pcie.width";
    case EffectKind::kHugepages:
      return "hugepages.set";
    case EffectKind::kSwitchLoss:
      return "switch.loss";
    case EffectKind::kLinkRate:
      return "link.rate";
    case EffectKind::kSwitchDown:
      return "switch.down";
    case EffectKind::kRnicFail:
      return "rnic.fail";
    case EffectKind::kRnicStall:
      return "rnic.stall";
    case EffectKind::kOffloadRefuse:
      return "offload.refuse";
    case EffectKind::kOffloadChurn:
      return "offload.churn";
    case EffectKind::kBoardError:
      return "pcie.board";
    case EffectKind::kGpuDirectOff:
      return "gpudirect.off";
    case EffectKind::kRdmaBypass:
      return "rdma.bypass";
    case EffectKind::kContainerCrash:
      return "container.crash";
    case EffectKind::kPauseStorm:
      return "pause.storm";
    case EffectKind::kHashChange:
      return "hash.change";
    case EffectKind::kCableSwap:
      return "cable.swap";
  }
  return "unknown";
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
