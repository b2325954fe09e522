// The traced path of every pair that was visited.
//
// Each agent traces a pair when it first visits it, so that a later loss meets known paths: healthy
// paths are evidence too.  Routing moves, so a visit finds a path that is at most `max_age` old or
// traces it anew, and a failing pair is traced anew before anything is blamed.  What was lost
// before the move was found may have been lost on the path before, so the last few of these are
// kept.  Invariant: a path, once known, is replaced but never dropped before its pair is released.
#pragma once

#include "detectors/localize/link_use.h"
#include "detectors/localize/path_hops.h"
#include "detectors/telemetry/telemetry.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace bonescan {

/// A path that a pair had once.
struct FormerPath {
  TracedPath path;
  Time until;  ///< when it was found to have moved; it moved some time before
};

class PathBook final {
 public:
  explicit PathBook(PathTracer& tracer) : tracer_(&tracer) {}

  /// Until then a path is traced anew when somebody asks, and only then.
  void set_max_age(Duration max_age) { max_age_ = max_age; }

  /// The path as last traced, however old; traced on first use, nullptr while the tracer has no
  /// answer.
  const TracedPath* first(PairId pair, const FlowKey& flow, Time now) {
    const Entry& entry = entries_.at(pair);
    return entry.known ? &entry.path : retrace(pair, flow, now);
  }

  /// The path, traced on first use and when it is old; nullptr while the tracer has no answer.
  const TracedPath* path(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = entries_.at(pair);
    return entry.known && now - entry.traced < max_age_ ? &entry.path : retrace(pair, flow, now);
  }

  /// The path as last traced; nullptr if never.
  const TracedPath* known(PairId pair) const {
    const Entry* entry = entries_.find(pair);
    return entry != nullptr && entry->known ? &entry->path : nullptr;
  }

  /// Asks for what path() will read, in this order and some pairs apart.
  [[gnu::always_inline]] void prefetch_entry(PairId pair) const { prefetch_row(entries_, pair); }

  [[gnu::always_inline]] void prefetch_hops(PairId pair) const {
    if (const TracedPath* path = known(pair)) {
      __builtin_prefetch(path->request.data());
      __builtin_prefetch(path->answer.data());
    }
  }

  /// Traces again; keeps the old path if the tracer has no answer.
  const TracedPath* retrace(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = entries_.at(pair);
    if (auto traced = tracer_->trace(flow, now)) {
      if (!entry.known) {
        use_.add(*traced);
      } else if (!same_hops(entry.path, *traced)) {
        use_.move(entry.path, *traced);
        keep_former(pair, std::move(entry.path), now);
      }
      entry.path = std::move(*traced);
      entry.traced = now;
      entry.known = true;
    }
    return entry.known ? &entry.path : nullptr;
  }

  /// The path as it was known last when a visit of that start was on its way; nullptr if never.
  const TracedPath* at(PairId pair, Time start) const {
    for (const FormerPath& former : former(pair)) {
      if (start <= former.until) {
        return &former.path;
      }
    }
    return known(pair);
  }

  /// Oldest first; empty for a pair whose path never moved.
  std::span<const FormerPath> former(PairId pair) const {
    const auto place = former_.find(pair);
    return place == former_.end() ? std::span<const FormerPath>() : place->second;
  }

  /// Calls `body(pair, former)` for every pair whose path has moved, ascending.
  template <class F>
  void for_each_former(F&& body) const {
    for (const auto& [pair, former] : former_) {
      body(pair, std::span<const FormerPath>(former));
    }
  }

  /// Forgets the paths of pairs that are never visited again.
  void release(PairRange pairs) {
    for (std::uint32_t i = 0; i < pairs.count; ++i) {
      if (const TracedPath* path = known(PairId(pairs.first.index() + i))) {
        use_.remove(*path);
      }
    }
    entries_.release(pairs.first, pairs.count);
    std::erase_if(former_, [&](const auto& one) { return pairs.holds(one.first); });
  }

  /// Of all known paths.
  LinkUse& use() { return use_; }
  const LinkUse& use() const { return use_; }

  /// Bytes that go with pairs, without the hops, and bytes that stay.
  std::size_t held_size() const { return entries_.held_size(); }

  std::size_t kept_size() const { return entries_.kept_size(); }

 private:
  struct Entry {
    TracedPath path;
    Time traced{};
    bool known = false;
  };

  /// Former paths of a pair that are kept. @ours
  static constexpr std::size_t kMostFormer = 4;

  static bool same_hops(const TracedPath& a, const TracedPath& b) {
    return a.request == b.request && a.answer == b.answer;
  }

  void keep_former(PairId pair, TracedPath path, Time now) {
    std::vector<FormerPath>& kept = former_[pair];
    if (kept.size() == kMostFormer) {
      kept.erase(kept.begin());
    }
    kept.push_back({std::move(path), now});
  }

  PathTracer* tracer_;
  Duration max_age_ = Duration::max();
  LinkUse use_;
  PagedColumn<PairId, Entry> entries_;
  std::map<PairId, std::vector<FormerPath>> former_;  ///< of the few that ever moved
};

}  // namespace bonescan
