#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kContainerCrash, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind container_crash_kind() {
  return {.name = "container-crash",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "",
          .meaning = "The container that has the RNIC crashes, and its sidecar agent with it.",
          .table_row = 17,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kProbes,
          .made_of = "`container.crash`",
          .mechanism =
              "The container is gone, unannounced; its agent, which lives in it, neither probes "
              "nor answers.",
          .probes_see = "All probes to the RNICs of the container unanswered, and none from them.",
          .probes_miss =
              "Whether the network is healthy meanwhile: it is. The management connection is "
              "refused; runtime and registry tell a crash from a dead agent.",
          .stage = "none: the management connection tells",
          .repair = "Start the container again.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
