#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kOffloadRefuse, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind offloading_failure_kind() {
  return {.name = "offloading-failure",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "",
          .meaning = "Encapsulation and decapsulation cannot be offloaded into an RNIC.",
          .table_row = 9,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kProbes,
          .made_of = "`offload.refuse`",
          .mechanism =
              "The entries of the RNIC go, and new ones are refused: Open vSwitch serves every "
              "packet in software.",
          .probes_see = "Two software lookups (104 us) more on all pairs of the RNIC, no loss.",
          .probes_miss = "Why the RNIC refuses.",
          .stage = "table diff",
          .repair = "Update driver or firmware; isolate the host.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
