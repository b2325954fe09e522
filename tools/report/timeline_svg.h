// The timeline of a run as inline SVG: one lane per layer, faults above, incidents below.
//
// Every bar carries its own label, and its state is in the label as well as in the colour.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <string>
#include <string_view>

namespace bonescan {

/// For text and attribute values: & < > " ' and control characters.
std::string escape_html(std::string_view text);

/// An <svg> element that needs the style sheet of report.html.
std::string timeline_svg(const RunData& run, const Evaluation& evaluation);

}  // namespace bonescan
