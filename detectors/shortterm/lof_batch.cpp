#include "detectors/shortterm/lof_batch.h"

#include "sim/base/check.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__)
#define BONESCAN_HAS_AVX2_KERNEL 1
#endif

// Inlined into each kernel, so that it is compiled once per instruction set.
#define BONESCAN_LANE_CODE [[gnu::always_inline]] inline

namespace bonescan {
namespace {

// Lanes of one register.  A compiler extension and not a loop: loops with selects and square roots
// were left scalar.  Passed by reference only, so the calling convention never matters.
using TwoLanes [[gnu::vector_size(2 * sizeof(double))]] = double;
using FourLanes [[gnu::vector_size(4 * sizeof(double))]] = double;

template <class Lanes>
constexpr std::size_t kLaneCount = sizeof(Lanes) / sizeof(double);

template <class Lanes>
struct Scratch {
  std::array<std::array<Lanes, kMaxHistory>, kMaxHistory> distance;
  std::array<Lanes, kMaxHistory> query_distance;
  std::array<Lanes, kMaxHistory> k_distance;
  Lanes query_k_distance;
  Lanes total;
};

template <class Lanes>
BONESCAN_LANE_CODE void square_root(Lanes& values) {
#if defined(__SSE2__)
  // Half-width on purpose: the divider is no wider, and every kernel may use it.
  std::array<double, kLaneCount<Lanes>> parts{};
  std::memcpy(parts.data(), &values, sizeof(values));
  for (std::size_t lane = 0; lane < parts.size(); lane += 2) {
    _mm_storeu_pd(&parts[lane], _mm_sqrt_pd(_mm_loadu_pd(&parts[lane])));
  }
  std::memcpy(&values, parts.data(), sizeof(values));
#else
  for (std::size_t lane = 0; lane < kLaneCount<Lanes>; ++lane) {
    values[lane] = std::sqrt(values[lane]);
  }
#endif
}

template <class Lanes>
BONESCAN_LANE_CODE void distances_of(const std::array<LofLanes, kFeatureCount>& a,
                                     const std::array<LofLanes, kFeatureCount>& b,
                                     std::size_t first_lane,
                                     Lanes& out) {
  Lanes squares{};
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    Lanes left;
    Lanes right;
    std::memcpy(&left, &a[f][first_lane], sizeof(left));
    std::memcpy(&right, &b[f][first_lane], sizeof(right));
    const Lanes difference = left - right;
    squares += difference * difference;
  }
  square_root(squares);
  out = squares;
}

// Keeps the k smallest values in order; a new value pushes the largest out.
template <std::size_t kFixed, class Lanes>
BONESCAN_LANE_CODE void k_smallest(const std::array<Lanes, kMaxHistory>& values,
                                   std::size_t count,
                                   std::size_t k,
                                   Lanes& out) {
  const std::size_t kept = kFixed != 0 ? kFixed : k;
  std::array<Lanes, kFixed != 0 ? kFixed : kMaxHistory> best{};
  for (std::size_t m = 0; m < kept; ++m) {
    best[m] = Lanes{} + HUGE_VAL;
  }
  for (std::size_t j = 0; j < count; ++j) {
    Lanes carried = values[j];
    for (std::size_t m = 0; m < kept; ++m) {
      const Lanes held = best[m];
      best[m] = carried < held ? carried : held;
      carried = carried < held ? held : carried;
    }
  }
  out = best[kept - 1];
}

template <class Lanes>
BONESCAN_LANE_CODE void mean_reaches(const std::array<Lanes, kMaxHistory>& distances,
                                     std::size_t count,
                                     const Lanes& k_distance,
                                     const Scratch<Lanes>& scratch,
                                     double floor,
                                     Lanes& out) {
  const Lanes floors = Lanes{} + floor;
  const Lanes zeros{};
  const Lanes ones = zeros + 1.0;
  Lanes sums{};
  Lanes neighbours{};
  for (std::size_t j = 0; j < count; ++j) {
    const Lanes d = distances[j];
    const Lanes other = scratch.k_distance[j];
    Lanes reach = d < other ? other : d;
    reach = reach < floors ? floors : reach;
    sums += d <= k_distance ? reach : zeros;
    neighbours += d <= k_distance ? ones : zeros;
  }
  out = sums / neighbours;
}

template <class Lanes>
BONESCAN_LANE_CODE void all_distances(const LofBlock& block,
                                      std::size_t first_lane,
                                      std::size_t count,
                                      Scratch<Lanes>& scratch) {
  scratch.total = Lanes{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Lanes d;
      distances_of(block.history[i], block.history[j], first_lane, d);
      scratch.distance[i][j] = d;
      scratch.distance[j][i] = d;
      scratch.total += d;
    }
    scratch.distance[i][i] = Lanes{} + HUGE_VAL;
    distances_of(block.query, block.history[i], first_lane, scratch.query_distance[i]);
    scratch.total += scratch.query_distance[i];
  }
}

