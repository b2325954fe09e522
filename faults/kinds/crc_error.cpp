#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.loss > 0.0 && parameters.loss <= 1.0)) {
    return misfit("crc-error needs a loss above 0 and at most 1");
  }
  EffectSpec loss = effect_on(EffectKind::kLinkLoss, parameters.on);
  loss.direction = parameters.direction;
  loss.ratio = parameters.loss;
  return std::vector{loss};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_gray_loss(site.fabric_cables(), stream);
}

}  // namespace

FaultKind crc_error_kind() {
  return {
      .name = "crc-error",
      .on = RefKind::kCable,
      .or_port = true,
      .keys = "direction loss",
      .meaning = "A bad transceiver or fibre corrupts a share of the packets of a link.",
      .table_row = 1,
      .failure_class = FailureClass::kLink,
      .made_of = "`link.loss`, 2 % unless `loss` says otherwise",
      .mechanism =
          "Bits of a cable flip; frames fail their checksum and are dropped by the next device.",
      .probes_see = "Gray loss on every pair that crosses the link.",
      .probes_miss = "Its cause: optics, fibre and dirt look alike.",
      .stage = "underlay vote",
      .repair = "Clean or replace the transceiver or fibre.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
