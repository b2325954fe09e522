#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (parameters.down <= Duration::zero() || parameters.up <= Duration::zero()) {
    return misfit("rnic-port-flapping needs a positive time down and a positive time up");
  }
  EffectSpec flap = effect_on(EffectKind::kPortFlap, parameters.on);
  flap.down = parameters.down;
  flap.up = parameters.up;
  return std::vector{flap};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.rnics().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_rnic(one_of(site.rnics(), stream, 0));
  // @source the campaign prior of public reports: down U[0.5, 3] s, up U[5, 30] s.
  drawn.down = from_seconds(0.5 + 2.5 * stream.open01_at(1));
  drawn.up = from_seconds(5.0 + 25.0 * stream.open01_at(2));
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
