#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.flow_share > 0.0 && parameters.flow_share <= 1.0)) {
    return misfit("suboptimal-flow-offloading needs a flow_share above 0 and at most 1");
  }
  EffectSpec order = effect_on(EffectKind::kRulePriority, parameters.on);
  order.packets.flow_share = parameters.flow_share;
  return std::vector{order};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    // A smaller share may be none of the flows of an RNIC with few peers.  @ours
    drawn->flow_share = log_uniform(0.25, 1.0, stream.open01_at(1));
  }
  return drawn;
}

}  // namespace

FaultKind suboptimal_flow_offloading_kind() {
  return {.name = "suboptimal-flow-offloading",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "flow_share",
          .meaning =
              "Rules are offloaded in a wrong order: a wider one that only software serves comes "
              "before the flows' own.",
          .table_row = 16,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kProbes,
          .made_of = "`rule.priority`, all flows unless `flow_share` says otherwise",
          .mechanism =
              "The rule that the eswitch tries first is not the best one, so packets whose own "
              "entry is there leave for software.",
          .probes_see =
              "One software lookup (52 us) more for each crossing of the RNIC by a flow of the "
              "share, no loss.",
          .probes_miss = "That the flows' own entries are there and idle.",
          .stage = "table diff",
          .repair = "Offload the rules again in their order.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
