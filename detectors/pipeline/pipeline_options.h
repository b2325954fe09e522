// Every knob of the production pipeline in one place, with its unit and where its value is from.
#pragma once

#include "detectors/incident/maintenance_window.h"
#include "detectors/longterm/long_term_options.h"
#include "detectors/shortterm/shift_options.h"
#include "sim/base/units.h"
#include "skeleton/skeleton_options.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

enum class PingListKind : std::uint8_t {
  kFullMesh,
  kSameRail,
  kSkeleton,  ///< same rail first, then what the job's traffic shows that it uses
};

/// Who is probed, how often, with what.
struct ProbingOptions {
  PingListKind list = PingListKind::kSameRail;
  Duration visit = std::chrono::seconds(1);           ///< one destination per RNIC per visit @paper
  std::uint8_t probes_per_visit = 10;                 ///< k @ours; the paper's configuration is 1
  Duration timeout = std::chrono::milliseconds(500);  ///< @ours (R-Pingmesh's value)
  std::uint16_t payload_bytes = 64;
  std::uint8_t dscp = 26;     ///< the job's own class
  bool counter_phase = true;  ///< the ends of a pair probe it half a sweep apart @ours
  Duration lateness{};        ///< reports may come so long after their visit was complete @ours
};

/// Which of a window's features are compared.
enum class FeatureChoice : std::uint8_t {
  kAll,     ///< the seven of the paper
  kMedian,  ///< the median alone: for hosts that are too noisy for tails
};

enum class DetectionConfiguration : std::uint8_t {
  kBonescan,  ///< pooled log features, floor, frozen history, likelihood vote
  kPaper,     ///< SkeletonHunter as published: raw features, a constant threshold, a raw vote
};

struct WindowOptions {
  Duration length = std::chrono::seconds(30);      ///< @paper
  std::size_t history = 10;                        ///< non-empty windows kept per pair
  Duration history_age = std::chrono::minutes(5);  ///< @paper's look-back, a lower bound here
  std::size_t history_sweeps = 12;  ///< a history may be this many sweeps old if that is longer
  /// A visit after a longer gap meets an evicted megaflow: its first probe counts for loss only.
  Duration cold_after = std::chrono::seconds(10);
};

struct ShortTermOptions {
  std::size_t neighbours = 5;
  double distance_floor = 0.05;
  FeatureChoice features = FeatureChoice::kAll;
  /// Features are floored here: what moves below it is the clock's or the host's, not the path's.
  /// Half a microsecond suits device timestamps; a lab of virtual machines needs a millisecond.
  Duration feature_floor = std::chrono::nanoseconds(500);  ///< @ours
  double threshold = 4.0;                                  ///< LOF
  double minimum_factor =
      1.25;  ///< the window's minimum must exceed the history's median minimum by it
};

struct LossOptions {
  std::size_t consecutive = 4;    ///< lost probes of one pair in a row: unreachable
  double base_loss_ratio = 1e-5;  ///< expected per probe where nothing is wrong
  Duration pool_window = std::chrono::seconds(60);  ///< lossy visits are pooled this long
  double open_llr = 14.0;  ///< nats of evidence for one link before it is accused
};

struct LocalizeOptions {
  std::size_t walks_per_round = 16;  ///< overlay walks asked for per visit period
  std::size_t dumps_per_round = 4;   ///< flow-table dumps asked for per visit period
  double latency_hit_ratio = 0.6;    ///< share of a link's pairs that must be late to accuse it
  double tie_nats = 1.0;             ///< links this close to the best one are not told apart
  Duration max_idle = std::chrono::seconds(10);  ///< of the bridges: other_config:max-idle
};

/// Probes beside the plan: where an incident leaves something open, and second looks at what a
/// visit lost.
struct FollowUpOptions {
  std::size_t probes_per_round = 40;  ///< of all together, per visit period; 0: none
  std::size_t traces_per_round = 16;  ///< paths asked for per visit period
  std::size_t rounds = 6;             ///< of one incident; then it stays as it is
  std::uint16_t large_bytes = 1'024;  ///< the other payload, unless the probes' own is as large
  std::uint8_t other_dscp = 0;        ///< best effort, unless the probes' own is that
  double decide_nats = 7.0;           ///< evidence before anything is concluded @ours
};

/// Looks at hosts for what probes cannot see.
struct HostCheckOptions {
  std::size_t inspections_per_round = 2;  ///< per visit period, where something is wrong; 0: none
  std::size_t round_periods = 5;  ///< in so many visit periods each host is asked of one endpoint
  Duration flat_after = std::chrono::seconds(60);  ///< counters that stand still so long are flat
};

struct IncidentOptions {
  Duration merge_gap =
      std::chrono::seconds(60);  ///< @paper scoring rule: shorter gaps are one event
  Duration close_after =
      std::chrono::seconds(90);  ///< without a symptom for this long and one sweep
  /// A closed incident that fails again in the same way so soon is the same; zero: never. @ours
  Duration reopen_after = std::chrono::minutes(10);
};

struct PipelineOptions {
  DetectionConfiguration configuration = DetectionConfiguration::kBonescan;
  ProbingOptions probing;
  WindowOptions window;
  ShortTermOptions short_term;
  LongTermOptions long_term;
  ShiftOptions shift;
  LossOptions loss;
  LocalizeOptions localize;
  FollowUpOptions follow_up;
  HostCheckOptions host_check;
  SkeletonOptions skeleton;
  IncidentOptions incident;
  std::vector<MaintenanceWindow> maintenance;  ///< anchored (maintenance.h) before a pipeline runs
  std::uint64_t seed = 1;  ///< source ports and visit order; nothing else is random here
};

}  // namespace bonescan
