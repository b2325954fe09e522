// Scenario parameters that nobody chose: drawn from declared ranges by a text, a commit's hash.
//
// A hold-out must differ with every commit and be the same for everybody who asks again.  Draw k of
// cell c is row k of stream (text, kHoldOut, c): another key or cell moves no other draw.
#pragma once

#include "tools/campaign/campaign_plan.h"

#include <cstdint>
#include <string>

namespace bonescan {

/// Appends what is drawn for the cell to its values and settings.
void draw_cell(const CampaignDraw& draw,
               const std::string& text,
               std::uint32_t cell,
               PlannedCell& planned);

/// By how much a hold-out's seeds are moved: even, so that parity stays.
std::uint64_t hold_out_offset(const std::string& text);

}  // namespace bonescan
