#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kPortDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.fabric().ports() < 2 || site.access_cables().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = {RefKind::kPort, one_of(site.access_cables(), stream, 0).index()};
  return drawn;
}

}  // namespace

FaultKind lag_member_down_kind() {
  return {
      .name = "lag-member-down",
      .on = RefKind::kPort,
      .keys = "",
      .meaning = "One member of the bond of an RNIC is down.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .made_of = "`port.down` of one port",
      .mechanism = "The link of one port is gone; its host and its ToR take it out of the bond.",
      .probes_see =
          "Total loss on the pairs that hash to it, until hosts (100 ms) and others (300 ms) "
          "have left it; then nothing.",
      .probes_miss = "The capacity that is missing.",
      .stage = "underlay vote, if a probe meets it; host check (`bond-degraded`)",
      .repair = "Reseat or replace the optics of the port.",
      .needs = "fabric.bond.members: 2",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
