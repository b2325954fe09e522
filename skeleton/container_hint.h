// The platform's numbering of containers, checked against the bursts before it is believed.
//
// Intuition: whoever numbers the containers of a task in the order of ranks gives each stage either
// a block of numbers (pipeline outermost) or every k-th number (pipeline innermost).  If the stages
// that were found have that form, in the order in which they burst, the numbers are ranks, since
// chance would need a miracle; the place of a container in its stage is then its replica.  If they
// do not, the numbers mean something else and are ignored.
#pragma once

#include "skeleton/matrix.h"
#include "skeleton/traffic_record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

/// Replica by member, or nothing if the numbers do not fit the stages.
/// @param stages  by member, in the order of bursts
std::optional<std::vector<std::uint32_t>> replicas_by_container(
    const TrafficRecord& record, const std::vector<std::uint32_t>& stages, std::size_t stage_count);

/// Whether the parts of stages that these numbers would make if there were `parts` times as many
/// stages differ, by more than parts at random do: then each stage that was found may be several.
/// @param points    coordinates of units, a row each
/// @param replicas  by unit: 0 ... size - 1 in its stage
/// @ours 199 random orders, all of which must fit worse
bool stages_hide(const DoubleMatrix& points,
                 const std::vector<std::uint32_t>& stages,
                 const std::vector<std::uint32_t>& replicas,
                 std::size_t parts);

}  // namespace bonescan
