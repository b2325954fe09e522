#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kControlOff, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.world().options().load.model != LoadModel::kLinks) {
    return std::nullopt;
  }
  return draw_switch(site, stream);
}

}  // namespace

FaultKind congestion_control_off_kind() {
  return {.name = "congestion-control-off",
          .on = RefKind::kSwitch,
          .or_port = false,
          .keys = "",
          .meaning = "The queues of a switch take no part in congestion control.",
          .table_row = 19,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kLoadedProbes,
          .made_of = "`cc.off`",
          .mechanism =
              "The queues of a switch do not mark, so nobody slows down for them; what is offered "
              "beyond the rate of a port is held by PFC.",
          .probes_see =
              "Waits at XOFF where a queue of the switch is offered more than it carries, and "
              "pauses up to the senders.",
          .probes_miss = "Everything while no queue fills. Which of the paused ports is the cause.",
          .stage = "underlay vote, from late windows; else none: compare configurations",
          .repair = "Switch it on again; compare the queue settings of switches.",
          .needs = "`load.model: links`",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
