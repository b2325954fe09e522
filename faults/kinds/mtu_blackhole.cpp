#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (parameters.mtu == 0) {
    return misfit("an MTU is at least one byte");
  }
  EffectSpec small = effect_on(EffectKind::kTunnelMtu, parameters.on);
  small.mtu = parameters.mtu;
  return std::vector{small};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_rnic(site, stream);  // The MTU is the one of Ethernet.
}

}  // namespace

FaultKind mtu_blackhole_kind() {
  return {.name = "mtu-blackhole",
          .on = RefKind::kRnic,
          .keys = "mtu",
          .meaning =
              "The underlay port of an RNIC takes only packets up to 1,500 bytes: larger ones are "
              "lost.",
          .table_row = 0,
          .failure_class = FailureClass::kHost,
          .made_of = "`tunnel.mtu`",
          .mechanism =
              "The MTU of a port was set back to the default of Ethernet, and the tunnel adds 50 "
              "bytes.",
          .probes_see = "Total loss on all pairs of the RNIC, if probes are so large.",
          .probes_miss = "Everything, with small probes. RNIC, cable and ToR port apart.",
          .stage = "none by name: the vote names the access link",
          .repair = "Set the MTU of the port right; probe with the size of messages.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
