#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return std::vector{effect_on(EffectKind::kGidReregister, parameters.on)};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);
}

}  // namespace

FaultKind gid_change_kind() {
  return {
      .name = "gid-change",
      .on = RefKind::kRnic,
      .or_port = false,
      .keys = "",
      .meaning = "The addresses of an RNIC stand at other indexes of its GID table than before.",
      .table_row = 11,
      .failure_class = FailureClass::kHost,
      .seen_by = SeenBy::kProbes,
      .made_of = "`gid.reregister`",
      .mechanism =
          "The network service of the host restarts and registers the addresses again; whoever "
          "remembers an index, the prober among them, sends with an address that nobody routes.",
      .probes_see = "All pairs of one RNIC silent, both ways, until its process starts again.",
      .probes_miss =
          "That the link is up. RNIC, cable and ToR port apart: only the host sees its table.",
      .stage = "none by name; host check (`gid-moved`)",
      .repair = "Start what remembered the index again; configure addresses, not indexes.",
      .effects = effects,
      .draw = draw};
}

}  // namespace bonescan
