// From throughput, or flow tables, to the ping lists of every task.
//
// Intuition: a task starts on the preloaded list of its rail.  From the moment when all of its
// members are ready, its traffic is recorded and read: at the shortest record, and again as the
// record doubles, up to the longest.  Once it is known who talks to whom, the lists become that,
// and a guard watches whether the task still bursts as it did.  When it does not, the lists are
// the whole rail again, at once, and recording starts anew.  The same happens when a member comes
// or goes, or when nothing is reported any more: whoever does not know casts the wider net.
// Flow tables replace recording by dumps, a few a round and task by task; they are read again every
// few minutes instead of being guarded.
// Every look and every change is told as a SkeletonRecord, with its reason.
// Invariants: 1. a pair of an open incident is listed until the incident is closed; 2. nothing is
// read of a task that opted out; 3. the same calls give the same lists; 4. nothing is kept of a
// task that has ended; 5. unless PingListKind is kSkeleton, nothing is done and nothing held.
// Rough model: a step per member and second, and a few readings a task.
// Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_state.h"
#include "detectors/pipeline/task_lists.h"
#include "skeleton/drift_guard.h"
#include "skeleton/flow_evidence.h"
#include "skeleton/skeleton_inference.h"
#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_history.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

class SkeletonStage final {
 public:
  explicit SkeletonStage(PipelineState& state);

  /// Endpoints that were submitted together; their preloaded lists are in the scheduler.
  void submit(EndpointRange range);

  /// A task is over.
  void end(std::span<const EndpointId> endpoints);

  void throughput(std::span<const ThroughputSample> samples);

  /// End of a round: reads what is due and changes the lists.
  void run(Time now);

  /// Bytes that go with tasks, and bytes that stay.
  std::size_t held_size() const;
  std::size_t kept_size() const { return task_of_.kept_size() + history_.kept_size(); }

 private:
  using TaskId = StrongId<struct SkeletonTaskTag>;

  enum class Phase : std::uint8_t {
    kWaiting,    ///< for all members to be ready
    kRecording,  ///< on the preloaded list, or a wider one
    kSettled,    ///< the lists follow from the task's traffic
  };

  struct Task {
    std::string name;
    TaskLists lists;
    bool opted_out = false;
    bool announced = false;  ///< its first record was told
    Phase phase = Phase::kWaiting;
    TaskSkeleton skeleton{};
    Time since{};          ///< all members are ready, and nothing has changed since
    Duration next_look{};  ///< at this length of the record; only for kThroughput
    std::optional<DriftGuard> guard{};
    Time guarded_until{};
    Duration unguarded{};  ///< the guard could not tell for so long
    std::optional<FlowEvidence> tables{};
  };

  void run_task(Time now, Task& task);
  /// Since when all members are ready; nothing, and who is not, if one is not.
  std::optional<Time> all_ready_since(const Task& task, std::string& who_not) const;
  void start(Time now, Time since, Task& task);
  void look(Time now, Task& task);
  void read_tables(Time now);
  void take_tables(Time now, Task& task);
  void guard(Time now, Task& task);
  /// The lists become those of `skeleton`, and this is told.
  void adopt(Time now, Task& task, TaskSkeleton skeleton);
  /// Back to the whole rail; recording starts anew at `since`.
  void fall_back(Time now, Time since, Task& task, std::string why);
  void keep_incidents();
  void tell(Time now, const Task& task, const TaskSkeleton& seen) const;
  /// The last moment whose samples have all come in.
  Time settled(Time now) const;

  PipelineState* state_;
  bool enabled_;
  bool by_throughput_;
  TrafficHistory history_;
  std::unique_ptr<const SkeletonInference> inference_;  ///< kThroughput only
  PagedColumn<EndpointId, TaskId> task_of_;
  std::map<TaskId, Task> tasks_;  ///< that have not ended
  std::uint32_t submitted_ = 0;
  TaskId next_dump_{0};                   ///< whose turn it is, or the one after it
  std::vector<ThroughputSample> wanted_;  ///< scratch of throughput()
  std::vector<float> rates_;              ///< scratch of guard()
};

}  // namespace bonescan
