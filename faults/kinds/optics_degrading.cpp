#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.ber_from > 0.0 && parameters.ber_from < parameters.ber &&
        parameters.ber <= 0.5) ||
      parameters.over <= Duration::zero()) {
    return misfit("bit errors grow from ber_from to a larger ber, within a positive time");
  }
  EffectSpec worse = effect_on(EffectKind::kLinkBer, parameters.on);
  worse.direction = parameters.direction;
  worse.ber_from = parameters.ber_from;
  worse.ber = parameters.ber;
  worse.over = parameters.over;
  return std::vector{worse};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_one_way(site.fabric_cables(), stream);
  if (drawn) {
    // From well below the limit of KP4 (2.4e-4, quoted) to 1.7 % .. 99 % of the frames lost, within
    // half a minute to a minute and a half. @ours
    drawn->ber_from = log_uniform(1e-6, 1e-4, stream.open01_at(2));
    drawn->ber = log_uniform(1.5e-3, 4e-3, stream.open01_at(3));
    drawn->over = from_seconds(30.0 + 60.0 * stream.open01_at(4));
  }
  return drawn;
}

}  // namespace

FaultKind optics_degrading_kind() {
  return {
      .name = "optics-degrading",
      .on = RefKind::kCable,
      .or_port = true,
      .keys = "direction ber_from ber over",
      .meaning = "The optics of a cable get worse until forward error correction no longer helps.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .made_of = "`link.ber` that grows, from 1e-5 to 2e-3 within a minute unless said otherwise",
      .mechanism =
          "A laser loses power: bit errors grow evenly in their logarithm, and past 2.4e-4 "
          "codewords are lost.",
      .probes_see =
          "Nothing for most of the time, then gray loss that grows steeply to its end, on "
          "every pair that crosses the link.",
      .probes_miss =
          "All of it before the cliff; the counters of corrected codewords would show it.",
      .stage = "underlay vote",
      .repair = "Replace the optics.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
