#include "tools/campaign/cell_draws.h"

#include "sim/base/fingerprint.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bonescan {
namespace {

constexpr int kDigits = 4;  ///< significant ones of a drawn number
constexpr int kMaxDecimals = 12;

std::uint64_t text_seed(const std::string& text) {
  Fingerprint fingerprint;
  fingerprint.add(std::string_view(text));
  return fingerprint.value();
}

/// Without an exponent, which no quantity has, and without trailing zeros.
std::string plain_number(double value) {
  const double magnitude = std::abs(value);
  const int leading = magnitude > 0.0 ? static_cast<int>(std::floor(std::log10(magnitude))) : 0;
  std::string text =
      fmt::format("{:.{}f}", value, std::clamp(kDigits - 1 - leading, 0, kMaxDecimals));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text;
}

/// @param u uniform in (0, 1)
double drawn_value(const DrawnKey& drawn, double u) {
  switch (drawn.law) {
    case DrawnKey::Law::kLogUniform:
      return drawn.low * std::pow(drawn.high / drawn.low, u);
    case DrawnKey::Law::kInteger:
      return std::min(drawn.high, drawn.low + std::floor(u * (drawn.high - drawn.low + 1.0)));
    case DrawnKey::Law::kUniform:
    case DrawnKey::Law::kChoice:
      break;
  }
  return drawn.low + u * (drawn.high - drawn.low);
}

SweepValue draw_value(const DrawnKey& drawn, double u) {
  if (drawn.law == DrawnKey::Law::kChoice) {
    const auto count = static_cast<double>(drawn.choices.size());
    const auto index = static_cast<std::size_t>(u * count);
    return drawn.choices[std::min(index, drawn.choices.size() - 1)];
  }
  const double value = drawn_value(drawn, u);
  const std::string text =
      (drawn.law == DrawnKey::Law::kInteger ? fmt::format("{:.0f}", value) : plain_number(value)) +
      drawn.unit;
  return {text, {{drawn.key + "=" + text, drawn.at, drawn.path}}};
}

}  // namespace

void draw_cell(const CampaignDraw& draw,
               const std::string& text,
               std::uint32_t cell,
               PlannedCell& planned) {
  const RngStream stream(text_seed(text), Purpose::kHoldOut, cell);
  for (std::size_t k = 0; k < draw.keys.size(); ++k) {
    const SweepValue value = draw_value(draw.keys[k], stream.open01_at(k));
    planned.cell.values.emplace_back(draw.keys[k].name, value.name);
    planned.settings.insert(planned.settings.end(), value.settings.begin(), value.settings.end());
  }
}

std::uint64_t hold_out_offset(const std::string& text) {
  constexpr std::uint64_t kSpan = std::uint64_t{1} << 40;
  return 2 * (kSpan + text_seed(text) % kSpan);
}

}  // namespace bonescan
