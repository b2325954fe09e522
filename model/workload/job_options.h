// One training job: its shape, its rhythm, how it starts.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

enum class Workload : std::uint8_t {
  kTraining,   ///< a burst in every step
  kInference,  ///< requests at random moments, each replica its own; no gradients
  kDebug,      ///< somebody tries something now and then
};

/// When the stages of a pipeline are done with their last backward pass (step_schedule.h).
enum class PipelineSchedule : std::uint8_t {
  kExplicit,  ///< as `stage_offset` says
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
};

/// Which stage bursts first.
enum class StageOrder : std::uint8_t {
  kOfSchedule,  ///< the last one if the schedule is derived; the front one if it is explicit
  kFrontFirst,
  kBackFirst,
};

enum class GradientCollective : std::uint8_t {
  kRing,
  kTree,
  kMesh,
};

enum class Sharding : std::uint8_t {
  kNone,
  kOptimizer,  ///< ZeRO 1 and 2: reduce-scatter, then all-gather, where others all-reduce
  kFull,       ///< ZeRO 3, FSDP: parameters are gathered in every pass
};

/// Whom tokens go to: experts on the sender's own rail, or on every rail.
enum class ExpertRails : std::uint8_t {
  kSame,
  kCross,
};

/// Does the platform tell which container of the job is which?
enum class RankOrder : std::uint8_t {
  kHidden,
  kKnown,
};

/// What is trained; zero parameters: not given, and nothing is derived from it.
struct ModelSize {
  double parameters = 0.0;
  std::uint32_t layers = 0;
  std::uint32_t hidden = 0;
  std::uint32_t sequence = 2'048;           ///< tokens
  std::uint32_t batch = 0;                  ///< sequences a step, of all replicas
  double peak_flops = 312e12;               ///< of one GPU; an A100's in bf16
  double mfu = 0.45;                        ///< model FLOPs utilization over the whole step
  std::uint32_t experts_per_token = 2;      ///< of a mixture of experts
  BitsPerSecond sync_rate{15'000'000'000};  ///< in a burst, of one RNIC @paper Figure 7

  bool given() const { return parameters > 0.0; }
};

enum class PhaseKind : std::uint8_t {
  kCheckpoint,  ///< the first replica writes its shards; nobody trains
  kStorage,     ///< everybody reads or writes; nobody trains
  kEvaluation,  ///< forward passes only
};

/// Does nobody train in it?
constexpr bool is_silent(PhaseKind kind) {
  return kind != PhaseKind::kEvaluation;
}

/// Comes before every `every`-th step.
struct PeriodicPhase {
  PhaseKind kind = PhaseKind::kCheckpoint;
  std::uint32_t every = 100;  ///< steps
  Duration length = std::chrono::seconds(30);
  BitsPerSecond rate{5'000'000'000};  ///< to or from storage, of each RNIC that takes part @ours
};

/// A container whose bursts come late.
struct Straggler {
  std::uint32_t container = 0;  ///< position in the order of ranks
  Duration late_by = std::chrono::seconds(1);
  Duration at{};      ///< from here on, in the time of the run
  Duration length{};  ///< zero: for ever
};

/// A rank that takes no part: nothing is sent to it or by it.
struct IdleRank {
  std::uint32_t rank = 0;
};

/// From `at` on the same RNICs, in the same order, have another layout.
struct ShapeChange {
  Duration at{};
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  Duration restart = std::chrono::seconds(30);  ///< silence before the first step
};

struct JobOptions {
  std::string name = "job";
  std::uint32_t gpus = 0;  ///< = tp * cp * pp * dp
  std::uint32_t tp =
      1;  ///< tensor parallel degree; fills a host when it equals the number of rails
  std::uint32_t pp = 1;  ///< pipeline stages
  std::uint32_t dp = 1;  ///< data-parallel replicas
  Duration step_time = std::chrono::seconds(8);
  double step_jitter = 0.03;        ///< coefficient of variation
  std::uint32_t microbatches = 16;  ///< pipeline sends per step and direction
  double burst_share = 0.2;         ///< share of a step in which gradients are synchronized
  Duration stage_offset =
      std::chrono::milliseconds(500);  ///< burst of stage s starts s offsets later
  Duration start{};
  Duration ready_spread = std::chrono::minutes(2);  ///< containers become ready over this time
  Duration stop{};  ///< its task is ended then, in the middle of its work; zero: never

  std::uint32_t cp = 1;  ///< context-parallel degree
  std::uint32_t ep = 1;  ///< expert-parallel degree: data-parallel ranks that share experts
  ExpertRails expert_rails = ExpertRails::kSame;
  double expert_volume = 1.0;   ///< of what gradients take, if no model size is given @ours
  double context_volume = 0.5;  ///< likewise @ours
  RankOrder rank_order = RankOrder::kHidden;
  Workload workload = Workload::kTraining;
  double activity = 0.3;  ///< share of steps with a burst, unless the job trains @ours
  PipelineSchedule schedule = PipelineSchedule::kExplicit;
  StageOrder stage_order = StageOrder::kOfSchedule;
  std::uint32_t chunks = 2;  ///< of the model on every stage, if the schedule is interleaved
  GradientCollective collective = GradientCollective::kRing;
  Sharding sharding = Sharding::kNone;
  double worker_spread = 0.0;  ///< of hosts around each other: sd of their lag over the step time
  double worker_jitter = 0.0;  ///< of one host around itself: sd of its lag over the step time
  std::uint32_t container_rnics = 0;  ///< 0: all of the host
  std::string beside{};               ///< shares the hosts of this job
  std::vector<IdleRank> idle{};
  ModelSize model{};
  std::vector<PeriodicPhase> phases{};
  std::vector<Straggler> stragglers{};
  std::vector<ShapeChange> changes{};
};

/// Parts of the model on every stage that a micro-batch passes one after the other.
inline std::uint32_t pipeline_chunks(const JobOptions& options) {
  return options.schedule == PipelineSchedule::kInterleaved ? options.chunks : 1;
}

/// `options` as they are from change `index` on.
inline JobOptions reshaped(JobOptions options, std::size_t index) {
  const ShapeChange& change = options.changes[index];
  options.tp = change.tp;
  options.pp = change.pp;
  options.dp = change.dp;
  return options;
}

}  // namespace bonescan
