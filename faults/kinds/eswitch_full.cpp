#include "faults/kinds/kind_parts.h"

#include <algorithm>

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (parameters.entries == 0) {
    return misfit("a full table has room for one flow at least");
  }
  EffectSpec full = effect_on(EffectKind::kEswitchCapacity, parameters.on);
  full.entries = parameters.entries;
  return std::vector{full};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    // Fewer entries than flows of the job, so that one of them at least has none: uniform. @ours
    const RnicId rnic = drawn->on.rnic();
    std::uint32_t flows = 0;
    for (const auto& [source, target] : site.flows()) {
      flows += source == rnic || target == rnic ? 1 : 0;
    }
    drawn->entries = 1 + static_cast<std::uint32_t>(stream.at(1) % (std::max(2u, flows) - 1));
  }
  return drawn;
}

}  // namespace

FaultKind eswitch_full_kind() {
  return {
      .name = "eswitch-full",
      .on = RefKind::kRnic,
      .keys = "entries",
      .meaning = "The flow table of an RNIC is full: the newest flows stay in software.",
      .table_row = 0,
      .failure_class = FailureClass::kHost,
      .made_of = "`eswitch.capacity`, one entry unless `entries` says otherwise",
      .mechanism = "Others hold the entries, and the error is hidden.",
      .probes_see = "Two software lookups more (104 us) on the newest pairs of the RNIC, no loss.",
      .probes_miss = "Pairs that were there first; that the table is full.",
      .stage = "table diff",
      .repair = "Raise the table, spread the containers, or turn rebalancing on.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
