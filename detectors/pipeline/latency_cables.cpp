// Cables that changed places, and slow pairs that turn out to be one failure with another.
#include "detectors/pipeline/latency_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

bool is_rnic(const DeviceTable& devices, DeviceId device) {
  return device.valid() && devices[device].type == ComponentType::kRnic;
}

/// The RNIC that an access link ends at; invalid if the link is none.
DeviceId rnic_of(const DeviceTable& devices, ComponentId link) {
  const auto ends = devices.ends(link).devices;
  return is_rnic(devices, ends[0]) ? ends[0] : (is_rnic(devices, ends[1]) ? ends[1] : DeviceId());
}

}  // namespace

// A bond that moves to another port of its RNIC is in order; a cable of another RNIC never is.
std::optional<LatencyStage::MovedCable> LatencyStage::moved_cable(PairId pair) {
  const TracedPath* now = state_->paths.known(pair);
  const auto former = state_->paths.former(pair);
  if (now == nullptr || now->request.empty() || former.empty()) {
    return std::nullopt;
  }
  state_->devices.update();
  for (const FormerPath& before : former) {
    if (before.path.request.empty()) {
      continue;
    }
    for (const auto& [was, is] :
         {std::pair(before.path.request.front().link, now->request.front().link),
          std::pair(before.path.request.back().link, now->request.back().link)}) {
      const DeviceId one = rnic_of(state_->devices, was);
      const DeviceId other = rnic_of(state_->devices, is);
      if (one.valid() && other.valid() && one != other) {
        return MovedCable{was, is};
      }
    }
  }
  return std::nullopt;
}

void LatencyStage::open_miscabled(Time now, const Late& late, const MovedCable& cable) {
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUnderlay, Symptom::kLatency, kMiscabled);
  state_->incidents.place(
      index, Layer::kUnderlay, kMiscabled, {{cable.was, 1.0}, {cable.is, 1.0}}, 1.0);
  describe(now, index, late);
  state_->incidents.add_evidence(
      index,
      {now,
       "path-trace",
       false,
       fmt::format("the path goes over {} where it went over {}: an RNIC has another one's cable",
                   state_->telemetry.components[cable.is].name,
                   state_->telemetry.components[cable.was].name)});
  state_->incidents.attribute(index, now, late.pair);
}

// What a slow pair waited for may be said by an incident that opened after it and was refined.
void LatencyStage::absorb_lone(Time now, IncidentIndex index, std::span<const LinkScore> suspects) {
  const std::vector<IncidentIndex> open = state_->incidents.open();
  for (const IncidentIndex other : open) {
    const Incident& lone = state_->incidents[other];
    if (state_->incidents.same(index, other) || lone.closed || !placeless(lone) ||
        now - lone.last_seen > state_->sweep()) {
      continue;
    }
    const bool crosses = std::any_of(lone.pairs.begin(), lone.pairs.end(), [&](PairId pair) {
      return state_->crosses_link(pair, suspects.front().link);
    });
    if (crosses) {
      state_->place_on_links(now, other, kLinkLatency, suspects);
      return;
    }
  }
}

}  // namespace bonescan
