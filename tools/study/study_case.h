// One run of the skeleton study: a job's traffic as counters see it, what is inferred from it, and
// how that compares with what the job really does.
//
// The traffic is the model's (model/workload/job.h); noise, skew and draws are the study's own.
// Whoever infers sees the record alone.
#pragma once

#include "model/workload/job.h"
#include "skeleton/rail_pairs.h"
#include "skeleton/skeleton_inference.h"
#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_record.h"
#include "tools/study/study_noise.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan {

enum class EdgeClass : std::uint8_t {
  kData,
  kPipeline,
  kExpert,
  kContext,
};

constexpr std::size_t kEdgeClasses = 4;

std::string_view to_string(EdgeClass edge);

struct StudyCase {
  JobOptions job;
  double snr_db = 10.0;     ///< burst sd over noise sd, of one RNIC's 1 s samples
  Duration skew{};          ///< clocks of hosts are off by up to this, and nobody knows
  bool own_phases = false;  ///< samplers of hosts begin their seconds when they like, and say so
  Duration length = std::chrono::seconds(300);
  StudyNoise noise = StudyNoise::kWhite;
};

struct EdgeCount {
  std::uint64_t covered = 0;
  std::uint64_t all = 0;
};

struct StudyOutcome {
  double adjusted_rand = 0.0;      ///< of the stages that are likeliest, whatever scope is used
  std::uint32_t stages = 0;        ///< likewise
  double lowest_confidence = 0.0;  ///< of the smallest scope that could be named at all
  bool lowest_misses = false;      ///< a pair communicates outside of it
  SkeletonScope lowest = SkeletonScope::kMesh;
  SkeletonScope scope = SkeletonScope::kMesh;  ///< that is used at the wanted confidence
  double confidence = 0.0;
  std::array<EdgeCount, kEdgeClasses> edges{};  ///< directed, of the scope that is used
  std::uint64_t listed = 0;                     ///< directed pairs in its lists
  std::uint64_t listed_true = 0;                ///< of them, in which somebody sends
  std::uint64_t oracle = 0;                     ///< directed pairs, of those who talk
  std::uint32_t members = 0;
  std::uint32_t longest_list = 0;
  std::uint32_t longest_oracle = 0;
  std::string why;

  std::uint64_t missed() const;
  double recall() const;

  /// Wider than groups: nothing of the stages is used.
  bool fell_back() const { return scope < SkeletonScope::kAdjacentGroups; }
};

/// A job on as many whole hosts as it needs, running since the run began.
struct StudyWorld {
  StudyWorld(const StudyCase& run, std::uint64_t seed);

  Fabric fabric;
  Job job;
  std::vector<RnicId> rnics;  ///< by member
  EndpointDirectory directory;
};

std::vector<EndpointId> members_of(const StudyWorld& world);

/// By member.
std::vector<std::uint32_t> true_stages(const StudyWorld& world);

TrafficRecord study_record(const StudyWorld& world, const StudyCase& run, std::uint64_t seed);

/// Counts what lists cover of what the job does.
void compare_with_truth(const StudyWorld& world, const PingLists& lists, StudyOutcome& outcome);

StudyOutcome run_study_case(const StudyCase& run,
                            std::uint64_t seed,
                            const SkeletonInference& inference,
                            double confidence = 0.99);

}  // namespace bonescan
