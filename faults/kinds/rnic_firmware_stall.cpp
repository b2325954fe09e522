#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.flow_share > 0.0 && parameters.flow_share <= 1.0)) {
    return misfit("rnic-firmware-stall needs a flow_share above 0 and at most 1");
  }
  if (parameters.delay <= Duration::zero()) {
    return misfit("rnic-firmware-stall needs a positive delay");
  }
  EffectSpec stall = effect_on(EffectKind::kRnicStall, parameters.on);
  stall.packets.flow_share = parameters.flow_share;
  stall.delay = parameters.delay;
  return std::vector{stall};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    // Some flows and not all; late enough for a job to feel it (10 us slow training by a fifth).
    // @ours
    drawn->flow_share = log_uniform(0.2, 0.6, stream.open01_at(1));
    drawn->delay = from_seconds(log_uniform(20e-6, 500e-6, stream.open01_at(2)));
  }
  return drawn;
}

}  // namespace

FaultKind rnic_firmware_stall_kind() {
  return {
      .name = "rnic-firmware-stall",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "delay flow_share",
      .meaning =
          "The firmware of an RNIC does not respond to certain flows: only these are slow, and the "
          "link stays up.",
      .table_row = 6,
      .failure_class = FailureClass::kHost,
      .seen_by = SeenBy::kProbes,
      .made_of = "`rnic.stall`, 100 us and all flows unless `delay` and `flow_share` say otherwise",
      .mechanism =
          "The firmware holds the packets of certain five-tuples whenever the RNIC handles one.",
      .probes_see = "Some pairs of one RNIC late by a constant, no loss.",
      .probes_miss = "Flows that the firmware serves. Why: walk and tables are clear.",
      .stage = "none by name: walk and tables are clear",
      .repair = "Reset the RNIC; update its firmware.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
