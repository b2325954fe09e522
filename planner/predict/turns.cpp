#include "planner/predict/turns.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

std::vector<double> counted_visits(std::uint64_t visits, double each, std::uint64_t most) {
  std::vector<double> shares(std::min(visits, most) + 1, 0.0);
  double rest = 1.0;
  double share = std::pow(1.0 - each, static_cast<double>(visits));
  for (std::uint64_t i = 0; i + 1 < shares.size(); ++i) {
    shares[i] = share;
    rest -= share;
    const auto left = static_cast<double>(visits - i);
    share = each < 1.0 ? share * left / static_cast<double>(i + 1) * each / (1.0 - each) : 0.0;
  }
  shares.back() = std::max(0.0, rest);
  return shares;
}

}  // namespace bonescan