template <class Lanes>
BONESCAN_LANE_CODE void all_k_distances(std::size_t count, std::size_t k, Scratch<Lanes>& scratch) {
  // The default k is worth registers of its own.
  constexpr std::size_t kUsual = 5;
  if (k == kUsual) {
    for (std::size_t i = 0; i < count; ++i) {
      k_smallest<kUsual>(scratch.distance[i], count, k, scratch.k_distance[i]);
    }
    k_smallest<kUsual>(scratch.query_distance, count, k, scratch.query_k_distance);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    k_smallest<0>(scratch.distance[i], count, k, scratch.k_distance[i]);
  }
  k_smallest<0>(scratch.query_distance, count, k, scratch.query_k_distance);
}

template <class Lanes>
BONESCAN_LANE_CODE void factors(const LofBlock& block,
                                std::size_t first_lane,
                                std::size_t count,
                                const LofOptions& options,
                                LofLanes& out) {
  Scratch<Lanes> scratch;  // NOLINT(cppcoreguidelines-pro-type-member-init): 8 KiB, written first
  all_distances(block, first_lane, count, scratch);
  all_k_distances(count, options.neighbours, scratch);
  const double floor = options.distance_floor;
  const Lanes zeros{};
  const Lanes ones = zeros + 1.0;
  const Lanes bound = zeros + kMaxDensityRatio;
  Lanes query_reach;
  mean_reaches(
      scratch.query_distance, count, scratch.query_k_distance, scratch, floor, query_reach);
  Lanes ratios{};
  Lanes neighbours{};
  for (std::size_t i = 0; i < count; ++i) {
    Lanes reach;
    mean_reaches(scratch.distance[i], count, scratch.k_distance[i], scratch, floor, reach);
    Lanes ratio = query_reach / reach;  // infinite for duplicates without a floor, and so bounded
    ratio = bound < ratio ? bound : ratio;
    const auto near = scratch.query_distance[i] <= scratch.query_k_distance;
    ratios += near ? ratio : zeros;
    neighbours += near ? ones : zeros;
  }
  Lanes factor = ratios / neighbours;
  factor = query_reach == zeros ? ones : factor;
  factor += scratch.total - scratch.total;  // nothing for a finite total, NaN otherwise
  std::memcpy(&out[first_lane], &factor, sizeof(factor));
}

void factors_portable(const LofBlock& block,
                      std::size_t count,
                      const LofOptions& options,
                      LofLanes& out) {
  for (std::size_t lane = 0; lane < kLofLanes; lane += kLaneCount<TwoLanes>) {
    factors<TwoLanes>(block, lane, count, options, out);
  }
}

#if defined(BONESCAN_HAS_AVX2_KERNEL)
[[gnu::target("avx2")]] void factors_avx2(const LofBlock& block,
                                          std::size_t count,
                                          const LofOptions& options,
                                          LofLanes& out) {
  for (std::size_t lane = 0; lane < kLofLanes; lane += kLaneCount<FourLanes>) {
    factors<FourLanes>(block, lane, count, options, out);
  }
}
#endif

}  // namespace

bool lof_kernel_available(LofKernel kernel) {
#if defined(BONESCAN_HAS_AVX2_KERNEL)
  if (kernel == LofKernel::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0;
  }
#endif
  return kernel == LofKernel::kPortable;
}

LofKernel best_lof_kernel() {
  return lof_kernel_available(LofKernel::kAvx2) ? LofKernel::kAvx2 : LofKernel::kPortable;
}

LofLanes local_outlier_factors(const LofBlock& block,
                               std::size_t history_count,
                               const LofOptions& options,
                               LofKernel kernel) {
  BONESCAN_CHECK(options.neighbours >= 1);
  BONESCAN_CHECK(options.neighbours + 1 <= history_count);
  BONESCAN_CHECK(history_count <= kMaxHistory);
  LofLanes out;
#if defined(BONESCAN_HAS_AVX2_KERNEL)
  if (kernel == LofKernel::kAvx2) {
    factors_avx2(block, history_count, options, out);
    return out;
  }
#endif
  BONESCAN_CHECK(kernel == LofKernel::kPortable);
  factors_portable(block, history_count, options, out);
  return out;
}

}  // namespace bonescan
