#include "planner/matrix/path_coverage.h"

#include "sim/base/check.h"

#include <vector>

namespace bonescan {
namespace {

/// How many paths have been hit: the probability of each number.
class HitPaths final {
 public:
  explicit HitPaths(std::uint32_t paths) : probability_(paths + 1) { probability_[0] = 1.0; }

  void add_flow() {
    const std::size_t paths = probability_.size() - 1;
    for (std::size_t hit = paths; hit > 0; --hit) {
      const double again = static_cast<double>(hit) / static_cast<double>(paths);
      const double fresh = static_cast<double>(paths - hit + 1) / static_cast<double>(paths);
      probability_[hit] = probability_[hit] * again + probability_[hit - 1] * fresh;
    }
    probability_[0] = 0.0;
  }

  double all() const { return probability_.back(); }

 private:
  std::vector<double> probability_;
};

}  // namespace

double all_paths_covered(std::uint32_t paths, std::uint32_t flows) {
  BONESCAN_CHECK(paths > 0);
  HitPaths hit(paths);
  for (std::uint32_t i = 0; i < flows; ++i) {
    hit.add_flow();
  }
  return hit.all();
}

std::uint32_t flows_to_cover(std::uint32_t paths, double probability) {
  BONESCAN_CHECK(paths > 0);
  BONESCAN_CHECK(probability >= 0.0 && probability < 1.0);
  HitPaths hit(paths);
  std::uint32_t flows = 0;
  while (flows < paths || hit.all() < probability) {
    hit.add_flow();
    ++flows;
  }
  return flows;
}

}  // namespace bonescan
