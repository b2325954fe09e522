#include "faults/kinds/kind_parts.h"

namespace bonescan {

std::optional<KindParameters> draw_one_way(std::span<const CableId> cables,
                                           const RngStream& stream) {
  if (cables.empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_cable(one_of(cables, stream, 0));
  drawn.direction = stream.at(1) % 2 == 0 ? EffectDirection::kUp : EffectDirection::kDown;
  return drawn;
}

std::optional<KindParameters> draw_flow(const FaultSite& site, const RngStream& stream) {
  if (site.flows().empty()) {
    return std::nullopt;
  }
  const auto& [source, target] = one_of(site.flows(), stream, 0);
  KindParameters drawn;
  drawn.on = on_rnic(source);
  drawn.peer = target;
  return drawn;
}

Expected<std::vector<EffectSpec>> effect_towards(EffectKind kind,
                                                 const KindParameters& parameters) {
  if (!parameters.peer || *parameters.peer == parameters.on.rnic()) {
    return misfit("the tunnel leads to another RNIC, so it needs a peer");
  }
  EffectSpec effect = effect_on(kind, parameters.on);
  effect.peer = parameters.peer;
  return std::vector{effect};
}

Expected<std::vector<EffectSpec>> one_way_loss(const KindParameters& parameters,
                                               const PacketSelector& packets) {
  if (parameters.direction == EffectDirection::kBoth) {
    return misfit("one direction of a cable is up or down");
  }
  if (!(parameters.loss > 0.0 && parameters.loss <= 1.0)) {
    return misfit("a loss is above 0 and at most 1");
  }
  if (!(packets.flow_share > 0.0 && packets.flow_share <= 1.0)) {
    return misfit("a share of five-tuples is above 0 and at most 1");
  }
  EffectSpec loss = effect_on(EffectKind::kLinkLoss, parameters.on);
  loss.direction = parameters.direction;
  loss.ratio = parameters.loss;
  loss.packets = packets;
  return std::vector{loss};
}

double draw_gray_loss(double u) {
  return log_uniform(0.01, 0.2, u);
}

std::optional<KindParameters> draw_gray_loss(std::span<const CableId> cables,
                                             const RngStream& stream) {
  auto drawn = draw_one_way(cables, stream);
  if (drawn) {
    drawn->loss = draw_gray_loss(stream.open01_at(2));
  }
  return drawn;
}

}  // namespace bonescan
