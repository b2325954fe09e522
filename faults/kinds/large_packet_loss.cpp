#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  PacketSelector packets;
  packets.min_bytes = parameters.min_packet;
  return one_way_loss(parameters, packets);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  return draw_gray_loss(site.fabric_cables(), stream);
}

}  // namespace

FaultKind large_packet_loss_kind() {
  return {.name = "large-packet-loss",
          .on = RefKind::kCable,
          .keys = "direction loss min_packet",
          .meaning = "A direction of a cable loses packets above 1 KB, and no smaller ones.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of =
              "`link.loss` in one direction, of packets of 1,025 bytes or more unless `min_packet` "
              "says otherwise",
          .mechanism = "Bit errors, or a cell buffer that is broken, hit long packets.",
          .probes_see = "Gray loss on every pair that crosses the link, if probes are so large.",
          .probes_miss = "Everything, with small probes.",
          .stage = "underlay vote",
          .repair = "As `crc-error`; probe with the size of messages.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan
