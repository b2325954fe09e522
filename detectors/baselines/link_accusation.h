// How the published localizers put what they found into the library's words.
//
// They name directed links one by one, with a count, a share or a likelihood of their own, and know
// neither sets nor posteriors.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstdint>

namespace bonescan {

/// Link number `link` of the columns, with every failing pair that crosses it.
/// @param score goes to LinkScore::llr: a count of votes, a share or nats, as the method has it
Accusation accuse_link(const PathColumns& columns, std::uint32_t link, double score);

}  // namespace bonescan
