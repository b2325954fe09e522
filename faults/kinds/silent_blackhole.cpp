#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.tuple_share > 0.0 && parameters.tuple_share <= 1.0)) {
    return misfit("a share of five-tuples is above 0 and at most 1");
  }
  EffectSpec nothing = effect_on(EffectKind::kSwitchLoss, parameters.on);
  nothing.ratio = 1.0;
  nothing.packets.flow_share = parameters.tuple_share;
  return std::vector{nothing};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  const auto tors = site.tors();
  const auto spines = site.spines();
  if (tors.empty()) {
    return std::nullopt;
  }
  // A ToR or one above, alike, since both are reported. @ours
  const bool above = !spines.empty() && stream.at(0) % 2 == 0;
  KindParameters drawn;
  drawn.on = on_switch(one_of(above ? spines : tors, stream, 1));
  // From a table entry of many to most of the traffic. @ours
  drawn.tuple_share = log_uniform(0.1, 0.6, stream.open01_at(2));
  return drawn;
}

}  // namespace

FaultKind silent_blackhole_kind() {
  return {.name = "silent-blackhole",
          .on = RefKind::kSwitch,
          .keys = "tuple_share",
          .meaning =
              "A switch forwards nothing of a share of the five-tuples; its ports stay up and no "
              "protocol notices.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of =
              "`switch.loss` of everything, of half of the five-tuples unless `tuple_share` says "
              "otherwise",
          .mechanism =
              "A table of the forwarding chip is corrupt while the control plane is clean, so "
              "nobody routes around.",
          .probes_see =
              "Total loss on the pairs through the switch whose five-tuple is among them, the rest "
              "is healthy.",
          .probes_miss =
              "The switch itself: what is named is its links. Everything, if no five-tuple that is "
              "probed is among them.",
          .stage = "underlay vote",
          .repair = "Drain and restart the switch; counters are clean.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
