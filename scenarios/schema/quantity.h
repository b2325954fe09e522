// Quantities as a person writes them: 16us, 2%, 400Gbps, 4KiB.
//
// A quantity carries its unit; a bare number where a unit belongs is an error, not a guess.  Values
// are exact: 0.5ns has no representation and is refused.  The text made by format_*() is read back
// to the same value.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan {

// All parsers: @errors kInvalid, with advice as the detail.
Expected<std::int64_t> parse_count(std::string_view text);
Expected<double> parse_number(std::string_view text);
/// "2%" or "0.02".
Expected<double> parse_ratio(std::string_view text);
Expected<Duration> parse_duration(std::string_view text);
Expected<BitsPerSecond> parse_rate(std::string_view text);
Expected<Bytes> parse_size(std::string_view text);

std::string format_number(double value);
/// In the largest unit that gives a whole number: "90s", "2min", "9600ns".
std::string format_duration(Duration value);
std::string format_rate(BitsPerSecond value);
std::string format_size(Bytes value);

}  // namespace bonescan
