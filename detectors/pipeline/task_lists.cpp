#include "detectors/pipeline/task_lists.h"

#include "detectors/schedule/counter_phase.h"
#include "skeleton/link_cover.h"
#include "skeleton/skeleton_targets.h"
#include "skeleton/target_order.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

void sort_once(std::vector<Pair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

std::vector<Pair> both_ways(const std::vector<Pair>& pairs) {
  std::vector<Pair> both = pairs;
  for (const Pair& pair : pairs) {
    both.push_back(pair.reversed());
  }
  sort_once(both);
  return both;
}

std::vector<EndpointId> sorted(std::vector<EndpointId> targets) {
  std::sort(targets.begin(), targets.end());
  return targets;
}

/// The targets of `source` in ascending pairs.
std::span<const Pair> from(const std::vector<Pair>& pairs, EndpointId source) {
  const auto [begin, end] = std::equal_range(
      pairs.begin(), pairs.end(), Pair{source, source}, [](const Pair& a, const Pair& b) {
        return a.source < b.source;
      });
  return {begin, end};
}

/// The targets that are not listed yet.
void append(std::span<const Pair> pairs, std::vector<EndpointId>& targets) {
  for (const Pair& pair : pairs) {
    if (std::find(targets.begin(), targets.end(), pair.target) == targets.end()) {
      targets.push_back(pair.target);
    }
  }
}

}  // namespace

std::uint64_t TaskLists::pair_count(const PipelineState& state) const {
  std::uint64_t count = 0;
  for (const EndpointId member : members_) {
    count += state.scheduler.targets(member).size();
  }
  return count;
}

void TaskLists::choose(PipelineState& state, const TaskSkeleton& skeleton) {
  chosen_ = skeleton_targets(state.telemetry.endpoints, members_, skeleton);
  repaired_.clear();
  if (skeleton.scope != SkeletonScope::kMesh && skeleton.scope != SkeletonScope::kSameRail) {
    repair(state);
  }
  in_step_.clear();
  if (state.options.probing.counter_phase) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      in_step_.push_back(order(state, i));
    }
    counter_phase(members_, in_step_);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    apply(state, i);
  }
}

void TaskLists::keep(PipelineState& state, const std::vector<Pair>& pairs) {
  std::vector<Pair> both = both_ways(pairs);
  std::erase_if(both, [&](const Pair& pair) { return chosen(pair); });
  if (both == kept_) {
    return;
  }
  std::vector<Pair> moved;
  std::set_symmetric_difference(
      both.begin(), both.end(), kept_.begin(), kept_.end(), std::back_inserter(moved));
  kept_ = std::move(both);
  for (auto pair = moved.begin(); pair != moved.end(); ++pair) {
    if (pair == moved.begin() || std::prev(pair)->source != pair->source) {
      const auto member = std::lower_bound(members_.begin(), members_.end(), pair->source);
      apply(state, static_cast<std::size_t>(member - members_.begin()));
    }
  }
}

void TaskLists::repair(const PipelineState& state) {
  const PingLists preloaded = skeleton_targets(state.telemetry.endpoints, members_, {});
  std::vector<CoveringPair> probed;
  std::vector<CoveringPair> candidates;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto add = [&](EndpointId target, std::vector<CoveringPair>& to) {
      const PairId pair = state.scheduler.find({members_[i], target});
      const TracedPath* path = pair.valid() ? state.paths.known(pair) : nullptr;
      if (path != nullptr) {
        to.push_back({pair, path});
      }
    };
    for (const EndpointId target : chosen_[i]) {
      add(target, probed);
    }
    for (const EndpointId target : preloaded[i]) {
      if (!chosen({members_[i], target})) {
        add(target, candidates);
      }
    }
  }
  for (const PairId pair : repair_link_cover(probed, candidates).extra) {
    repaired_.push_back(state.ends(pair));
  }
  repaired_ = both_ways(repaired_);
}

std::vector<EndpointId> TaskLists::order(const PipelineState& state, std::size_t member) const {
  const EndpointId source = members_[member];
  std::vector<EndpointId> targets = chosen_[member];
  shuffle_targets(targets, RngStream(state.options.seed, Purpose::kSkeletonOrder, source.index()));
  append(from(repaired_, source), targets);
  return targets;
}

void TaskLists::apply(PipelineState& state, std::size_t member) {
  const EndpointId source = members_[member];
  if (!state.telemetry.endpoints[source].local) {
    return;
  }
  std::vector<EndpointId> targets = in_step_.empty() ? order(state, member) : in_step_[member];
  append(from(kept_, source), targets);
  if (sorted(targets) != sorted(state.scheduler.targets(source))) {
    state.relist(source, targets);
  }
}

bool TaskLists::chosen(Pair pair) const {
  const auto member = std::lower_bound(members_.begin(), members_.end(), pair.source);
  const std::vector<EndpointId>& list =
      chosen_[static_cast<std::size_t>(member - members_.begin())];
  return std::binary_search(list.begin(), list.end(), pair.target);
}

std::size_t TaskLists::held_size() const {
  std::size_t size = members_.size() * sizeof(EndpointId) +
                     (repaired_.size() + kept_.size()) * sizeof(Pair) +
                     chosen_.size() * sizeof(std::vector<EndpointId>);
  for (const PingLists* lists : {&chosen_, &in_step_}) {
    for (const std::vector<EndpointId>& list : *lists) {
      size += list.size() * sizeof(EndpointId);
    }
  }
  return size;
}

}  // namespace bonescan
