#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kSpoofDrop, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind spoof_check_kind() {
  return {.name = "spoof-check",
          .on = RefKind::kRnic,
          .keys = "",
          .meaning = "The spoof check of a virtual function drops what it sends.",
          .table_row = 0,
          .failure_class = FailureClass::kHost,
          .made_of = "`vf.spoof_drop`",
          .mechanism = "The check turned itself on after the MAC of the function was changed.",
          .probes_see = "Total loss on all pairs of the RNIC.",
          .probes_miss = "That only one direction is dead. RNIC, cable and ToR port apart.",
          .stage = "none by name: the vote names the access link",
          .repair = "Turn the check off, or trust the function.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
