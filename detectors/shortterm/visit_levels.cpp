#include "detectors/shortterm/visit_levels.h"

#include "detectors/shortterm/sorting_network.h"
#include "detectors/telemetry/probe.h"
#include "detectors/window/rank_sort.h"
#include "sim/base/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace bonescan {
namespace {

constexpr std::size_t kLongestVisit = 256;

constexpr std::uint32_t kLeastRttNs = 500;

constexpr unsigned kTableBits = 8;
constexpr unsigned kFractionBits = 20;  ///< of the logarithms in the table
constexpr unsigned kLevelShift = 9;     ///< 2^20 per nat to 2^11

/// ln(1 + i / 256) and ln 2, in units of 2^-20.
struct LogTable {
  std::array<std::uint32_t, (std::size_t{1} << kTableBits) + 1> mantissa{};
  std::uint32_t two = 0;

  LogTable() {
    constexpr double kUnit = 1U << kFractionBits;
    for (std::size_t i = 0; i < mantissa.size(); ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(mantissa.size() - 1);
      mantissa[i] = static_cast<std::uint32_t>(std::lround(std::log1p(x) * kUnit));
    }
    two = static_cast<std::uint32_t>(std::lround(std::log(2.0) * kUnit));
  }

  /// ln(value) in units of 2^-20.  REQUIRES: value > 0.
  std::uint32_t log(std::uint32_t value) const {
    const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 1;
    const std::uint32_t fraction = (value << (31 - exponent)) & 0x7FFFFFFF;  // 31 bits
    const std::uint32_t index = fraction >> (31 - kTableBits);
    const std::uint32_t rest = (fraction >> 7) & 0xFFFF;
    const std::uint32_t low = mantissa[index];
    return exponent * two + low + (((mantissa[index + 1] - low) * rest) >> 16);
  }
};

const LogTable kLog;

std::int16_t level_over(std::uint32_t log_floor, std::uint32_t rtt_ns) {
  const std::uint32_t log = kLog.log(std::max(rtt_ns, kLeastRttNs));
  return static_cast<std::int16_t>((log - log_floor) >> kLevelShift);
}

void sort(std::span<std::uint32_t> values) {
  if (values.size() <= kLongestRanking) {
    sort_by_rank(values);
  } else {
    std::sort(values.begin(), values.end());
  }
}

std::uint32_t quartile(std::span<const std::uint32_t> sorted, std::size_t quarter) {
  const std::size_t position = (sorted.size() - 1) * quarter;
  const std::size_t below = position / 4;
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const std::uint64_t low = sorted[below];
  const std::uint64_t high = sorted[above];
  return static_cast<std::uint32_t>(low + (high - low) * (position % 4) / 4);
}

// Eight lanes of sixteen bits; four of them are used.
using Lanes = std::int16_t __attribute__((vector_size(16)));

}  // namespace

std::int16_t level_of(std::uint32_t rtt_ns) {
  return level_over(kLog.log(kLeastRttNs), rtt_ns);
}

std::size_t visit_levels(std::span<const std::uint32_t> rtts_ns,
                         std::uint32_t floor_ns,
                         VisitLevels& levels) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only written places are read.
  std::array<std::uint32_t, kLongestVisit> buffer;
  std::size_t count = 0;
  for (const std::uint32_t rtt_ns : rtts_ns.first(std::min(rtts_ns.size(), kLongestVisit))) {
    buffer[count] = std::max(rtt_ns, floor_ns);
    count += answered(rtt_ns) ? 1U : 0U;
  }
  if (count == 0) {
    return 0;
  }
  const std::span<std::uint32_t> sorted = std::span(buffer).first(count);
  sort(sorted);
  const std::uint32_t log_floor = kLog.log(kLeastRttNs);
  levels[kLevelMedian] = level_over(log_floor, quartile(sorted, 2));
  levels[kLevelMin] = level_over(log_floor, sorted.front());
  levels[kLevelP25] = level_over(log_floor, quartile(sorted, 1));
  levels[kLevelP75] = level_over(log_floor, quartile(sorted, 3));
  return count;
}

std::array<std::int32_t, kLevelFeatures> doubled_medians(std::span<const VisitLevels> history) {
  const std::size_t count = history.size();
  BONESCAN_DCHECK(count >= 1 && count <= kMostVisits);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<Lanes, kMostVisits> rows;
  static_assert(kMostVisits == kNetworkRows);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = Lanes{};
    std::memcpy(&rows[i], history[i].data(), sizeof(VisitLevels));
  }
  fill_rest<std::int16_t>(rows, count);
  sort_rows(rows);
  constexpr std::size_t kMiddle = kMostVisits / 2 - 1;
  std::array<std::int32_t, kLevelFeatures> doubled{};
  for (std::size_t f = 0; f < kLevelFeatures; ++f) {
    const std::int32_t low = rows[kMiddle][f];
    doubled[f] = low + (count % 2 == 0 ? rows[kMiddle + 1][f] : low);
  }
  return doubled;
}

}  // namespace bonescan
