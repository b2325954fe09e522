// Results as bytes, for the way from one process to another.
//
// ENSURES: decode(encode(x)) is x, every double bit for bit.
#pragma once

#include "sim/base/error.h"
#include "tools/campaign/crew.h"

#include <string>
#include <string_view>

namespace bonescan {

std::string encode_report(const CrewReport& report);

/// @errors kInvalid if these are not the bytes of a report
Expected<CrewReport> decode_report(std::string_view bytes);

}  // namespace bonescan
