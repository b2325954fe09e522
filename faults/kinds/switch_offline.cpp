#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kSwitchDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_switch(site, stream);
}

}  // namespace

FaultKind switch_offline_kind() {
  return {.name = "switch-offline",
          .on = RefKind::kSwitch,
          .or_port = false,
          .keys = "",
          .meaning = "A switch crashed, or was taken off line: nothing passes any of its cables.",
          .table_row = 4,
          .failure_class = FailureClass::kLink,
          .seen_by = SeenBy::kProbes,
          .made_of = "`switch.down`",
          .mechanism =
              "Every port of the switch is dead; whoever sends to it avoids it 800 ms later, if "
              "there is another way.",
          .probes_see =
              "A ToR: all RNICs below it silent. A higher switch: the pairs that hash to it silent "
              "for 800 ms.",
          .probes_miss =
              "A higher switch once it is routed around. That the links are dead because of the "
              "switch.",
          .stage = "underlay vote",
          .repair = "Restart the switch; drain it first when it is planned.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
