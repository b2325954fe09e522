#include "detectors/baselines/net_bouncer.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

std::uint32_t first_end(const PathHop& hop) {
  return 2 * hop.link.index() + (hop.direction == LinkDirection::kUp ? 0 : 1);
}

std::uint32_t last_end(const PathHop& hop) {
  return first_end(hop) ^ 1U;
}

/// Calls `body(end)` where the path passes a device: after each hop but the last of each way.
template <class F>
void for_each_device_end(const TracedPath& path, F&& body) {
  for (const std::vector<PathHop>* way : {&path.request, &path.answer}) {
    for (std::size_t i = 0; i + 1 < way->size(); ++i) {
      body(last_end((*way)[i]), first_end((*way)[i + 1]));
    }
  }
}

}  // namespace

std::vector<Accusation> NetBouncer::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kAll);
  dropped_.assign(columns_.path_count(), 0);
  std::vector<Accusation> accusations;
  join_ends(evidence);
  blame_devices(evidence, accusations);
  descend();
  const std::size_t devices = accusations.size();
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    if (1.0 - x_[link] >= options_.link_loss_least) {
      accusations.push_back(accuse_link(columns_, link, 1.0 - x_[link]));
    }
  }
  std::stable_sort(accusations.begin() + static_cast<std::ptrdiff_t>(devices),
                   accusations.end(),
                   [](const Accusation& a, const Accusation& b) {
                     return a.suspects.front().llr > b.suspects.front().llr;
                   });
  return accusations;
}

void NetBouncer::join_ends(std::span<const PathEvidence> evidence) {
  parent_.clear();
  const auto known = [this](std::uint32_t end) {
    while (parent_.size() <= end) {
      parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    }
  };
  for (const PathEvidence& item : evidence) {
    if (item.trials == 0) {
      continue;
    }
    for_each_device_end(*item.path, [&](std::uint32_t a, std::uint32_t b) {
      known(std::max(a, b) | 1U);
      a = device_of(a);
      b = device_of(b);
      // The least end stands for all: the order of the evidence does not matter.
      parent_[std::max(a, b)] = std::min(a, b);
    });
  }
}

std::uint32_t NetBouncer::device_of(std::uint32_t end) {
  while (parent_[end] != end) {
    parent_[end] = parent_[parent_[end]];
    end = parent_[end];
  }
  return end;
}

void NetBouncer::blame_devices(std::span<const PathEvidence> evidence,
                               std::vector<Accusation>& accusations) {
  devices_.assign(parent_.size(), {});
  std::uint32_t item_number = 0;
  for (const PathEvidence& item : evidence) {
    ++item_number;
    if (item.trials == 0) {
      continue;
    }
    for_each_device_end(*item.path, [&](std::uint32_t end, std::uint32_t) {
      Device& device = devices_[device_of(end)];
      if (device.last_item != item_number) {
        device.last_item = item_number;
        device.paths += 1;
        device.lossy += item.bad > 0 ? 1 : 0;
      }
    });
  }
  for (std::uint32_t device = 0; device < devices_.size(); ++device) {
    const Device& one = devices_[device];
    if (one.lossy > 0 && one.paths >= options_.device_paths_least &&
        one.lossy >= options_.device_lossy_ratio * static_cast<double>(one.paths)) {
      accuse_device(device, accusations);
    }
  }
}

/// All links that end at the device are its set.
void NetBouncer::accuse_device(std::uint32_t device, std::vector<Accusation>& accusations) {
  Accusation whole;
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    const PathHop& hop = columns_.hop(link);
    const bool here = std::max(first_end(hop), last_end(hop)) < parent_.size() &&
                      (device_of(first_end(hop)) == device || device_of(last_end(hop)) == device);
    if (!here || columns_.tally(link).bad_paths == 0) {
      continue;
    }
    Accusation one = accuse_link(columns_, link, 1.0);
    whole.suspects.push_back(one.suspects.front());
    whole.pairs.insert(whole.pairs.end(), one.pairs.begin(), one.pairs.end());
    for (const std::uint32_t path : columns_.paths_of(link)) {
      dropped_[path] = 1;
    }
  }
  std::sort(whole.pairs.begin(), whole.pairs.end());
  whole.pairs.erase(std::unique(whole.pairs.begin(), whole.pairs.end()), whole.pairs.end());
  if (!whole.suspects.empty()) {
    accusations.push_back(std::move(whole));
  }
}

void NetBouncer::descend() {
  y_.resize(columns_.path_count());
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    y_[path] =
        1.0 - static_cast<double>(columns_.bad(path)) / static_cast<double>(columns_.trials(path));
  }
  x_.assign(columns_.link_count(), 1.0);
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    double sum = 0.0;
    double count = 0.0;
    for (const std::uint32_t path : columns_.paths_of(link)) {
      if (dropped_[path] == 0) {
        sum += y_[path];
        count += 1.0;
      }
    }
    x_[link] = count > 0.0 ? sum / count : 1.0;
  }
  double before = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < options_.sweeps_max; ++sweep) {
    for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
      x_[link] = best_success(link);
    }
    const double now = objective();
    if (before - now < options_.settled) {
      break;
    }
    before = now;
  }
}

double NetBouncer::best_success(std::uint32_t link) const {
  double s1 = 0.0;
  double s2 = 0.0;
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (dropped_[path] != 0) {
      continue;
    }
    double others = 1.0;
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      others *= crossed == link ? 1.0 : x_[crossed];
    }
    s1 += others * y_[path];
    s2 += others * others;
  }
  if (s2 == 0.0) {
    return 1.0;
  }
  if (s2 <= options_.lambda) {
    return s2 <= 2.0 * s1 ? 1.0 : 0.0;
  }
  return std::clamp((2.0 * s1 - options_.lambda) / (2.0 * (s2 - options_.lambda)), 0.0, 1.0);
}

double NetBouncer::objective() const {
  double sum = 0.0;
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    if (dropped_[path] != 0) {
      continue;
    }
    double product = 1.0;
    for (const std::uint32_t link : columns_.links_of(path)) {
      product *= x_[link];
    }
    sum += (y_[path] - product) * (y_[path] - product);
  }
  for (const double x : x_) {
    sum += options_.lambda * x * (1.0 - x);
  }
  return sum;
}

}  // namespace bonescan
