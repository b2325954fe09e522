// The paths that a source-routed prober can choose from in a fabric of rules, without listing them.
//
// A path joins two ends and takes a way: an aggregation switch and, between pods, a core switch.
// Ends are ToRs where links between switches are measured, and access cables of active hosts where
// those are measured too.  All paths of 32,768 RNICs would be billions, so searches ask for the few
// that cross a given link.
// Links are cables here, both directions: a probe and its answer take the same way.
// Without access links the a-th aggregation switches are components of their own and alike: a
// component is designed once (`aggregation` given) and used for all of them.
// Invariants: 1. ends are ordered by ToR, so those below a ToR and those of a pod are neighbours;
// 2. ends of one pool are connected, of two pools are not; 3. links are numbered in the order of
// cables, and every one of them lies on some path.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bonescan {

enum class LinkScope : std::uint8_t {
  kSwitchLinks,           ///< ToR-aggregation and aggregation-core
  kSwitchAndAccessLinks,  ///< and RNIC-ToR
};

struct DesignPath {
  std::uint32_t end1 = 0;
  std::uint32_t end2 = 0;
  std::uint32_t aggregation = 0;  ///< within the group
  std::uint32_t core = 0;         ///< within those of the aggregation switch
};

/// What all paths through one link have in common.
struct PathSeed {
  static constexpr std::uint32_t kAny = 0xFFFFFFFF;

  std::uint32_t first_end = 0;
  std::uint32_t end_count = 0;
  std::uint32_t aggregation = kAny;
  std::uint32_t core = kAny;  ///< given: the other end is in another pod
};

class DesignSpace final {
 public:
  /// @param aggregation  only paths through these switches, one of each group; default all
  /// REQUIRES: no graph; `fabric` outlives this.
  DesignSpace(const Fabric& fabric,
              LinkScope scope,
              std::optional<std::uint32_t> aggregation = std::nullopt);

  std::uint32_t link_count() const { return static_cast<std::uint32_t>(cables_.size()); }

  CableId cable(std::uint32_t link) const { return cables_[link]; }

  std::uint32_t end_count() const { return static_cast<std::uint32_t>(ends_.size()); }

  SwitchId tor(std::uint32_t end) const { return ends_[end].tor; }

  /// REQUIRES: access links are measured.
  CableId access(std::uint32_t end) const { return ends_[end].access; }

  std::uint32_t pool_count() const { return static_cast<std::uint32_t>(pools_.size()); }

  /// Ends, ascending.
  std::span<const std::uint32_t> pool(std::uint32_t pool) const { return pools_[pool]; }

  std::uint32_t pool_of(std::uint32_t end) const { return ends_[end].pool; }

  /// Is there a path between two ends that is worth a probe: other ToR, other host?
  bool joins(std::uint32_t end1, std::uint32_t end2) const;

  bool between_pods(std::uint32_t end1, std::uint32_t end2) const {
    return has_core_ && ends_[end1].group != ends_[end2].group;
  }

  std::uint32_t first_aggregation() const { return aggregation_.value_or(0); }

  /// Aggregation switches of a group to choose from.
  std::uint32_t aggregation_count() const {
    return aggregation_ ? 1 : fabric_->options().aggregation_switches;
  }

  std::uint32_t core_count(std::uint32_t end1, std::uint32_t end2) const {
    return between_pods(end1, end2) ? cores_ : 1;
  }

  PathSeed through(std::uint32_t link) const;

  /// The links of a path, at most six, into `links`.
  void links(const DesignPath& path, std::vector<std::uint32_t>& links) const;

  const Fabric& fabric() const { return *fabric_; }

 private:
  struct End {
    SwitchId tor;
    CableId access{};
    std::uint32_t group = 0;
    std::uint32_t pool = 0;
    std::uint32_t host = 0;  ///< unequal for any two ends that may be joined; ToRs: of no host
  };

  void add_ends(LinkScope scope);
  void add_links(LinkScope scope);
  void add_link(CableId cable);

  const Fabric* fabric_;
  std::optional<std::uint32_t> aggregation_;
  bool has_core_ = false;
  std::uint32_t cores_ = 0;  ///< of one aggregation switch
  std::vector<End> ends_;
  std::vector<std::vector<std::uint32_t>> pools_;
  std::vector<std::uint32_t> first_end_;  ///< by ToR, and one more
  std::vector<CableId> cables_;
  std::vector<std::uint32_t> number_;      ///< by cable
  std::vector<std::uint32_t> access_end_;  ///< by access cable
};

}  // namespace bonescan
