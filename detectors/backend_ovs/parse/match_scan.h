// Reads a match, "ipv4(src=10.0.0.1/0.0.0.0),udp(dst=4791)" or "udp,nw_src=10.0.0.1", into fields.
//
// One pass without recursion: an open bracket lengthens the path, a closing one shortens it.  A
// group without content ("eth()") is a bare word.  Depth and length of keys are bounded, so that
// the output is at most a constant times the input.
#pragma once

#include "detectors/backend_ovs/parse/match_field.h"
#include "detectors/backend_ovs/parse/text_scan.h"
#include "sim/base/error.h"

#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// Appends to `fields`.  `text` must be a part of `line.text`.
/// @errors kInvalid "line:column: expected ..."
Expected<void> scan_match(const Line& line, std::string_view text, std::vector<MatchField>& fields);

}  // namespace bonescan::backend_ovs
