#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kSwitchDown, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.fabric().planes() < 2 || site.tors().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_switch(one_of(site.tors(), stream, 0));
  return drawn;
}

}  // namespace

FaultKind dual_tor_switchover_kind() {
  return {
      .name = "dual-tor-switchover",
      .on = RefKind::kSwitch,
      .keys = "",
      .meaning = "One of the two ToRs of a rail goes, and traffic switches to the other plane.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .made_of = "`switch.down` of a ToR that has a sister",
      .mechanism =
          "The links of one port of every RNIC below are gone; hosts and routes leave the plane.",
      .probes_see =
          "Total loss on the pairs of that plane, until hosts (100 ms) and others (300 ms) have "
          "left it; then nothing.",
      .probes_miss = "The half of the capacity that is missing.",
      .stage = "underlay vote, if a probe meets it; host check (`bond-degraded` at several RNICs)",
      .repair = "Restart the ToR; let it take traffic when it is programmed, not before.",
      .needs = "fabric.preset: hpn",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
