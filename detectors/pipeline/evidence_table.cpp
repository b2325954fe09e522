#include "detectors/pipeline/evidence_table.h"

#include <algorithm>

namespace bonescan {

void EvidenceTable::clear() {
  for (const PairId pair : pairs_) {
    counts_[pair] = {};
  }
  pairs_.clear();
  former_.clear();
}

void EvidenceTable::release(PairRange pairs) {
  std::erase_if(pairs_, [&](PairId pair) { return pairs.holds(pair); });
  std::erase_if(former_, [&](const auto& one) { return pairs.holds(one.first.first); });
  counts_.release(pairs.first, pairs.count);
}

void EvidenceTable::add(PairId pair, std::uint32_t trials, std::uint32_t bad) {
  Count& count = counts_.at(pair);
  if (count.trials == 0) {
    pairs_.push_back(pair);
  }
  count.trials += trials;
  count.bad += bad;
}

void EvidenceTable::add_then(const PathBook& paths, PairId pair, Time start, std::uint32_t bad) {
  const std::span<const FormerPath> former = paths.former(pair);
  std::size_t left = former.size();
  for (const FormerPath& one : former) {
    if (start <= one.until) {
      Count& count = former_[{pair, left}];
      count.trials += 1;
      count.bad += bad;
      return;
    }
    --left;
  }
  add(pair, 1, bad);
}

void EvidenceTable::mark(const TracedPath& path) {
  for_each_hop(path, [&](const PathHop& hop) {
    if (hop.link.index() >= cable_marked_.size()) {
      cable_marked_.resize(hop.link.index() + 1);
    }
    cable_marked_[hop.link.index()] = 1;
  });
}

bool EvidenceTable::marked(const TracedPath& path) const {
  bool found = false;
  for_each_hop(path, [&](const PathHop& hop) {
    found =
        found || (hop.link.index() < cable_marked_.size() && cable_marked_[hop.link.index()] != 0);
  });
  return found;
}

std::span<const PathEvidence> EvidenceTable::relevant(const PathBook& paths) {
  std::fill(cable_marked_.begin(), cable_marked_.end(), std::uint8_t{0});
  for (const PairId pair : pairs_) {
    const TracedPath* path = counts_[pair].bad > 0 ? paths.known(pair) : nullptr;
    if (path != nullptr) {
      mark(*path);
    }
  }
  const auto path_then = [&paths](const std::pair<PairId, std::size_t>& key) {
    const std::span<const FormerPath> former = paths.former(key.first);
    return &former[former.size() - key.second].path;
  };
  for (const auto& [key, count] : former_) {
    if (count.bad > 0) {
      mark(*path_then(key));
    }
  }
  items_.clear();
  for (const auto& [key, count] : former_) {
    if (marked(*path_then(key))) {
      items_.push_back({path_then(key), count.trials, count.bad, key.first});
    }
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (i + 2 * kPrefetchAhead < pairs_.size()) {
      paths.prefetch_entry(pairs_[i + 2 * kPrefetchAhead]);
      paths.prefetch_hops(pairs_[i + kPrefetchAhead]);
    }
    const PairId pair = pairs_[i];
    const TracedPath* path = paths.known(pair);
    if (path != nullptr && marked(*path)) {
      const Count& count = counts_[pair];
      items_.push_back({path, count.trials, count.bad, pair});
    }
  }
  std::sort(items_.begin(), items_.end(), [](const PathEvidence& a, const PathEvidence& b) {
    return a.pair < b.pair;
  });
  return items_;
}

}  // namespace bonescan
