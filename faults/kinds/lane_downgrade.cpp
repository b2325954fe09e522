#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.rate_left > 0.0 && parameters.rate_left < 1.0)) {
    return misfit("what is left of a rate is above 0 and below 1");
  }
  EffectSpec slow = effect_on(EffectKind::kLinkRate, parameters.on);
  slow.direction = parameters.direction;
  slow.rate_left = parameters.rate_left;
  return std::vector{slow};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.world().options().load.model != LoadModel::kLinks) {
    return std::nullopt;
  }
  auto drawn = draw_one_way(site.fabric_cables(), stream);
  if (drawn) {
    drawn->direction = EffectDirection::kBoth;
    // Two or one of four lanes. @ours
    drawn->rate_left = stream.at(2) % 2 == 0 ? 0.5 : 0.25;
  }
  return drawn;
}

}  // namespace

FaultKind lane_downgrade_kind() {
  return {
      .name = "lane-downgrade",
      .on = RefKind::kCable,
      .or_port = true,
      .keys = "direction rate_left",
      .meaning = "A link has lost lanes and goes on with half or a quarter of its rate.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .seen_by = SeenBy::kLoadedProbes,
      .made_of = "`link.rate`, half of it unless `rate_left` says otherwise",
      .mechanism = "One lane of the transceiver is dead, and both ends have agreed on fewer.",
      .probes_see =
          "Nothing while idle. With `load.model: links` and load beyond what is left: waits, "
          "as at any link that is too small.",
      .probes_miss =
          "A link whose load fits into what is left; the short outage while it retrains, which "
          "the model leaves out.",
      .stage = "underlay vote: late visits, or a queue that comes back with every step of the job",
      .repair = "Replace the transceiver or cable; compare the rate of ports with the inventory.",
      .needs = "load.model: links",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
