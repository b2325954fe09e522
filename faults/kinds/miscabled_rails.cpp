#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!parameters.peer || *parameters.peer == parameters.on.rnic()) {
    return misfit("cables of two RNICs are swapped, so it needs another one");
  }
  EffectSpec swapped = effect_on(EffectKind::kCableSwap, parameters.on);
  swapped.peer = parameters.peer;
  return std::vector{swapped};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  const Fabric& fabric = site.fabric();
  std::vector<std::pair<RnicId, RnicId>> sisters;
  for (const RnicId one : site.rnics()) {
    for (const RnicId other : site.rnics()) {
      if (one < other && fabric.host_of(one) == fabric.host_of(other)) {
        sisters.emplace_back(one, other);
      }
    }
  }
  if (sisters.empty()) {
    return std::nullopt;
  }
  const auto& [one, other] = one_of<std::pair<RnicId, RnicId>>(sisters, stream, 0);
  KindParameters drawn;
  drawn.on = on_rnic(one);
  drawn.peer = other;
  return drawn;
}

}  // namespace

FaultKind miscabled_rails_kind() {
  return {.name = "miscabled-rails",
          .on = RefKind::kRnic,
          .keys = "to",
          .meaning =
              "Two RNICs of a host have each other's cables, so that each is on the rail of the "
              "other.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of = "`cable.swap`",
          .mechanism =
              "Somebody plugged two cables the wrong way round; addresses are learnt, so packets "
              "find their way over the spines.",
          .probes_see =
              "Two more hops on the pairs of the two RNICs within their segment. In a fabric of "
              "separate rails: total loss on all pairs of both.",
          .probes_miss =
              "Pairs that cross the spines anyway, and would as well if all were right. Which of "
              "the two RNICs.",
          .stage =
              "path trace (`miscabled`): a late pair's path goes over the other RNIC's cable; both "
              "cables are named",
          .repair = "Plug the cables right; compare the wiring with a blueprint.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
