#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (parameters.down <= Duration::zero() || parameters.up <= Duration::zero()) {
    return misfit("repetitive-flow-offloading needs a positive time down and a positive time up");
  }
  EffectSpec churn = effect_on(EffectKind::kOffloadChurn, parameters.on);
  churn.down = parameters.down;
  churn.up = parameters.up;
  return std::vector{churn};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_rnic(site, stream);
  if (drawn) {
    // Around the period of a revalidator's sweep and that of a counter's refresh.  @ours
    drawn->down = from_seconds(log_uniform(0.5, 5.0, stream.open01_at(1)));
    drawn->up = from_seconds(log_uniform(0.5, 5.0, stream.open01_at(2)));
  }
  return drawn;
}

}  // namespace

FaultKind repetitive_flow_offloading_kind() {
  return {.name = "repetitive-flow-offloading",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "down up",
          .meaning = "Offloaded flows are invalidated on an RNIC again and again.",
          .table_row = 15,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kProbes,
          .made_of = "`offload.churn`, 2 s without entries and 8 s with them unless said otherwise",
          .mechanism =
              "The eswitch entries of the RNIC are invalidated, Open vSwitch offloads the flows "
              "again, and so on.",
          .probes_see =
              "Latency that alternates on all pairs of the RNIC: two software lookups (104 us) "
              "more in turn with none, no loss.",
          .probes_miss = "Who invalidates.",
          .stage = "table diff, read while visits are late in part",
          .repair = "Restart Open vSwitch; update it or the driver.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
