#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kPortDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_cable(site, stream);
}

}  // namespace

FaultKind switch_port_down_kind() {
  return {.name = "switch-port-down",
          .on = RefKind::kCable,
          .or_port = true,
          .keys = "",
          .meaning = "A switch port is dead: nothing passes its cable, in neither direction.",
          .table_row = 2,
          .failure_class = FailureClass::kLink,
          .seen_by = SeenBy::kProbes,
          .made_of = "`port.down`",
          .mechanism = "A switch port is dead.",
          .probes_see = "An access port: one RNIC silent. A fabric port: 800 ms of silence.",
          .probes_miss = "A fabric port after convergence: only paths tell.",
          .stage = "underlay vote; links out of service",
          .repair = "Replace the port; drain it first.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
