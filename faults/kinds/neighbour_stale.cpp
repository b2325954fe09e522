#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  auto stale = effect_towards(EffectKind::kTunnelNeighbour, parameters);
  if (stale) {
    stale->front().neighbour = NeighbourState::kStale;
  }
  return stale;
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_flow(site, stream);
}

}  // namespace

FaultKind neighbour_stale_kind() {
  return {.name = "neighbour-stale",
          .on = RefKind::kRnic,
          .keys = "to",
          .meaning =
              "The neighbour entry of the host for the tunnel endpoint of one RNIC has a MAC that "
              "is no longer there.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of = "`tunnel.neighbour`, stale",
          .mechanism = "The peer has a new MAC, after a restart, and the entry was kept.",
          .probes_see = "Total loss of the pairs between that host and the RNIC.",
          .probes_miss = "Which way; that it is no broken link.",
          .stage = "none by name: trace, megaflow and eswitch agree",
          .repair = "Flush the entry.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
