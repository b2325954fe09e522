#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kHashChange, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  const Fabric& fabric = site.fabric();
  if (site.world().options().load.model != LoadModel::kLinks || fabric.is_graph() ||
      site.fabric_cables().empty() || fabric.options().aggregation_switches <= 2) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_switch(one_of(site.tors(), stream, 0));
  return drawn;
}

}  // namespace

FaultKind hash_polarization_kind() {
  return {
      .name = "hash-polarization",
      .on = RefKind::kSwitch,
      .keys = "",
      .meaning = "A switch spreads its flows over two of its uplinks and leaves the others idle.",
      .table_row = 0,
      .failure_class = FailureClass::kLink,
      .seen_by = SeenBy::kLoadedProbes,
      .made_of = "`hash.change`",
      .mechanism =
          "After an upgrade the switch hashes as the tier before it did: of what has already "
          "been sorted one bit is left to choose by.",
      .probes_see =
          "Nothing while idle, but that pairs take other ways. With `load.model: links` and "
          "load that two uplinks cannot carry: waits on the pairs that share them.",
      .probes_miss =
          "A switch whose two uplinks suffice; the paths of probes show it all the same.",
      .stage = "path trace (`uplinks-idle`): nothing goes up over uplinks that packets come down",
      .repair = "Give each tier a seed or hash function of its own; move the UDP source port.",
      .needs = "load.model: links, fabric.aggregation_switches: 3",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
