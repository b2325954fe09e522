// The JSON form of tc's listing (`tc -j`), apart from the text form because of its library.
#pragma once

#include "detectors/backend_ovs/parse/tc_filters.h"
#include "sim/base/error.h"

#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// @errors kInvalid "line:column: expected ..."
Expected<std::vector<TcFilter>> parse_tc_json(std::string_view text);

}  // namespace bonescan::backend_ovs
