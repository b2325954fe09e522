#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kRdmaBypass, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind not_using_rdma_kind() {
  return {.name = "not-using-rdma",
          .on = RefKind::kRnic,
          .or_port = false,
          .keys = "",
          .meaning = "A job sends by TCP what should go by RDMA.",
          .table_row = 14,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kHostChecks,
          .made_of = "`rdma.bypass`",
          .mechanism =
              "The library found no usable RDMA device and fell back to TCP: the RDMA counters of "
              "the RNIC stand still.",
          .probes_see = "Nothing: probes use RDMA and pass.",
          .probes_miss =
              "What the job uses. The host tells where it prints RDMA counters "
              "(`confounders.telemetry.rdma_counters`) and most others' move.",
          .stage = "none: host check (`rdma-unused`)",
          .repair = "Correct the configuration of the container.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
