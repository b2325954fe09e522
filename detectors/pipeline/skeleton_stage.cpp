#include "detectors/pipeline/skeleton_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace bonescan {
namespace {

/// The grid on which throughput is read: counters are read about once a second.
constexpr Duration kPeriod = std::chrono::seconds(1);

/// What is asked of a history beyond the longest record: samples that are still on their way.
Duration history_length(const PipelineOptions& options) {
  return options.skeleton.longest_record + options.probing.lateness + 4 * kPeriod;
}

bool narrow(SkeletonScope scope) {
  return scope == SkeletonScope::kAdjacentGroups || scope == SkeletonScope::kPeers;
}

/// What may be used of it: a scope that is too uncertain is not.  A wide one is, at once: pairs
/// that communicate across rails would wait for it unprobed.
TaskSkeleton sobered(TaskSkeleton seen, const SkeletonOptions& options) {
  if (narrow(seen.scope) && seen.confidence < options.confidence) {
    seen.scope = SkeletonScope::kSameRail;
    seen.why += fmt::format("; confidence {:.3f} is below {}", seen.confidence, options.confidence);
  }
  if (seen.scope < options.widest) {
    seen.scope = options.widest;
    seen.why += "; nothing wider than the same rail is probed";
  }
  return seen;
}

bool settles(const TaskSkeleton& skeleton) {
  return skeleton.basis == SkeletonBasis::kFlowTable || skeleton.stage_count > 0;
}

std::size_t silent_members(const TrafficRecord& record) {
  std::size_t silent = 0;
  for (std::size_t i = 0; i < record.members.size(); ++i) {
    const std::span<const float> row = record.row(i);
    silent += std::all_of(row.begin(), row.end(), [](float rate) { return std::isnan(rate); });
  }
  return silent;
}

TaskSkeleton preloaded(std::string why) {
  TaskSkeleton skeleton;
  skeleton.why = std::move(why);
  return skeleton;
}

}  // namespace

SkeletonStage::SkeletonStage(PipelineState& state)
    : state_(&state),
      enabled_(state.options.probing.list == PingListKind::kSkeleton),
      by_throughput_(state.options.skeleton.evidence == SkeletonEvidence::kThroughput),
      history_(history_length(state.options), kPeriod) {
  if (enabled_ && by_throughput_) {
    inference_ = std::make_unique<const SkeletonInference>(state.options.skeleton.inference);
  }
}

void SkeletonStage::submit(EndpointRange range) {
  if (!enabled_) {
    return;
  }
  std::map<std::string_view, std::vector<EndpointId>> members;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    members[state_->telemetry.endpoints[range[i]].task].push_back(range[i]);
  }
  const std::vector<std::string>& opt_out = state_->options.skeleton.opt_out;
  for (auto& [name, endpoints] : members) {
    const TaskId id(submitted_++);
    for (const EndpointId endpoint : endpoints) {
      task_of_.at(endpoint) = id;
    }
    tasks_.emplace(
        id,
        Task{.name = std::string(name),
             .lists = TaskLists(std::move(endpoints)),
             .opted_out = std::find(opt_out.begin(), opt_out.end(), name) != opt_out.end()});
  }
}

void SkeletonStage::end(std::span<const EndpointId> endpoints) {
  if (!enabled_ || endpoints.empty()) {
    return;
  }
  const TaskId id = task_of_[endpoints.front()];
  history_.release(endpoints);
  for (const EndpointId endpoint : endpoints) {
    task_of_.release(endpoint, 1);
  }
  tasks_.erase(id);
}

void SkeletonStage::throughput(std::span<const ThroughputSample> samples) {
  if (!enabled_ || !by_throughput_) {
    return;
  }
  wanted_.clear();
  for (const ThroughputSample& sample : samples) {
    const TaskId id = task_of_.value(sample.endpoint);
    if (id.valid() && !tasks_.at(id).opted_out) {
      wanted_.push_back(sample);
    }
  }
  history_.add(wanted_);
}

