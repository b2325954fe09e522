#include "scenarios/schema/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace bonescan {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;  ///< in the base unit
};

struct UnitSystem {
  std::span<const Unit> units;  ///< from small to large: the formatter takes the last that divides
  std::string_view usual;       ///< the one to show in advice
};

constexpr std::array kDurationList = {Unit{"ns", 1},
                                      Unit{"us", 1'000},
                                      Unit{"ms", 1'000'000},
                                      Unit{"s", 1'000'000'000},
                                      Unit{"min", 60'000'000'000},
                                      Unit{"h", 3'600'000'000'000}};
constexpr std::array kRateList = {Unit{"bps", 1},
                                  Unit{"Kbps", 1'000},
                                  Unit{"Mbps", 1'000'000},
                                  Unit{"Gbps", 1'000'000'000},
                                  Unit{"Tbps", 1'000'000'000'000}};
constexpr std::array kSizeList = {Unit{"B", 1}, Unit{"KiB", 1'024}, Unit{"MiB", 1'048'576}};
constexpr UnitSystem kDurationUnits{kDurationList, "s"};
constexpr UnitSystem kRateUnits{kRateList, "Gbps"};
constexpr UnitSystem kSizeUnits{kSizeList, "B"};

std::string names(const UnitSystem& system) {
  std::string result;
  for (const Unit& unit : system.units) {
    result += (result.empty() ? "" : ", ") + std::string(unit.name);
  }
  return result;
}

/// mantissa / 10^decimals, exactly.
struct Decimal {
  std::int64_t mantissa = 0;
  std::int64_t divisor = 1;
  std::size_t length = 0;  ///< characters eaten; 0: no number here
};

/// Up to 18 digits with an optional sign and point.
Decimal take_decimal(std::string_view text) {
  constexpr int kMaxDigits = 18;
  Decimal result;
  int digits = 0;
  bool fraction = false;
  std::size_t i = text.starts_with('-') ? 1 : 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !fraction && digits > 0) {
      fraction = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') {
      break;
    }
    if (++digits > kMaxDigits) {
      return {};
    }
    result.mantissa = result.mantissa * 10 + (text[i] - '0');
    result.divisor *= fraction ? 10 : 1;
  }
  if (digits == 0 || text[i - 1] == '.') {
    return {};
  }
  result.mantissa = text.starts_with('-') ? -result.mantissa : result.mantissa;
  result.length = i;
  return result;
}

Expected<std::int64_t> parse_with_unit(std::string_view text, const UnitSystem& system) {
  const Decimal number = take_decimal(text);
  if (number.length == 0) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format(
            "write a number and a unit, as in 10{} (units: {})", system.usual, names(system)));
  }
  const std::string_view name = text.substr(number.length);
  if (name.empty()) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("add a unit, as in {}{} (units: {})", text, system.usual, names(system)));
  }
  for (const Unit& unit : system.units) {
    if (unit.name != name) {
      continue;
    }
    const Int128 scaled = static_cast<Int128>(number.mantissa) * unit.factor;
    if (scaled % number.divisor != 0) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("use a whole number of {}", system.units.front().name));
    }
    const Int128 value = scaled / number.divisor;
    constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
    if (value > kMax || value < -kMax) {
      return fail(ErrorCode::kInvalid, "this is far too large");
    }
    return static_cast<std::int64_t>(value);
  }
  return fail(
      ErrorCode::kInvalid,
      fmt::format("the unit follows the number without a blank and is one of {}", names(system)));
}

std::string format_with_unit(std::int64_t value, const UnitSystem& system) {
  const Unit* best = &system.units.front();
  for (const Unit& unit : system.units) {
    best = value != 0 && value % unit.factor == 0 ? &unit : best;
  }
  return fmt::format("{}{}", value / best->factor, best->name);
}

}  // namespace

Expected<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc() || stop != text.data() + text.size()) {
    return fail(ErrorCode::kInvalid, "write a whole number in digits, without a unit");
  }
  return value;
}

Expected<double> parse_number(std::string_view text) {
  double value = 0.0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool complete = status == std::errc() && stop == text.data() + text.size();
  if (text.empty() || !complete || !std::isfinite(value)) {
    return fail(ErrorCode::kInvalid, "write a plain number, as in 0.5 or 1e-5");
  }
  return value;
}

Expected<double> parse_ratio(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!value) {
    return fail(ErrorCode::kInvalid,
                "write a share as a percentage or a fraction, as in 2% or 0.02");
  }
  return percent ? *value / 100.0 : *value;
}

Expected<Duration> parse_duration(std::string_view text) {
  return parse_with_unit(text, kDurationUnits).map([](std::int64_t ns) { return Duration(ns); });
}

Expected<BitsPerSecond> parse_rate(std::string_view text) {
  return parse_with_unit(text, kRateUnits).map([](std::int64_t bps) { return BitsPerSecond(bps); });
}

Expected<Bytes> parse_size(std::string_view text) {
  return parse_with_unit(text, kSizeUnits).map([](std::int64_t count) { return Bytes(count); });
}

std::string format_number(double value) {
  return fmt::format("{}", value);
}

std::string format_duration(Duration value) {
  return value == Duration::zero() ? "0s" : format_with_unit(value.count(), kDurationUnits);
}

std::string format_rate(BitsPerSecond value) {
  return format_with_unit(value.count(), kRateUnits);
}

std::string format_size(Bytes value) {
  return format_with_unit(value.count(), kSizeUnits);
}

}  // namespace bonescan
