#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kGidSparse, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind gid_holes_kind() {
  return {.name = "gid-holes",
          .on = RefKind::kRnic,
          .keys = "",
          .meaning =
              "Entries of other containers stand between the addresses of an RNIC: a fixed index "
              "finds nothing there.",
          .table_row = 0,
          .failure_class = FailureClass::kHost,
          .seen_by = SeenBy::kHostChecks,
          .made_of = "`gid.sparse`",
          .mechanism = "Addresses are registered at the first free index, and others hold some.",
          .probes_see = "Nothing: the prober looks its address up by value.",
          .probes_miss = "Everything: ranks that never start.",
          .stage = "none: host check",
          .repair = "Configure addresses, not indexes.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
