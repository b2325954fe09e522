#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (const auto wrong = unfit_flap("rnic-port-flapping", parameters)) {
    return tl::unexpected(*wrong);
  }
  return std::vector{flap_of(parameters)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    draw_flap(stream, *drawn);
  }
  return drawn;
}

}  // namespace

FaultKind rnic_port_flapping_kind() {
  return {.name = "rnic-port-flapping",
          .on = RefKind::kRnic,
          .or_port = true,
          .keys = "down up",
          .meaning = "The port of an RNIC goes down and comes back, again and again.",
          .table_row = 8,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kProbes,
          .made_of =
              "`port.flap` on its access cable (all of them if it has several ports), 2 s down and "
              "8 s up unless said otherwise",
          .mechanism = "The port of an RNIC loses its link and gets it back.",
          .probes_see = "All pairs of one RNIC lose everything in bursts.",
          .probes_miss = "RNIC, cable and ToR port apart.",
          .stage = "underlay vote",
          .repair = "Reseat or replace the RNIC's optics.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
