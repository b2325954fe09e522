#include "detectors/localize/device_search.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

std::uint32_t links_end(std::span<const PathEvidence> evidence) {
  std::uint32_t end = 0;
  for (const PathEvidence& item : evidence) {
    for (const auto* way : {&item.path->request, &item.path->answer}) {
      for (const PathHop& hop : *way) {
        end = std::max(end, hop.link.index() + 1);
      }
    }
  }
  return end;
}

bool passes(const TracedPath& path, DeviceId device, const DeviceTable& devices) {
  const auto ends_there = [&](const PathHop& hop) { return devices.ends(hop.link).hold(device); };
  return std::any_of(path.request.begin(), path.request.end(), ends_there) ||
         std::any_of(path.answer.begin(), path.answer.end(), ends_there);
}

}  // namespace

std::vector<DeviceAccusation> DeviceSearch::localize(std::span<const PathEvidence> evidence,
                                                     std::span<const DeviceId> asked,
                                                     const DeviceTable& devices) {
  const std::uint32_t first = links_end(evidence);
  paths_.clear();
  paths_.reserve(evidence.size());
  items_.assign(evidence.begin(), evidence.end());
  for (PathEvidence& item : items_) {
    TracedPath& path = paths_.emplace_back(*item.path);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (passes(*item.path, asked[i], devices)) {
        path.request.push_back({ComponentId(first + static_cast<std::uint32_t>(i))});
      }
    }
    item.path = &path;
  }
  std::vector<Accusation> of_links = search_.localize(evidence, Symptom::kLoss);
  const double by_links = search_.explained();
  std::vector<Accusation> of_all = search_.localize(items_, Symptom::kLoss);
  if (search_.explained() <= by_links + tie_nats_) {
    of_all = std::move(of_links);
  }
  std::vector<DeviceAccusation> faults;
  for (Accusation& accusation : of_all) {
    auto& suspects = accusation.suspects;
    const auto is_device = [first](const LinkScore& one) { return one.link.index() >= first; };
    const std::size_t links = static_cast<std::size_t>(std::count_if(
        suspects.begin(), suspects.end(), [&](const LinkScore& one) { return !is_device(one); }));
    DeviceId device;
    if (links == 0 && suspects.size() == 1) {
      device = asked[suspects.front().link.index() - first];
      suspects.front().link = ComponentId();
    } else if (links == 0) {
      continue;  // devices that the same pairs cross: nobody can say which
    } else {
      std::erase_if(suspects, is_device);
    }
    faults.push_back({device, std::move(accusation)});
  }
  return faults;
}

}  // namespace bonescan
