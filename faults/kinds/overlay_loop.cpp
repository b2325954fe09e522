#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return rule_effect(EffectKind::kRuleAlter, parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rule(site, stream);
}

}  // namespace

FaultKind overlay_loop_kind() {
  return {.name = "overlay-loop",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "rule to",
          .meaning = "An OpenFlow rule sends packets back to an earlier table: they never leave.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of = "`rule.alter` to a loop",
          .mechanism = "A rule resubmits to an earlier table.",
          .probes_see = "As `missing-overlay-rule`.",
          .probes_miss = "That it is a loop: only the walk shows it.",
          .stage = "overlay walk",
          .repair = "Correct the rule.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
