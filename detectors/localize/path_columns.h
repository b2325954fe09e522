// Traced evidence as columns: tallies of every directed link, and distinct paths with their links.
//
// Intuition: a localizer asks two questions again and again, "what crosses this link?" and "what
// does this path cross?".  Both are answered from flat arrays in compressed rows.  Healthy paths
// enter a likelihood only through the good trials of each link (fault_search.h), so the paths
// themselves are kept only where something is bad, unless all are wanted.
//
// Invariants: 1. links are numbered by ascending (cable, direction), paths by their links, so
// nothing here depends on the order of the evidence; 2. paths over the same links are one, with
// the sums of the trials of those that are kept; 3. a link counts once a path, however often it is
// crossed; 4. evidence without trials or without hops is nowhere; 5. buffers are kept from load to
// load. Rough model: linear in path-hops, and a sort of the kept paths.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// Which paths have rows of their own.
enum class KeepPaths : std::uint8_t {
  kBad,  ///< with anything bad; links are those that a bad path crosses
  kAll,
};

struct LinkTally {
  std::uint64_t trials = 0;
  std::uint64_t bad = 0;
  std::uint32_t paths = 0;      ///< items of evidence
  std::uint32_t bad_paths = 0;  ///< of these, with anything bad

  void add(const PathEvidence& item);
};

class PathColumns final {
 public:
  void load(std::span<const PathEvidence> evidence, KeepPaths keep);

  std::uint32_t link_count() const { return static_cast<std::uint32_t>(hops_.size()); }

  std::uint32_t path_count() const { return static_cast<std::uint32_t>(bad_.size()); }

  /// Of all evidence, kept or not.
  const LinkTally& total() const { return total_; }

  /// Trials times crossed links, of all evidence.
  std::uint64_t trial_hops() const { return trial_hops_; }

  const PathHop& hop(std::uint32_t link) const { return hops_[link]; }

  /// Of all evidence, kept or not.
  const LinkTally& tally(std::uint32_t link) const { return slots_[lane(hops_[link])].tally; }

  /// What crosses the link's cable both ways.
  const LinkTally& crossing_twice(std::uint32_t link) const {
    return slots_[lane(hops_[link]) & ~std::size_t{1}].twice;
  }

  /// Ascending.
  std::span<const std::uint32_t> paths_of(std::uint32_t link) const {
    return row(link_paths_, link_starts_, link);
  }

  /// Ascending.
  std::span<const std::uint32_t> links_of(std::uint32_t path) const {
    return row(path_links_, path_starts_, path);
  }

  /// Pairs on this path; all of them only where all paths are kept.
  std::uint32_t pair_count(std::uint32_t path) const { return pair_counts_[path]; }

  /// With anything bad on this path, ascending, without doubles.
  std::span<const PairId> bad_pairs_of(std::uint32_t path) const {
    return row(pairs_, pair_starts_, path);
  }

  std::uint64_t trials(std::uint32_t path) const { return trials_[path]; }

  std::uint64_t bad(std::uint32_t path) const { return bad_[path]; }

 private:
  struct Slot {
    LinkTally tally;
    LinkTally twice;          ///< in the slot of direction kUp
    std::uint64_t epoch = 0;  ///< the tallies belong to this load
    std::uint64_t item = 0;   ///< last item that crossed it
    std::uint32_t link = 0;   ///< its number, if it has one
  };

  /// One kept item: where its lanes stand in item_lanes_.
  struct Item {
    std::uint64_t hash = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t index = 0;
  };

  static std::size_t lane(const PathHop& hop) {
    return 2 * std::size_t{hop.link.index()} + static_cast<std::size_t>(hop.direction);
  }

  template <class T>
  static std::span<const T> row(const std::vector<T>& values,
                                const std::vector<std::uint32_t>& starts,
                                std::uint32_t index) {
    return std::span<const T>(values).subspan(starts[index], starts[index + 1] - starts[index]);
  }

  void clear();
  /// Counts the item's links and leaves their lanes in `lanes_`.
  void tally(const PathEvidence& item);
  void cross(const PathHop& hop, const PathEvidence& item);
  void keep_item(std::uint32_t index);
  void number_links(KeepPaths keep);
  void group_items(std::span<const PathEvidence> evidence);
  void transpose();
  std::span<const std::uint32_t> lanes_of(const Item& item) const {
    return std::span<const std::uint32_t>(item_lanes_).subspan(item.first, item.count);
  }

  std::vector<Slot> slots_;  ///< by lane: twice the cable, plus the direction
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> lanes_;
  std::vector<std::uint32_t> item_lanes_;
  std::vector<Item> items_;
  LinkTally total_;
  std::uint64_t trial_hops_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t item_ = 0;
  std::vector<PathHop> hops_;
  std::vector<std::uint64_t> trials_;
  std::vector<std::uint64_t> bad_;
  std::vector<std::uint32_t> path_links_;
  std::vector<std::uint32_t> path_starts_;
  std::vector<std::uint32_t> link_paths_;
  std::vector<std::uint32_t> link_starts_;
  std::vector<std::uint32_t> pair_counts_;
  std::vector<PairId> pairs_;
  std::vector<std::uint32_t> pair_starts_;
};

}  // namespace bonescan
