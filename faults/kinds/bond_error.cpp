#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kPortDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.fabric().ports() < 2) {
    return std::nullopt;
  }
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind bond_error_kind() {
  return {
      .name = "bond-error",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "",
      .meaning = "The bond of an RNIC fails: none of its members carries anything.",
      .table_row = 10,
      .failure_class = FailureClass::kHost,
      .seen_by = SeenBy::kProbes,
      .made_of = "`port.down` on all access cables of the RNIC",
      .mechanism = "Bonding fails: every member is taken down, so there is none to fail over to.",
      .probes_see = "All pairs of one RNIC silent, both ways, and they stay so.",
      .probes_miss = "That it is the bond and not each cable: the host shows all members down.",
      .stage = "underlay vote; host check (`bond-degraded`)",
      .repair = "Set the bond up again; restart the driver.",
      .needs = "`fabric.bond.members: 2`",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
