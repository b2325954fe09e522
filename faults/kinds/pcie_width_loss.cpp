#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (parameters.lanes == 0) {
    return misfit("a slot has one lane at least");
  }
  EffectSpec narrow = effect_on(EffectKind::kPcieWidth, parameters.on);
  narrow.lanes = parameters.lanes;
  return std::vector{narrow};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    // Half or a quarter of the bandwidth. @quoted from the fault trace of a GPU cluster
    drawn->lanes = stream.at(1) % 2 == 0 ? 8 : 4;
  }
  return drawn;
}

}  // namespace

FaultKind pcie_width_loss_kind() {
  return {
      .name = "pcie-width-loss",
      .on = RefKind::kRnic,
      .keys = "lanes",
      .meaning = "The slot of an RNIC runs with fewer lanes than it has.",
      .table_row = 0,
      .failure_class = FailureClass::kHost,
      .seen_by = SeenBy::kHostChecks,
      .made_of = "`pcie.width`, 8 of 16 lanes unless `lanes` says otherwise",
      .mechanism = "The card has trained with fewer lanes.",
      .probes_see = "Nothing; waits, with `load.model: links` and load that the slot cannot carry.",
      .probes_miss = "A slot that carries less than it should, as long as no load waits for it.",
      .stage = "none while idle: host check; under load underlay vote",
      .repair = "Reseat the card; look for errors of the slot.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
