#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kTunnelChecksum, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind tunnel_checksum_kind() {
  return {
      .name = "tunnel-checksum",
      .on = RefKind::kRnic,
      .keys = "",
      .meaning = "Receivers drop what an RNIC encapsulates, since its outer checksum is wrong.",
      .table_row = 0,
      .failure_class = FailureClass::kHost,
      .made_of = "`tunnel.checksum`",
      .mechanism = "Checksum offload of this driver or kernel is broken for packets in tunnels.",
      .probes_see = "Total loss on all pairs of the RNIC.",
      .probes_miss = "That only one direction is dead. RNIC, cable and ToR port apart.",
      .stage = "none by name: the vote names the access link",
      .repair = "Turn checksum offload off; update driver or kernel.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
