#include "faults/kinds/reported.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  auto loss = one_way_loss(parameters);
  if (!loss) {
    return tl::unexpected(loss.error());
  }
  loss->packets.dscp = parameters.dscp;
  return std::vector{*loss};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_one_way(site.fabric_cables(), stream);
  if (drawn) {
    // Of the class of the job's data: DSCP 26, a common choice of deployments. @quoted
    drawn->loss = draw_gray_loss(stream.open01_at(2));
  }
  return drawn;
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
