#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return one_way_loss(parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_one_way(site.access_cables(), stream);
  if (drawn) {
    // Log-uniform in [1 %, 100 %]: from gray loss to a laser that is dark. @ours
    drawn->loss = log_uniform(0.01, 1.0, stream.open01_at(2));
  }
  return drawn;
}

}  // namespace

FaultKind one_way_loss_kind() {
  return {.name = "one-way-loss",
          .on = RefKind::kCable,
          .or_port = true,
          .keys = "direction loss",
          .meaning = "One direction of a cable loses packets, and the other does not.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of = "`link.loss` in one direction, 2 % unless `loss` says otherwise",
          .mechanism =
              "Bad optics of one end: the other end signals a fault that a firmware ignores, and "
              "goes on sending.",
          .probes_see = "Loss on every pair that crosses the link, in whichever of the two ways.",
          .probes_miss = "Which direction, from round trips alone; which end.",
          .stage = "underlay vote",
          .repair = "Clean or replace the optics of the end that sends.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
