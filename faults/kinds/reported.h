// What the kinds that operators report have in common: places and ranges.
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

/// link.loss as `parameters` say it, of the packets that the caller then selects.
/// @errors kInvalid if it has no direction or loses nothing
Expected<EffectSpec> one_way_loss(const KindParameters& parameters);

/// Loss that users notice within a run: log-uniform in [1 %, 20 %], as crc-error.  @ours
double draw_gray_loss(double u);

}  // namespace bonescan
