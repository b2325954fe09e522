// What kinds of links and tunnels have in common: places and ranges.
#pragma once

#include "faults/kinds/kinds.h"

#include <span>

namespace bonescan {

/// One of `cables`, in one direction, by rows 0 and 1 of the stream.
std::optional<KindParameters> draw_one_way(std::span<const CableId> cables,
                                           const RngStream& stream);

/// Who sends, and as peer to whom, by row 0 of the stream.
std::optional<KindParameters> draw_flow(const FaultSite& site, const RngStream& stream);

/// An effect that needs its peer.
Expected<std::vector<EffectSpec>> effect_towards(EffectKind kind, const KindParameters& parameters);

/// link.loss as `parameters` say it, of some packets.
/// @errors kInvalid if it has no direction, loses nothing, or selects no flow
Expected<std::vector<EffectSpec>> one_way_loss(const KindParameters& parameters,
                                               const PacketSelector& packets = {});

/// Loss that users notice within a run: log-uniform in [1 %, 20 %].  @ours
double draw_gray_loss(double u);

/// One of `cables`, in one direction, with gray loss; rows 0 to 2.
std::optional<KindParameters> draw_gray_loss(std::span<const CableId> cables,
                                             const RngStream& stream);

}  // namespace bonescan
