// report.html: one self-contained page about a run, without scripts or outside resources.
//
// Invariant: every name and text of the run is escaped; the page stays valid whatever they hold.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <string>

namespace bonescan {

std::string report_html(const RunData& run, const Evaluation& evaluation);

}  // namespace bonescan
