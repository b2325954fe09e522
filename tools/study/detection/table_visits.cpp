#include "tools/study/detection/table_visits.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"
#include "tools/study/detection/information_bound.h"
#include "tools/study/detection/noise_world.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr std::size_t kCells = 1 << 16;

const std::vector<std::uint32_t>& quantiles() {
  static const std::vector<std::uint32_t> kTable = [] {
    const ProbeDensity density(kFarBaseUs);
    std::vector<std::uint32_t> table;
    double below = 0.0;
    std::size_t cell = 0;
    for (std::size_t i = 0; i <= kCells; ++i) {
      const double u = std::clamp(static_cast<double>(i) / kCells, 1e-7, 1.0 - 1e-7);
      while (cell + 1 < ProbeDensity::kCells && below + density.mass(cell) < u) {
        below += density.mass(cell++);
      }
      const double share = std::clamp((u - below) / density.mass(cell), 0.0, 1.0);
      table.push_back(static_cast<std::uint32_t>(1000.0 * ProbeDensity::kStepUs *
                                                 (static_cast<double>(cell) + share)));
    }
    return table;
  }();
  return kTable;
}

/// @param share of 1 << 16
std::uint32_t between(const std::vector<std::uint32_t>& table,
                      std::size_t cell,
                      std::uint64_t share) {
  return table[cell] + static_cast<std::uint32_t>(((table[cell + 1] - table[cell]) * share) >> 16);
}

}  // namespace

TableVisits::TableVisits(std::uint64_t seed) : seed_(seed), rtts_(kPairs * kProbes) {
  for (std::size_t p = 0; p < kPairs; ++p) {
    visits_.push_back({.pair = PairId(static_cast<std::uint32_t>(p)),
                       .start = {},
                       .rtts_ns = std::span(rtts_).subspan(p * kProbes, kProbes)});
  }
}

std::span<const ObservedVisit> TableVisits::turn(std::uint32_t turn) {
  const RngStream noise(seed_, Purpose::kDetectionCheck, turn);
  const std::vector<std::uint32_t>& table = quantiles();
  for (std::size_t row = 0; row < rtts_.size(); row += 4) {
    const PhiloxCounter words = noise.block(row / 4);
    for (std::size_t i = 0; i < 4; ++i) {
      rtts_[row + i] = between(table, words[i] >> 16, words[i] & 0xFFFFU);
    }
  }
  return started(turn);
}

std::span<const ObservedVisit> TableVisits::turn_at(std::uint32_t turn,
                                                    std::span<const double> places) {
  BONESCAN_CHECK(places.size() == rtts_.size());
  const std::vector<std::uint32_t>& table = quantiles();
  for (std::size_t row = 0; row < rtts_.size(); ++row) {
    const auto place = static_cast<std::uint64_t>(places[row] * 0x1.0p32);
    rtts_[row] = between(table, std::min<std::uint64_t>(place >> 16, kCells - 1), place & 0xFFFFU);
  }
  return started(turn);
}

std::span<const ObservedVisit> TableVisits::started(std::uint32_t turn) {
  for (ObservedVisit& visit : visits_) {
    visit.start = kStartOfRun + std::chrono::seconds(turn);
  }
  return visits_;
}

}  // namespace bonescan
