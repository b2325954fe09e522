#include "detectors/baselines/loss_crossings.h"

#include <algorithm>

namespace bonescan {

void LossCrossings::add(PairId pair, const TracedPath& path) {
  for (const PathHop& hop : path.request) {
    crossings_.emplace_back(hop.link, pair);
  }
  for (const PathHop& hop : path.answer) {
    crossings_.emplace_back(hop.link, pair);
  }
}

void LossCrossings::release(PairRange pairs) {
  std::erase_if(crossings_, [&](const auto& crossing) { return pairs.holds(crossing.second); });
}

const std::vector<PairId>& LossCrossings::sharing(std::size_t least) {
  std::sort(crossings_.begin(), crossings_.end());
  crossings_.erase(std::unique(crossings_.begin(), crossings_.end()), crossings_.end());
  sharing_.clear();
  for (auto first = crossings_.begin(); first != crossings_.end();) {
    const auto last = std::find_if(
        first, crossings_.end(), [&](const auto& other) { return other.first != first->first; });
    if (static_cast<std::size_t>(last - first) >= least) {
      for (auto one = first; one != last; ++one) {
        sharing_.push_back(one->second);
      }
    }
    first = last;
  }
  std::sort(sharing_.begin(), sharing_.end());
  sharing_.erase(std::unique(sharing_.begin(), sharing_.end()), sharing_.end());
  return sharing_;
}

}  // namespace bonescan
