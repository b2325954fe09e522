#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kTunnelVni, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind vni_mismatch_kind() {
  return {.name = "vni-mismatch",
          .on = RefKind::kRnic,
          .keys = "",
          .meaning =
              "What the virtual function of an RNIC sends leaves in a network that no receiver "
              "knows.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of = "`tunnel.vni`",
          .mechanism = "The controller and the host disagree about the network of a tenant.",
          .probes_see = "Total loss on all pairs of the RNIC.",
          .probes_miss = "That packets arrive at all; which end is wrong.",
          .stage = "overlay walk",
          .repair = "Correct the rule or the network of the tenant.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
