#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kBoardError, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.hosts().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_host(one_of(site.hosts(), stream, 0));
  return drawn;
}

}  // namespace

FaultKind pcie_nic_error_kind() {
  return {.name = "pcie-nic-error",
          .on = RefKind::kHost,
          .or_port = false,
          .keys = "",
          .meaning = "PCIe errors on the board of a host: its RNICs cannot talk to each other.",
          .table_row = 12,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kHostChecks,
          .made_of = "`pcie.board`",
          .mechanism =
              "The PCIe switch of the board has errors: RNICs of the host cannot reach each other, "
              "and the slots train again at half of their speed (the speed is ours).",
          .probes_see =
              "Nothing: no probe stays within a host. With `load.model: links` and load beyond "
              "what is left, waits.",
          .probes_miss = "RNICs of one host among themselves; the slots.",
          .stage = "none: host check (`pcie-speed`)",
          .repair = "Isolate the host; replace the board.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
