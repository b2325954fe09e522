#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  PacketSelector packets;
  packets.dscp = parameters.dscp;
  return one_way_loss(parameters, packets);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  // Of the class of the job's data: DSCP 26, a common choice of deployments. @quoted
  return draw_gray_loss(site.fabric_cables(), stream);
}

}  // namespace

FaultKind dscp_loss_kind() {
  return {
      .name = "dscp-loss",
      .on = RefKind::kCable,
      .keys = "direction loss dscp",
      .meaning = "A direction of a cable loses packets of one class, and no others.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .made_of = "`link.loss` in one direction, of DSCP 26 unless `dscp` says otherwise",
      .mechanism = "The queue of one class is misconfigured: no buffer of its own, or a policer.",
      .probes_see = "Gray loss on every pair that crosses the link, if probes are of that class.",
      .probes_miss = "Everything, with probes of another class.",
      .stage = "underlay vote",
      .repair = "Correct the queue settings; probe with the DSCP of the job.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
