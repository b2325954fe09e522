#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return effect_towards(EffectKind::kTunnelNeighbour, parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_flow(site, stream);
}

}  // namespace

FaultKind neighbour_missing_kind() {
  return {.name = "neighbour-missing",
          .on = RefKind::kRnic,
          .keys = "to",
          .meaning = "The host has no neighbour entry for the tunnel endpoint of one RNIC.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of = "`tunnel.neighbour`, missing",
          .mechanism =
              "The entry is unresolved after the endpoint was made or moved; packets are dropped "
              "until it answers.",
          .probes_see = "Total loss of the pairs between that host and the RNIC.",
          .probes_miss = "Which way.",
          .stage = "overlay walk",
          .repair = "Flush the entry; let the endpoint announce itself.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
