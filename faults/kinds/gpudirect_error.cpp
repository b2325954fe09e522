#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kGpuDirectOff, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind gpudirect_error_kind() {
  return {.name = "gpudirect-error",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "",
          .meaning = "GPUs and an RNIC cannot talk directly.",
          .table_row = 13,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kNobody,
          .made_of = "`gpudirect.off`",
          .mechanism =
              "Memory of GPUs cannot be registered with the RNIC, so data take the way over host "
              "memory.",
          .probes_see = "Nothing: probes begin and end in host memory.",
          .probes_miss =
              "Everything. No counter of a host shows it, and that the job gets slower is not in "
              "the model.",
          .stage = "none",
          .repair = "Load the peer memory module; correct the PCIe access settings.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
