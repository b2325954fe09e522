#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kPortDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind rnic_port_down_kind() {
  return {.name = "rnic-port-down",
          .on = RefKind::kRnic,
          .or_port = true,
          .keys = "",
          .meaning = "The port of an RNIC is down and stays down.",
          .table_row = 7,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kProbes,
          .made_of = "`port.down` on its access cable (all of them if it has several ports)",
          .mechanism = "The port of an RNIC has no link any more.",
          .probes_see = "All pairs of one RNIC silent, both ways.",
          .probes_miss = "RNIC, cable and ToR port apart.",
          .stage = "underlay vote",
          .repair = "Bring the port up; replace its optics, or the RNIC.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
