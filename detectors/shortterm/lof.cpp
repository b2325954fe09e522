#include "detectors/shortterm/lof.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

using Row = std::array<double, kMaxHistory>;

// Direct differences: |x|^2 - 2xy + |y|^2 would cancel when windows are nearly equal.
double distance(const FeatureVector& a, const FeatureVector& b) {
  double squares = 0.0;
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    const double difference = a[f] - b[f];
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

double smallest(Row distances, std::size_t count, std::size_t rank) {
  const auto nth = distances.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(distances.begin(), nth, distances.begin() + static_cast<std::ptrdiff_t>(count));
  return *nth;
}

// Mean reachability distance of one point: the inverse of its local reachability density.  Every
// point within the k-distance is a neighbour, so a tie never depends on the order of rows.
double mean_reach(const Row& distances,
                  std::size_t count,
                  double k_distance,
                  const Row& k_distances,
                  double floor) {
  double sum = 0.0;
  double neighbours = 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    if (distances[j] <= k_distance) {
      sum += std::max(std::max(distances[j], k_distances[j]), floor);
      neighbours += 1.0;
    }
  }
  return sum / neighbours;
}

struct Distances {
  std::array<Row, kMaxHistory>
      history;  ///< infinite on the diagonal: no point is its own neighbour
  Row query;
  bool finite;
};

Distances all_distances(std::span<const FeatureVector> history, const FeatureVector& query) {
  Distances all{};
  double total = 0.0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double d = distance(history[i], history[j]);
      all.history[i][j] = d;
      all.history[j][i] = d;
      total += d;
    }
    all.history[i][i] = HUGE_VAL;
    all.query[i] = distance(query, history[i]);
    total += all.query[i];
  }
  // A NaN or an infinity in any coordinate is in some distance, and so in the total.
  all.finite = std::isfinite(total);
  return all;
}

}  // namespace

std::optional<double> local_outlier_factor(std::span<const FeatureVector> history,
                                           const FeatureVector& query,
                                           const LofOptions& options) {
  const std::size_t count = history.size();
  const std::size_t k = options.neighbours;
  BONESCAN_CHECK(k >= 1);
  BONESCAN_CHECK(count <= kMaxHistory);
  if (count < k + 1) {
    return std::nullopt;
  }
  const Distances all = all_distances(history, query);
  if (!all.finite) {
    return std::nullopt;
  }
  Row k_distances{};
  for (std::size_t i = 0; i < count; ++i) {
    k_distances[i] = smallest(all.history[i], count, k);
  }
  const double query_k_distance = smallest(all.query, count, k);
  const double query_reach =
      mean_reach(all.query, count, query_k_distance, k_distances, options.distance_floor);
  if (query_reach == 0.0) {
    return 1.0;
  }
  double ratios = 0.0;
  double neighbours = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    if (all.query[i] <= query_k_distance) {
      const double reach =
          mean_reach(all.history[i], count, k_distances[i], k_distances, options.distance_floor);
      // Infinite for duplicates without a floor, and so bounded.
      ratios += std::min(query_reach / reach, kMaxDensityRatio);
      neighbours += 1.0;
    }
  }
  return ratios / neighbours;
}

}  // namespace bonescan
