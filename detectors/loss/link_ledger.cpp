#include "detectors/loss/link_ledger.h"

#include "detectors/localize/path_book.h"
#include "detectors/localize/underlay_vote.h"

#include <algorithm>

namespace bonescan {

void LinkLedger::advance(Time now) {
  const std::int64_t wanted = now.time_since_epoch() / slice_;
  if (wanted == current_) {
    return;
  }
  const std::int64_t stale =
      std::min<std::int64_t>(wanted - current_, static_cast<std::int64_t>(kSlices));
  for (std::int64_t i = 1; i <= stale; ++i) {
    const auto slot = static_cast<std::size_t>((current_ + i) % static_cast<std::int64_t>(kSlices));
    for (Link& link : links_) {
      link.sum.visits -= link.slices[slot].visits;
      link.sum.lossy -= link.slices[slot].lossy;
      link.slices[slot] = {};
    }
  }
  current_ = wanted;
  touched_.clear();
}

void LinkLedger::add(const TracedPath& path, bool lossy) {
  const auto slot = static_cast<std::size_t>(current_ % static_cast<std::int64_t>(kSlices));
  for_each_hop(path, [&](const PathHop& hop) {
    const std::size_t index = index_of(hop);
    if (index >= links_.size()) {
      links_.resize(index + 1);
    }
    Link& link = links_[index];
    ++link.slices[slot].visits;
    ++link.sum.visits;
    if (lossy) {
      ++link.slices[slot].lossy;
      ++link.sum.lossy;
      touched_.push_back(index);
    }
  });
}

bool LinkLedger::suspicious(double base, double open_llr) const {
  return std::any_of(touched_.begin(), touched_.end(), [&](std::size_t index) {
    const Tally& sum = links_[index].sum;
    return sum.lossy > 1 && bad_ratio_llr(sum.visits, sum.lossy, base) >= open_llr;
  });
}

}  // namespace bonescan
