#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return rule_effect(EffectKind::kRuleRemove, parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rule(site, stream);
}

}  // namespace

FaultKind missing_overlay_rule_kind() {
  return {
      .name = "missing-overlay-rule",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "rule to",
      .meaning = "An OpenFlow rule for the RNIC's virtual function is gone from its host's bridge.",
      .table_row = 0,
      .failure_class = FailureClass::kSoftware,
      .made_of = "`rule.remove`",
      .mechanism = "A rule of the host's bridge is gone.",
      .probes_see =
          "Pairs of one RNIC (deliver, classify), or of one host and one peer (encap), "
          "unreachable.",
      .probes_miss = "Why the rule went.",
      .stage = "overlay walk",
      .repair = "Reinstall the rule.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
