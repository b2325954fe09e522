#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kRnicFail, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind rnic_hardware_failure_kind() {
  return {
      .name = "rnic-hardware-failure",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "",
      .meaning = "An RNIC is broken and gone from the bus of its host.",
      .table_row = 5,
      .failure_class = FailureClass::kHost,
      .seen_by = SeenBy::kProbes,
      .made_of = "`rnic.fail`",
      .mechanism =
          "The device stops: its ports lose their links, and its host can read nothing of it any "
          "more.",
      .probes_see = "All pairs of one RNIC silent, both ways.",
      .probes_miss = "RNIC, cable and ToR port apart: the host, which knows no such device, tells.",
      .stage = "underlay vote",
      .repair = "Isolate the host; replace the RNIC.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
