#include "tools/study/study_evidence.h"

#include "detectors/telemetry/telemetry.h"
#include "skeleton/flow_evidence.h"
#include "skeleton/skeleton_options.h"
#include "skeleton/skeleton_targets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace bonescan {
namespace {

constexpr Time kFirstDump = kStartOfRun + std::chrono::seconds(120);
constexpr Duration kLongest = std::chrono::minutes(5);
/// A probe of 64 bytes to each destination of a list of 63, once a second in turn, and its answer.
constexpr double kProbeBytesPerSecond = 2.0;

/// The tables of the job's RNICs.
class JobTables final : public FlowTableSource {
 public:
  explicit JobTables(const StudyWorld& world) : world_(&world) {
    for (std::uint32_t m = 0; m < world.rnics.size(); ++m) {
      members_[world.rnics[m]] = m;
    }
  }

  Expected<FlowTableDump> dump(EndpointId, std::span<const FlowKey>, Time) override {
    return fail(ErrorCode::kUnavailable, "only counters are kept here");
  }

  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override {
    const RnicId source = world_->rnics[at.index()];
    std::map<EndpointId, double> bytes;
    for (const JobPeer& peer : world_->job.peers(source, now)) {
      bytes[EndpointId(members_.at(peer.target))] =
          world_->job.bytes_between(source, peer.target, kStartOfRun, now);
    }
    for (std::uint32_t m = 0; m < world_->rnics.size(); ++m) {
      if (world_->directory[EndpointId(m)].rail == world_->directory[at].rail && m != at.index()) {
        bytes[EndpointId(m)] += kProbeBytesPerSecond * seconds(now - kStartOfRun);
      }
    }
    FlowCounterDump dump;
    for (const auto& [target, count] : bytes) {
      FlowCounter counter;
      counter.peer = target;
      counter.bytes = static_cast<std::uint64_t>(count);
      counter.age = now - kStartOfRun;
      dump.flows.push_back(counter);
    }
    return dump;
  }

 private:
  const StudyWorld* world_;
  std::map<RnicId, std::uint32_t> members_;
};

}  // namespace

EvidenceOutcome run_flow_tables(const StudyCase& run, std::uint64_t seed) {
  const StudyWorld world(run, seed);
  const std::vector<EndpointId> members = members_of(world);
  SkeletonOptions options;
  options.evidence = SkeletonEvidence::kFlowTable;
  FlowEvidence evidence(members, options);
  JobTables tables(world);
  std::size_t dumps = 0;
  Time now = kFirstDump;
  std::optional<TaskSkeleton> skeleton;
  for (; now <= kFirstDump + kLongest; now += std::chrono::seconds(1)) {
    dumps += evidence.poll(tables, now, options.dumps_per_round);
    skeleton = evidence.skeleton();
    if (skeleton && skeleton->scope == SkeletonScope::kPeers) {
      break;
    }
  }
  EvidenceOutcome outcome;
  outcome.known_after_s = seconds(now - kFirstDump);
  outcome.dumps_per_rnic = static_cast<double>(dumps) / static_cast<double>(members.size());
  const TaskSkeleton used = skeleton.value_or(TaskSkeleton{});
  outcome.scope = used.scope;
  StudyOutcome compared;
  compare_with_truth(world, skeleton_targets(world.directory, members, used), compared);
  outcome.recall = compared.recall();
  outcome.missed = compared.missed();
  outcome.longest_list = compared.longest_list;
  return outcome;
}

}  // namespace bonescan
