#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kCountersFreeze, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.rnics().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_rnic(one_of(site.rnics(), stream, 0));
  return drawn;
}

}  // namespace

FaultKind stale_flow_counters_kind() {
  return {
      .name = "stale-flow-counters",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "",
      .meaning =
          "The RNIC stops refreshing its flow counters, so busy flows look idle, lose their "
          "eswitch entry and take the slow path.",
      .table_row = 0,
      .failure_class = FailureClass::kHost,
      .made_of = "`counters.freeze`",
      .mechanism = "The RNIC stops refreshing its flow counters.",
      .probes_see =
          "The episode of Figure 18: some pairs of one RNIC at 120 us instead of 16 us, no loss.",
      .probes_miss = "Idle pairs.",
      .stage = "table diff",
      .repair = "Reset the RNIC or update its firmware.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
