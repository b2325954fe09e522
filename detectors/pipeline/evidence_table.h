// Evidence about pairs, gathered for the vote.
//
// Only paths that cross a cable of a failing path can tell suspects apart, so the others are left
// out.  Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_book.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/paged_column.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace bonescan {

class EvidenceTable final {
 public:
  void clear();
  void add(PairId pair, std::uint32_t trials, std::uint32_t bad);
  /// ... of a visit that started then, on the path that the pair had.
  void add_then(const PathBook& paths, PairId pair, Time start, std::uint32_t bad);
  /// Does any of it lie on a path that its pair has left?
  bool holds_former() const { return !former_.empty(); }
  /// The items worth voting with; valid until the next call of add, clear or release.
  std::span<const PathEvidence> relevant(const PathBook& paths);
  /// Forgets pairs of which no evidence comes any more.
  void release(PairRange pairs);

  /// Bytes that go with pairs, and bytes that stay.
  std::size_t held_size() const { return counts_.held_size(); }

  std::size_t kept_size() const { return counts_.kept_size(); }

 private:
  struct Count {
    std::uint32_t trials = 0;
    std::uint32_t bad = 0;
  };

  void mark(const TracedPath& path);
  bool marked(const TracedPath& path) const;

  PagedColumn<PairId, Count> counts_;
  std::vector<PairId> pairs_;  ///< those with a count
  /// By the pair and how many paths it has had since.
  std::map<std::pair<PairId, std::size_t>, Count> former_;
  std::vector<std::uint8_t> cable_marked_;
  std::vector<PathEvidence> items_;
};

}  // namespace bonescan
