// Small text forms that the reports for people share.
#pragma once

#include "sim/base/units.h"
#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <optional>
#include <string>
#include <string_view>

namespace bonescan {

/// Nearest double to the exact quotient, so that whole milliseconds print short.
double exact_seconds(Duration duration);
double exact_seconds(Time time);

/// "13:07.5": minutes, seconds and tenths since the start of the run.
std::string clock_text(Time time);
/// "6.2 s", or "-".
std::string seconds_text(std::optional<double> value_s);
/// "98.2 % (491 of 500, 95 % interval 96.6 to 99.1)", or "undefined (no trials)".
std::string ratio_text(const Ratio& ratio);
/// "simulated, seed 7", or "recorded" for replay and "live".
std::string provenance_text(const RunInfo& info);

/// The component named first, or "nothing".
std::string named_component(const RunData& run, const Incident& incident);
/// "host-0.00/rnic-1 -> host-0.01/rnic-1"; "?" for an end that a cut file lost.
std::string pair_text(const RunData& run, PairId pair);
std::string endpoint_text(const RunData& run, EndpointId endpoint);
/// The stages that found something, in order, without repeats: "loss-rule > underlay-vote".
std::string stages_text(const Incident& incident);
/// The stage that found something last, which is the one that placed the incident; may be empty.
std::string decisive_stage(const Incident& incident);

/// Columns on a terminal, one for each code point.
std::size_t display_width(std::string_view text);
/// Control characters become blanks, all but the newline: a name must not steer a terminal.
std::string without_control_characters(std::string text);
/// One line, cut with an ellipsis or filled with blanks to exactly `width` columns.  REQUIRES:
/// width >= 1.
std::string fit(std::string_view text, std::size_t width);

}  // namespace bonescan
