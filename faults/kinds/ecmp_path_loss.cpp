#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  PacketSelector packets;
  packets.flow_share = parameters.tuple_share;
  return one_way_loss(parameters, packets);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_one_way(site.fabric_cables(), stream);
  if (drawn) {
    // Loss log-uniform in [2 %, 100 %], of [25 %, 100 %] of the five-tuples. @ours
    drawn->loss = log_uniform(0.02, 1.0, stream.open01_at(2));
    drawn->tuple_share = 0.25 + 0.75 * stream.open01_at(3);
  }
  return drawn;
}

}  // namespace

FaultKind ecmp_path_loss_kind() {
  return {.name = "ecmp-path-loss",
          .on = RefKind::kCable,
          .keys = "direction loss tuple_share",
          .meaning = "One direction of a cable between switches loses packets of some five-tuples.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of =
              "`link.loss` in one direction, of half of the five-tuples unless `tuple_share` says "
              "otherwise",
          .mechanism =
              "One of the paths between two switches is bad, and not for all: a lane of a bundle, "
              "a pipe of the chip.",
          .probes_see = "Loss on the pairs whose five-tuple is among them, the rest is healthy.",
          .probes_miss = "Everything, if no five-tuple that is probed is among them.",
          .stage = "underlay vote",
          .repair = "Drain the link; replace optics or line card.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
