#include "detectors/shortterm/visit_levels.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace bonescan {
namespace {

/// Visits are short; longer ones are sorted by the library.
constexpr std::size_t kLongestRanking = 16;
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

// Each value's rank is how many are smaller: all comparisons at once, and no branch that depends on
// a value.  Equal values share a rank; the places that stay empty behind it are filled afterwards.
void sort_by_rank(std::span<std::uint32_t> values) {
  using Quad = std::int32_t __attribute__((vector_size(16)));
  constexpr std::size_t kQuads = kLongestRanking / 4;
  constexpr std::uint32_t kSign = 0x80000000;  // signed order of flipped values is unsigned order
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<std::int32_t, kLongestRanking> flipped;
  flipped.fill(std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < values.size(); ++i) {
    flipped[i] = static_cast<std::int32_t>(values[i] ^ kSign);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<Quad, kQuads> lanes;
  std::memcpy(lanes.data(), flipped.data(), sizeof(lanes));
  std::array<Quad, kQuads> ranks{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Quad one = Quad{} + flipped[i];
    for (std::size_t q = 0; q < kQuads; ++q) {
      ranks[q] -= lanes[q] > one;
    }
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<std::int32_t, kLongestRanking> rank;
  std::memcpy(rank.data(), ranks.data(), sizeof(rank));
  std::array<std::uint32_t, kLongestRanking> sorted{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    sorted[static_cast<std::size_t>(rank[i])] = values[i];
  }
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    most = std::max(most, sorted[i]);
    values[i] = most;
  }
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

struct Comparator {
  std::uint8_t low;
  std::uint8_t high;
};

/// Batcher's odd-even merge sort of sixteen: 63 comparators.  @paper Batcher 1968
constexpr std::size_t kComparators = 63;

constexpr std::array<Comparator, kComparators> batcher_network() {
  std::array<Comparator, kComparators> network{};
  std::size_t next = 0;
  for (std::size_t p = 1; p < kMostVisits; p *= 2) {
    for (std::size_t k = p; k >= 1; k /= 2) {
      for (std::size_t j = k % p; j + k < kMostVisits; j += 2 * k) {
        for (std::size_t i = 0; i < k && i + j + k < kMostVisits; ++i) {
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) {
            network[next++] = {static_cast<std::uint8_t>(i + j),
                               static_cast<std::uint8_t>(i + j + k)};
          }
        }
      }
    }
  }
  return network;
}

constexpr auto kNetwork = batcher_network();

template <std::size_t Index>
void compare(std::array<Lanes, kMostVisits>& rows) {
  constexpr Comparator kOne = kNetwork[Index];
  const Lanes a = rows[kOne.low];
  const Lanes b = rows[kOne.high];
  rows[kOne.low] = a < b ? a : b;
  rows[kOne.high] = a < b ? b : a;
}

// Unrolled, so that rows live in registers and what the two middle ones do not need is left out.
template <std::size_t... Indices>
void sort_rows(std::array<Lanes, kMostVisits>& rows, std::index_sequence<Indices...> /*order*/) {
  (compare<Indices>(rows), ...);
}

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
  // Places that are not used are filled from both sides, so that the middle stays the middle.
  constexpr Lanes kNothing{};
  constexpr Lanes kLeast = kNothing + std::numeric_limits<std::int16_t>::min();
  constexpr Lanes kMost = kNothing + std::numeric_limits<std::int16_t>::max();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled at once.
  std::array<Lanes, kMostVisits> rows;
  for (std::size_t i = 0; i < kMostVisits; ++i) {
    if (i < count) {
      rows[i] = kNothing;
      std::memcpy(&rows[i], history[i].data(), sizeof(VisitLevels));
    } else {
      rows[i] = (i - count) % 2 == 0 ? kMost : kLeast;
    }
  }
  sort_rows(rows, std::make_index_sequence<kComparators>());
  constexpr std::size_t kMiddle = kMostVisits / 2 - 1;
  std::array<std::int32_t, kLevelFeatures> doubled{};
  for (std::size_t f = 0; f < kLevelFeatures; ++f) {
    const std::int32_t low = rows[kMiddle][f];
    doubled[f] = low + (count % 2 == 0 ? rows[kMiddle + 1][f] : low);
  }
  return doubled;
}

}  // namespace bonescan
