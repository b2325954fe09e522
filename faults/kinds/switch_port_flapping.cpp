#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (const auto wrong = unfit_flap("switch-port-flapping", parameters)) {
    return tl::unexpected(*wrong);
  }
  return std::vector{flap_of(parameters)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_cable(site, stream);
  if (drawn) {
    draw_flap(stream, *drawn);
  }
  return drawn;
}

}  // namespace

FaultKind switch_port_flapping_kind() {
  return {.name = "switch-port-flapping",
          .on = RefKind::kCable,
          .or_port = true,
          .keys = "down up",
          .meaning = "The port of a switch goes down and comes back, again and again.",
          .table_row = 3,
          .failure_class = FailureClass::kLink,
          .seen_by = SeenBy::kProbes,
          .made_of = "`port.flap` on the cable, 2 s down and 8 s up unless said otherwise",
          .mechanism = "The port of a switch loses its link and gets it back.",
          .probes_see =
              "An access port: all pairs of one RNIC lose everything in bursts. A fabric port: the "
              "pairs that hash to it lose everything for 800 ms of each cycle.",
          .probes_miss =
              "A fabric port between the bursts, once it is routed around. Which end of the cable "
              "flaps.",
          .stage = "underlay vote",
          .repair = "Replace the optics or the port; damp or drain it meanwhile.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