void SkeletonStage::run(Time now) {
  if (!enabled_) {
    return;
  }
  for (auto& [id, task] : tasks_) {
    run_task(now, task);
  }
  if (!by_throughput_) {
    read_tables(now);
  }
  keep_incidents();
}

void SkeletonStage::run_task(Time now, Task& task) {
  if (!task.announced) {
    task.announced = true;
    tell(now,
         task,
         preloaded(task.opted_out ? "the task opted out: its traffic is not looked at"
                                  : "nothing is known yet about the task's traffic"));
  }
  if (task.opted_out) {
    return;
  }
  std::string who_not;
  const std::optional<Time> ready = all_ready_since(task, who_not);
  if (!ready) {
    if (task.phase != Phase::kWaiting) {
      fall_back(now, now, task, who_not + " is not ready any more");
      task.tables.reset();
      task.phase = Phase::kWaiting;
    }
    return;
  }
  if (task.phase == Phase::kWaiting) {
    start(now, *ready, task);
  } else if (*ready > task.since) {
    fall_back(now, now, task, "a member went and came back");
    start(now, *ready, task);
  }
  if (by_throughput_) {
    guard(now, task);
    look(now, task);
  }
}

std::optional<Time> SkeletonStage::all_ready_since(const Task& task, std::string& who_not) const {
  Time since = kStartOfRun;
  for (const EndpointId member : task.lists.members()) {
    const std::optional<Time> ready = state_->activation.ready_since(member);
    if (!ready) {
      who_not = state_->telemetry.endpoints[member].name;
      return std::nullopt;
    }
    since = std::max(since, *ready);
  }
  return since;
}

void SkeletonStage::start(Time now, Time since, Task& task) {
  task.phase = Phase::kRecording;
  task.since = std::min(now, since);
  task.next_look = state_->options.skeleton.shortest_record;
  if (!by_throughput_) {
    task.tables.emplace(task.lists.members(), state_->options.skeleton);
  }
}

Time SkeletonStage::settled(Time now) const {
  const Duration known = now - kStartOfRun - kPeriod - state_->options.probing.lateness;
  return kStartOfRun + std::max(known, Duration::zero()) / kPeriod * kPeriod;
}

void SkeletonStage::look(Time now, Task& task) {
  const SkeletonOptions& options = state_->options.skeleton;
  const Time until = settled(now);
  const Duration elapsed = until - task.since;
  if (elapsed < task.next_look) {
    return;
  }
  const bool longest = elapsed >= options.longest_record;
  const Duration length = std::min(elapsed, options.longest_record) / kPeriod * kPeriod;
  task.next_look =
      longest ? elapsed + options.longest_record : std::min(2 * elapsed, options.longest_record);
  const TrafficRecord record =
      history_.record(state_->telemetry.endpoints, task.lists.members(), until, length);
  if (const std::size_t silent = silent_members(record); silent > 0) {
    adopt(now,
          task,
          preloaded(fmt::format(
              "no throughput was reported of {} of {} members", silent, record.members.size())));
    return;
  }
  adopt(now, task, sobered(inference_->infer(record, options.confidence), options));
  if (task.phase == Phase::kSettled) {
    task.guard.emplace(task.skeleton, record, options.drift);
    task.guarded_until = until;
    task.unguarded = {};
    if (longest) {
      task.next_look = Duration::max();  // The guard takes over.
    }
  }
}

void SkeletonStage::guard(Time now, Task& task) {
  const std::vector<EndpointId>& members = task.lists.members();
  rates_.resize(members.size());
  const Time until = settled(now);
  while (task.guard && task.guarded_until + kPeriod <= until) {
    task.guarded_until += kPeriod;
    history_.column(members, task.guarded_until, rates_);
    const DriftState state = task.guard->observe(rates_);
    task.unguarded = state == DriftState::kUnknown ? task.unguarded + kPeriod : Duration::zero();
    if (state == DriftState::kDrifted) {
      fall_back(now, task.guarded_until, task, task.guard->why());
    } else if (task.unguarded >= state_->options.skeleton.shortest_record) {
      fall_back(now, task.guarded_until, task, "too little throughput is reported to go on");
    }
  }
}

