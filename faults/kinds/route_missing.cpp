#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return effect_towards(EffectKind::kTunnelRoute, parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_flow(site, stream);
}

}  // namespace

FaultKind route_missing_kind() {
  return {.name = "route-missing",
          .on = RefKind::kRnic,
          .keys = "to",
          .meaning = "The host has no route to the tunnel endpoint of one RNIC.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of = "`tunnel.route`",
          .mechanism = "A route was withdrawn, or never came.",
          .probes_see = "Total loss of the pairs between that host and the RNIC.",
          .probes_miss = "Which way.",
          .stage = "overlay walk",
          .repair = "Add the route; find who withdrew it.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
