#include "detectors/localize/path_columns.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Splits lists of lanes quickly; equal lists are told from equal hashes afterwards.
std::uint64_t hash_of(std::span<const std::uint32_t> lanes) {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (const std::uint32_t lane : lanes) {
    hash = (hash ^ lane) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void LinkTally::add(const PathEvidence& item) {
  trials += item.trials;
  bad += item.bad;
  paths += 1;
  bad_paths += item.bad > 0 ? 1 : 0;
}

void PathColumns::load(std::span<const PathEvidence> evidence, KeepPaths keep) {
  clear();
  for (std::uint32_t i = 0; i < evidence.size(); ++i) {
    const PathEvidence& item = evidence[i];
    BONESCAN_DCHECK(item.path != nullptr);
    BONESCAN_DCHECK(item.bad <= item.trials);
    if (item.trials == 0) {
      continue;
    }
    tally(item);
    if (!lanes_.empty() && (item.bad > 0 || keep == KeepPaths::kAll)) {
      keep_item(i);
    }
  }
  number_links(keep);
  group_items(evidence);
  transpose();
}

void PathColumns::clear() {
  ++epoch_;
  touched_.clear();
  item_lanes_.clear();
  items_.clear();
  total_ = {};
  trial_hops_ = 0;
  hops_.clear();
  trials_.clear();
  bad_.clear();
  path_links_.clear();
  path_starts_.assign(1, 0);
  pair_counts_.clear();
  pairs_.clear();
  pair_starts_.assign(1, 0);
}

void PathColumns::tally(const PathEvidence& item) {
  ++item_;
  lanes_.clear();
  for (const PathHop& hop : item.path->request) {
    cross(hop, item);
  }
  for (const PathHop& hop : item.path->answer) {
    cross(hop, item);
  }
  if (!lanes_.empty()) {
    total_.add(item);
    trial_hops_ += std::uint64_t{item.trials} * lanes_.size();
  }
}

void PathColumns::cross(const PathHop& hop, const PathEvidence& item) {
  const std::size_t mine = lane(hop);
  if (mine >= slots_.size()) {
    slots_.resize((mine | 1) + 1);
  }
  Slot& slot = slots_[mine];
  if (slot.item == item_) {
    return;
  }
  slot.item = item_;
  if (slot.epoch != epoch_) {
    slot.epoch = epoch_;
    slot.tally = {};
    touched_.push_back(static_cast<std::uint32_t>(mine));
  }
  slot.tally.add(item);
  lanes_.push_back(static_cast<std::uint32_t>(mine));
  if (slots_[mine ^ 1].item == item_) {
    slots_[mine & ~std::size_t{1}].twice.add(item);
  } else if (slots_[mine ^ 1].epoch != epoch_) {
    slots_[mine & ~std::size_t{1}].twice = {};
  }
}

void PathColumns::keep_item(std::uint32_t index) {
  std::sort(lanes_.begin(), lanes_.end());
  items_.push_back({hash_of(lanes_),
                    static_cast<std::uint32_t>(item_lanes_.size()),
                    static_cast<std::uint32_t>(lanes_.size()),
                    index});
  item_lanes_.insert(item_lanes_.end(), lanes_.begin(), lanes_.end());
}

void PathColumns::number_links(KeepPaths keep) {
  std::sort(touched_.begin(), touched_.end());
  for (const std::uint32_t lane : touched_) {
    if (keep == KeepPaths::kBad && slots_[lane].tally.bad_paths == 0) {
      continue;
    }
    slots_[lane].link = link_count();
    hops_.push_back({ComponentId(lane / 2), static_cast<LinkDirection>(lane % 2)});
  }
}

void PathColumns::group_items(std::span<const PathEvidence> evidence) {
  const auto same_path = [this](const Item& a, const Item& b) {
    return a.hash == b.hash && std::ranges::equal(lanes_of(a), lanes_of(b));
  };
  std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
    if (a.hash != b.hash) {
      return a.hash < b.hash;
    }
    if (!same_path(a, b)) {
      return std::ranges::lexicographical_compare(lanes_of(a), lanes_of(b));
    }
    return evidence[a.index].pair < evidence[b.index].pair;
  });
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const PathEvidence& item = evidence[items_[i].index];
    const bool next_path = i == 0 || !same_path(items_[i - 1], items_[i]);
    if (next_path) {
      for (const std::uint32_t lane : lanes_of(items_[i])) {
        path_links_.push_back(slots_[lane].link);
      }
      path_starts_.push_back(static_cast<std::uint32_t>(path_links_.size()));
      pair_starts_.push_back(pair_starts_.back());
      pair_counts_.push_back(0);
      trials_.push_back(0);
      bad_.push_back(0);
    }
    trials_.back() += item.trials;
    bad_.back() += item.bad;
    const bool next_pair = next_path || evidence[items_[i - 1].index].pair != item.pair;
    pair_counts_.back() += next_pair ? 1 : 0;
    // A pair may come twice, and only the second time with something bad.
    const bool known =
        pair_starts_.back() > *(pair_starts_.end() - 2) && pairs_.back() == item.pair;
    if (item.bad > 0 && !known) {
      pairs_.push_back(item.pair);
      ++pair_starts_.back();
    }
  }
}

void PathColumns::transpose() {
  link_starts_.assign(std::size_t{link_count()} + 2, 0);
  for (const std::uint32_t link : path_links_) {
    ++link_starts_[link + 2];
  }
  for (std::size_t i = 2; i < link_starts_.size(); ++i) {
    link_starts_[i] += link_starts_[i - 1];
  }
  link_paths_.resize(path_links_.size());
  for (std::uint32_t path = 0; path < path_count(); ++path) {
    for (const std::uint32_t link : links_of(path)) {
      link_paths_[link_starts_[link + 1]++] = path;
    }
  }
  link_starts_.pop_back();
}

}  // namespace bonescan
