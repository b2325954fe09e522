#include "model/overlay/flow_store.h"

#include "model/overlay/eswitch.h"

#include <algorithm>

namespace bonescan {
namespace {

void trace_traffic(FlowQuad& quad, const JobTable& jobs) {
  const JobPlace& here = jobs.place(quad.ends[0]);
  if (here.job.valid() && here.job == jobs.place(quad.ends[1]).job) {
    const TrafficKind traffic = jobs[here.job.index()].traffic(quad.ends[0], quad.ends[1]);
    if (traffic != TrafficKind::kNone) {
      quad.traffic = traffic;
      quad.job = here.job;
      quad.stage = here.stage;
    }
  }
}

}  // namespace

QuadId FlowStore::find_or_add(RnicId a, RnicId b, const JobTable& jobs) {
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
  trace_traffic(quad, jobs);
  if (eswitch_ != nullptr) {
    eswitch_->admit(quad);
  }
  const QuadId id = take_place(quad);
  if (has_marked_) {
    MarkedFlows& marked = *marked_[id];
    marked = {};
    for (Megaflow& flow : marked) {
      flow.offloadable = eswitch_ == nullptr || eswitch_->offloads();
    }
  }
  peers.insert(place, {high, id});
  by_rnic_[low.index()].push_back(id);
  by_rnic_[high.index()].push_back(id);
  return id;
}

void FlowStore::retrace(QuadId id, const JobTable& jobs, Time now) {
  FlowQuad& quad = quads_[id];
  quad.traffic = TrafficKind::kNone;
  trace_traffic(quad, jobs);
  quad.job_until = now;
}

QuadId FlowStore::take_place(const FlowQuad& quad) {
  if (!free_.empty()) {
    const QuadId id = free_.back();
    free_.pop_back();
    quads_[id] = quad;
    return id;
  }
  if (has_marked_) {
    marked_.push_back(std::make_unique<MarkedFlows>());
  }
  return quads_.push_back(quad);
}

void FlowStore::forget_peer(RnicId low, RnicId high) {
  std::vector<Peer>& peers = peers_[low.index()];
  peers.erase(std::lower_bound(peers.begin(), peers.end(), high, &FlowStore::before));
}

void FlowStore::release(RnicId rnic) {
  if (rnic.index() >= by_rnic_.size()) {
    return;
  }
  for (const QuadId id : by_rnic_[rnic.index()]) {
    const std::array<RnicId, 2> ends = quads_[id].ends;
    forget_peer(ends[0], ends[1]);
    std::erase(by_rnic_[(ends[0] == rnic ? ends[1] : ends[0]).index()], id);
    quads_[id] = FlowQuad{};
    free_.push_back(id);
  }
  by_rnic_[rnic.index()] = {};
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
