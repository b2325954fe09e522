#include "skeleton/rail_pairs.h"

#include "sim/base/rng_stream.h"
#include "skeleton/target_order.h"

#include <map>
#include <string_view>
#include <utility>

namespace bonescan {
namespace {

enum class RailRule : std::uint8_t {
  kSameRail,
  kAnyRail
};

/// Who may be in one list together: task, and rail where it matters.
using GroupKey = std::pair<std::string_view, std::uint16_t>;

GroupKey group_of(const Endpoint& endpoint, RailRule rule) {
  return {endpoint.task, rule == RailRule::kSameRail ? endpoint.rail : std::uint16_t{0}};
}

/// Ordered pairs within a group, less those within one host of it.
std::uint64_t count_by(RailRule rule, const EndpointDirectory& directory, EndpointRange range) {
  std::map<GroupKey, std::uint64_t> in_group;
  std::map<std::pair<GroupKey, std::string_view>, std::uint64_t> on_host;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const Endpoint& endpoint = directory[range[i]];
    const GroupKey group = group_of(endpoint, rule);
    ++in_group[group];
    ++on_host[{group, endpoint.host}];
  }
  std::uint64_t count = 0;
  for (const auto& [group, members] : in_group) {
    count += members * members;
  }
  for (const auto& [host, members] : on_host) {
    count -= members * members;
  }
  return count;
}

PingLists targets_by(RailRule rule,
                     const EndpointDirectory& directory,
                     EndpointRange range,
                     std::uint64_t seed) {
  std::map<GroupKey, std::vector<EndpointId>> groups;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    groups[group_of(directory[range[i]], rule)].push_back(range[i]);
  }
  PingLists lists(range.count);
  for (const auto& [group, members] : groups) {
    for (const EndpointId source : members) {
      if (!directory[source].local) {
        continue;
      }
      std::vector<EndpointId>& targets = lists[source.index() - range.first.index()];
      targets.reserve(members.size());
      for (const EndpointId target : members) {
        if (directory[target].host != directory[source].host) {
          targets.push_back(target);
        }
      }
      // Row 0 of this stream is the source's phase (scheduler).
      shuffle_targets(targets, RngStream(seed, Purpose::kAgentPhase, source.index()));
    }
  }
  return lists;
}

}  // namespace

PingLists same_rail_targets(const EndpointDirectory& directory,
                            EndpointRange range,
                            std::uint64_t seed) {
  return targets_by(RailRule::kSameRail, directory, range, seed);
}

PingLists same_rail_targets(const EndpointDirectory& directory, std::uint64_t seed) {
  return same_rail_targets(directory, whole_range(directory), seed);
}

PingLists full_mesh_targets(const EndpointDirectory& directory,
                            EndpointRange range,
                            std::uint64_t seed) {
  return targets_by(RailRule::kAnyRail, directory, range, seed);
}

PingLists full_mesh_targets(const EndpointDirectory& directory, std::uint64_t seed) {
  return full_mesh_targets(directory, whole_range(directory), seed);
}

std::uint64_t same_rail_pair_count(const EndpointDirectory& directory, EndpointRange range) {
  return count_by(RailRule::kSameRail, directory, range);
}

std::uint64_t full_mesh_pair_count(const EndpointDirectory& directory, EndpointRange range) {
  return count_by(RailRule::kAnyRail, directory, range);
}

std::uint64_t pair_count(const PingLists& lists) {
  std::uint64_t count = 0;
  for (const std::vector<EndpointId>& targets : lists) {
    count += targets.size();
  }
  return count;
}

}  // namespace bonescan
