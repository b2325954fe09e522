// What a visit says about the level of its pair: four order statistics, as small integers.
//
// Intuition: the detector that looks at every visit must be cheap and must remember many of them.
// Levels are compared as logarithms, and a logarithm to one part in two thousand is a sixteen-bit
// integer, so a visit is eight bytes, a history of sixteen two cache lines, and medians of all four
// features come out of one sorting network whose comparators are single instructions.
//
// Invariants: 1. the order of the probes never matters; 2. levels grow with RTTs; 3. integers only
// after the table has been built: equal RTTs give equal levels on every machine.  Thread-safe.
#pragma once

#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bonescan {

/// Levels per nat.
constexpr double kLevelsPerNat = 2048.0;

enum LevelFeature : std::size_t {
  kLevelMedian = 0,
  kLevelMin,
  kLevelP25,
  kLevelP75,
};

constexpr std::size_t kLevelFeatures = 4;

/// Logarithms of RTTs over half a microsecond, in units of 1 / kLevelsPerNat.
using VisitLevels = std::array<std::int16_t, kLevelFeatures>;

/// ln(rtt / 0.5 us) in levels, 0 below it.
std::int16_t level_of(std::uint32_t rtt_ns);

/// Levels of the answered probes; how many they are is returned, 0 leaves `levels` alone.
/// `floor_ns`: smaller RTTs count as this.
/// @paper quartiles interpolate linearly between order statistics
std::size_t visit_levels(std::span<const std::uint32_t> rtts_ns,
                         std::uint32_t floor_ns,
                         VisitLevels& levels);

/// Most visits that a history can have.
constexpr std::size_t kMostVisits = 16;

/// Twice the median of each feature over `history` (twice, so that it stays an integer).
/// REQUIRES: 1 <= history.size() <= kMostVisits.
std::array<std::int32_t, kLevelFeatures> doubled_medians(std::span<const VisitLevels> history);

}  // namespace bonescan
