#include "faults/kinds/reported.h"

#include <algorithm>
#include <utility>

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

Expected<EffectSpec> one_way_loss(const KindParameters& parameters) {
  if (parameters.direction == EffectDirection::kBoth) {
    return misfit("one direction of a cable is up or down");
  }
  if (!(parameters.loss > 0.0 && parameters.loss <= 1.0)) {
    return misfit("a loss is above 0 and at most 1");
  }
  EffectSpec loss = effect_on(EffectKind::kLinkLoss, parameters.on);
  loss.direction = parameters.direction;
  loss.ratio = parameters.loss;
  return loss;
}

double draw_gray_loss(double u) {
  return log_uniform(0.01, 0.2, u);
}

Expected<std::vector<FaultSpec>> faults_with(const FaultKind& kind,
                                             const FaultSite& site,
                                             const KindParameters& first,
                                             const FaultSpec& spec,
                                             const RngStream& stream,
                                             Time end) {
  std::vector<FaultSpec> faults;
  if (kind.with == nullptr) {
    return faults;
  }
  for (const DrawnFault& drawn : kind.with(site, first, stream)) {
    FaultSpec fault = spec;
    fault.on = drawn.parameters.on;
    fault.at = spec.at + drawn.after;
    if (fault.at >= end) {
      continue;
    }
    fault.duration = std::min(spec.duration, end - fault.at);
    auto effects = effects_of_kind(drawn.kind, drawn.parameters);
    if (!effects) {
      return tl::unexpected(effects.error());
    }
    fault.effects = std::move(*effects);
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace bonescan
