#include "skeleton/rail_pairs.h"

#include "sim/base/rng_stream.h"

#include <map>
#include <string_view>
#include <utility>

namespace bonescan {
namespace {

enum class RailRule : std::uint8_t {
  kSameRail,
  kAnyRail
};

/// Fisher-Yates.  Position i reads row i; row 0 of the stream is the source's phase (scheduler).
void shuffle(std::vector<EndpointId>& targets, const RngStream& stream) {
  for (std::size_t i = targets.size(); i-- > 1;) {
    const std::uint64_t word = stream.block(i)[0];
    const std::size_t other = static_cast<std::size_t>((word * (i + 1)) >> 32);
    std::swap(targets[i], targets[other]);
  }
}

PingLists targets_by(RailRule rule, const EndpointDirectory& directory, std::uint64_t seed) {
  using GroupKey = std::pair<std::string_view, std::uint16_t>;
  const auto key = [rule](const Endpoint& endpoint) {
    return GroupKey{endpoint.task, rule == RailRule::kSameRail ? endpoint.rail : std::uint16_t{0}};
  };
  std::map<GroupKey, std::vector<EndpointId>> groups;
  for (std::uint32_t i = 0; i < directory.size(); ++i) {
    groups[key(directory[EndpointId(i)])].push_back(EndpointId(i));
  }
  PingLists lists(directory.size());
  for (const auto& [group, members] : groups) {
    for (const EndpointId source : members) {
      std::vector<EndpointId>& targets = lists[source.index()];
      targets.reserve(members.size());
      for (const EndpointId target : members) {
        if (directory[target].host != directory[source].host) {
          targets.push_back(target);
        }
      }
      shuffle(targets, RngStream(seed, Purpose::kAgentPhase, source.index()));
    }
  }
  return lists;
}

}  // namespace

PingLists same_rail_targets(const EndpointDirectory& directory, std::uint64_t seed) {
  return targets_by(RailRule::kSameRail, directory, seed);
}

PingLists full_mesh_targets(const EndpointDirectory& directory, std::uint64_t seed) {
  return targets_by(RailRule::kAnyRail, directory, seed);
}

std::uint64_t pair_count(const PingLists& lists) {
  std::uint64_t count = 0;
  for (const std::vector<EndpointId>& targets : lists) {
    count += targets.size();
  }
  return count;
}

}  // namespace bonescan