void SkeletonStage::read_tables(Time now) {
  std::size_t budget = state_->options.skeleton.dumps_per_round;
  auto next = tasks_.lower_bound(next_dump_);
  for (std::size_t tried = 0; tried < tasks_.size() && budget > 0; ++tried, ++next) {
    if (next == tasks_.end()) {
      next = tasks_.begin();
    }
    Task& task = next->second;
    const std::size_t asked =
        task.tables ? task.tables->poll(state_->telemetry.tables, now, budget) : 0;
    if (asked > 0) {
      budget -= std::min(budget, asked);
      next_dump_ = TaskId(next->first.index() + 1);
      take_tables(now, task);
    }
  }
}

void SkeletonStage::take_tables(Time now, Task& task) {
  std::optional<TaskSkeleton> read = task.tables->skeleton();
  if (!read) {
    return;
  }
  TaskSkeleton seen = sobered(std::move(*read), state_->options.skeleton);
  if (task.phase != Phase::kSettled || seen.scope != task.skeleton.scope ||
      seen.peers != task.skeleton.peers) {
    adopt(now, task, std::move(seen));
  }
}

void SkeletonStage::adopt(Time now, Task& task, TaskSkeleton skeleton) {
  task.guard.reset();
  const bool same_lists = skeleton.scope == SkeletonScope::kSameRail && skeleton.peers.empty() &&
                          !task.lists.replaced();
  if (!same_lists) {
    task.lists.choose(*state_, skeleton);
  }
  task.phase = settles(skeleton) ? Phase::kSettled : Phase::kRecording;
  task.skeleton = std::move(skeleton);
  tell(now, task, task.skeleton);
}

void SkeletonStage::fall_back(Time now, Time since, Task& task, std::string why) {
  adopt(now, task, preloaded(std::move(why)));
  task.since = since;
  task.next_look = state_->options.skeleton.shortest_record;
}

void SkeletonStage::keep_incidents() {
  std::map<TaskId, std::vector<Pair>> wanted;
  for (const auto& [id, task] : tasks_) {
    if (task.lists.replaced()) {
      wanted.try_emplace(id);
    }
  }
  if (wanted.empty()) {
    return;
  }
  for (const IncidentIndex index : state_->incidents.open()) {
    for (const PairId pair : state_->incidents[index].pairs) {
      const Pair& ends = state_->ends(pair);
      const auto task = wanted.find(task_of_.value(ends.source));
      if (task != wanted.end()) {
        task->second.push_back(ends);
      }
    }
  }
  for (const auto& [id, pairs] : wanted) {
    tasks_.at(id).lists.keep(*state_, pairs);
  }
}

void SkeletonStage::tell(Time now, const Task& task, const TaskSkeleton& seen) const {
  state_->updates.skeletons.push_back(
      {.at = now,
       .task = task.name,
       .scope = std::string(to_string(seen.scope)),
       .basis = std::string(to_string(seen.basis)),
       .confidence = seen.confidence,
       .members = static_cast<std::uint32_t>(task.lists.members().size()),
       .stages = seen.stage_count,
       .pairs = task.lists.pair_count(*state_),
       .pairs_repaired = task.lists.repaired(),
       .why = seen.why,
       .lags_s = seen.lags_s});
}

std::size_t SkeletonStage::held_size() const {
  std::size_t size = history_.held_size() + task_of_.held_size();
  for (const auto& [id, task] : tasks_) {
    size += sizeof(Task) + task.lists.held_size();
  }
  return size;
}

}  // namespace bonescan
