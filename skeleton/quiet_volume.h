// How much a task sends when its stages are quiet.
//
// Intuition: gradients and pipelines leave silence between bursts (a pipeline's own volume is about
// a thousandth).  Expert and context parallelism, inference, and steps too short for the sampler
// do not, and bursts say nothing about who talks to whom in that volume.  Quiet columns are found
// on one half of a stage's units and measured on the other, so that noise does not choose; the
// median is taken, since noise that was cut off at zero has a mean.
#pragma once

#include "skeleton/traffic_record.h"
#include "skeleton/traffic_units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

/// Share of columns that are taken for quiet: the least busy ones. @ours
inline constexpr double kQuietShare = 0.25;

/// Rate in quiet columns over the mean rate: the mean over stages, or what one stage surely has, if
/// that is more.
/// REQUIRES: labels has an entry a unit, below `groups`
double quiet_volume(const TrafficRecord& record,
                    const TrafficUnits& units,
                    const std::vector<std::uint32_t>& labels,
                    std::size_t groups);

}  // namespace bonescan
