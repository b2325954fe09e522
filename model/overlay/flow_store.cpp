#include "model/overlay/flow_store.h"

#include "model/overlay/eswitch.h"

#include <algorithm>

namespace bonescan {

QuadId FlowStore::find_or_add(RnicId a, RnicId b, const std::vector<Job>& jobs) {
  const RnicId low = std::min(a, b);
  const RnicId high = std::max(a, b);
  if (by_rnic_.size() <= high.index()) {
    by_rnic_.resize(high.index() + 1);
    peers_.resize(high.index() + 1);
  }
  std::vector<Peer>& peers = peers_[low.index()];
  const auto place = std::lower_bound(peers.begin(), peers.end(), high, &FlowStore::before);
  if (place != peers.end() && place->rnic == high) {
    return place->quad;
  }
  FlowQuad quad;
  quad.ends = {low, high};
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    const TrafficKind traffic = jobs[j].traffic(low, high);
    if (traffic != TrafficKind::kNone) {
      quad.traffic = traffic;
      quad.job = JobId(j);
      quad.stage = jobs[j].coordinate(low)->pipeline;
    }
  }
  if (eswitch_ != nullptr) {
    eswitch_->admit(quad);
  }
  const QuadId id = quads_.push_back(quad);
  if (has_marked_) {
    MarkedFlows& marked = *marked_[marked_.push_back(std::make_unique<MarkedFlows>())];
    for (Megaflow& flow : marked) {
      flow.offloadable = eswitch_ == nullptr || eswitch_->offloads();
    }
  }
  peers.insert(place, {high, id});
  by_rnic_[low.index()].push_back(id);
  by_rnic_[high.index()].push_back(id);
  return id;
}

std::optional<QuadId> FlowStore::find(RnicId a, RnicId b) const {
  const RnicId low = std::min(a, b);
  const RnicId high = std::max(a, b);
  if (low.index() >= peers_.size()) {
    return std::nullopt;
  }
  const std::vector<Peer>& peers = peers_[low.index()];
  const auto place = std::lower_bound(peers.begin(), peers.end(), high, &FlowStore::before);
  if (place == peers.end() || place->rnic != high) {
    return std::nullopt;
  }
  return place->quad;
}

const std::vector<QuadId>& FlowStore::of(RnicId rnic) const {
  static const std::vector<QuadId> kNone;
  return rnic.index() < by_rnic_.size() ? by_rnic_[rnic.index()] : kNone;
}

}  // namespace bonescan
