#include "skeleton/skeleton_targets.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bonescan {
namespace {

/// The scope that the skeleton's own data bear out.
SkeletonScope supported_scope(const TaskSkeleton& skeleton, std::size_t members) {
  if (skeleton.scope == SkeletonScope::kMesh || skeleton.scope == SkeletonScope::kSameRail) {
    return skeleton.scope;
  }
  if (skeleton.basis == SkeletonBasis::kFlowTable) {
    return skeleton.peers.size() == members ? SkeletonScope::kPeers : SkeletonScope::kSameRail;
  }
  if (skeleton.stage_count == 0 || skeleton.stages.size() != members) {
    return SkeletonScope::kSameRail;
  }
  const bool replicas = skeleton.replicas.size() == members;
  return skeleton.scope == SkeletonScope::kPeers && replicas ? SkeletonScope::kPeers
                                                             : SkeletonScope::kAdjacentGroups;
}

/// Is `b` the stage before or after `a`, round the ring?
bool neighbours(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  return (a + 1) % count == b % count || (b + 1) % count == a % count;
}

class Lists {
 public:
  Lists(const EndpointDirectory& directory, std::span<const EndpointId> members)
      : directory_(&directory), members_(members), lists_(members.size()) {
    // Numbers compare faster than names.
    std::vector<std::string_view> names;
    for (const EndpointId member : members) {
      names.push_back(directory[member].host);
    }
    std::vector<std::string_view> known = names;
    std::sort(known.begin(), known.end());
    for (const std::string_view name : names) {
      hosts_.push_back(std::lower_bound(known.begin(), known.end(), name) - known.begin());
    }
  }

  /// All pairs for which `rule(i, j)` holds; it is symmetric.
  template <class Rule>
  void add_where(Rule&& rule) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = 0; j < members_.size(); ++j) {
        if (hosts_[i] != hosts_[j] && rule(i, j)) {
          add(i, j);
        }
      }
    }
  }

  void add_peers(const std::vector<std::vector<EndpointId>>& peers) {
    for (std::size_t i = 0; i < std::min(peers.size(), members_.size()); ++i) {
      for (const EndpointId peer : peers[i]) {
        const auto found = std::lower_bound(members_.begin(), members_.end(), peer);
        if (found == members_.end() || *found != peer) {
          continue;
        }
        const auto j = static_cast<std::size_t>(found - members_.begin());
        if (hosts_[i] != hosts_[j]) {
          add(i, j);
          add(j, i);
        }
      }
    }
  }

  bool same_rail(std::size_t i, std::size_t j) const {
    return (*directory_)[members_[i]].rail == (*directory_)[members_[j]].rail;
  }

  PingLists take() {
    for (std::vector<EndpointId>& list : lists_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return std::move(lists_);
  }

 private:
  void add(std::size_t i, std::size_t j) {
    if ((*directory_)[members_[i]].local) {
      lists_[i].push_back(members_[j]);
    }
  }

  const EndpointDirectory* directory_;
  std::span<const EndpointId> members_;
  std::vector<std::ptrdiff_t> hosts_;
  PingLists lists_;
};

}  // namespace

PingLists skeleton_targets(const EndpointDirectory& directory,
                           std::span<const EndpointId> members,
                           const TaskSkeleton& skeleton) {
  BONESCAN_DCHECK(std::is_sorted(members.begin(), members.end()));
  Lists lists(directory, members);
  const auto stage = [&](std::size_t i) { return skeleton.stages[i]; };
  switch (supported_scope(skeleton, members.size())) {
    case SkeletonScope::kMesh:
      lists.add_where([](std::size_t, std::size_t) { return true; });
      break;
    case SkeletonScope::kSameRail:
      lists.add_where([&](std::size_t i, std::size_t j) { return lists.same_rail(i, j); });
      break;
    case SkeletonScope::kAdjacentGroups:
      lists.add_where([&](std::size_t i, std::size_t j) {
        return lists.same_rail(i, j) &&
               (stage(i) == stage(j) || neighbours(stage(i), stage(j), skeleton.stage_count));
      });
      break;
    case SkeletonScope::kPeers:
      if (skeleton.basis != SkeletonBasis::kFlowTable) {
        lists.add_where([&](std::size_t i, std::size_t j) {
          return lists.same_rail(i, j) &&
                 (stage(i) == stage(j) || (neighbours(stage(i), stage(j), skeleton.stage_count) &&
                                           skeleton.replicas[i] == skeleton.replicas[j]));
        });
      }
      break;
  }
  // What tables name is probed under every scope: it may cross rails.
  lists.add_peers(skeleton.peers);
  return lists.take();
}

}  // namespace bonescan
