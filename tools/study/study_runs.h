// Runs the cases of a plan on some threads and sums them up; the same answer whatever their number.
#pragma once

#include "tools/study/output/study_command.h"
#include "tools/study/study_drift.h"
#include "tools/study/study_evidence.h"
#include "tools/study/study_plan.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Of all seeds of one point or kind.
struct StudySummary {
  std::uint32_t runs = 0;
  double adjusted_rand_mean = 0.0;
  double adjusted_rand_least = 0.0;
  std::array<EdgeCount, kEdgeClasses> edges{};
  std::uint32_t runs_missing = 0;  ///< a communicating pair is outside of the scope that is used
  std::uint32_t runs_fallen_back = 0;
  std::array<std::uint32_t, 4> scopes{};  ///< runs, by SkeletonScope
  std::uint32_t stages_right = 0;         ///< runs
  double precision = 0.0;                 ///< listed pairs that communicate
  double list_mean = 0.0;                 ///< mean of the longest list of a run
  double oracle_mean = 0.0;               ///< likewise, of a list of those who talk
  double mesh = 0.0;                      ///< destinations of a full mesh
  std::string why_fallen_back;            ///< the most frequent reason, without its numbers

  double recall() const;
};

struct PointResult {
  StudyPoint point;
  StudySummary summary;

  bool holds() const;
};

/// Confidence against what came of it: [low, high) of one bin.
struct ReliabilityBin {
  double low = 0.0;
  double high = 0.0;
  std::uint32_t runs = 0;
  std::uint32_t right = 0;  ///< no communicating pair outside
  double confidence_sum = 0.0;
};

/// A run in which a communicating pair is outside of the lists.
struct StudyMiss {
  std::uint64_t seed = 0;
  StudyCase run;
  StudyOutcome outcome;
};

struct KindResult {
  StudyKind kind;
  StudySummary summary;
  std::uint32_t runs_confident = 0;  ///< above 0.99
  std::uint32_t runs_confident_missing = 0;
  std::vector<ReliabilityBin> bins;
  std::vector<StudyMiss> misses;
};

/// One kind of job under each source of evidence, with one draw a seed.
struct EvidenceResult {
  std::string kind;
  std::uint32_t runs = 0;
  StudySummary throughput;
  std::uint64_t flow_missed = 0;  ///< directed pairs, of all runs
  double flow_recall_least = 1.0;
  double flow_list_mean = 0.0;
  double flow_dumps_mean = 0.0;  ///< of an RNIC
  double flow_known_s_mean = 0.0;
  std::uint32_t flow_peers = 0;  ///< runs whose scope is peers
};

/// Odd seeds are reported from here on: a few of the first were looked at while inference was
/// written.
constexpr std::uint64_t kFirstOddSeed = 300'001;

std::string_view to_string(SeedParity seeds);

struct StudyResults {
  SeedParity seeds = SeedParity::kOdd;
  std::vector<PointResult> points;
  std::vector<KindResult> kinds;
  std::vector<EvidenceResult> evidence;
  std::vector<DriftDelay> delays;
  std::vector<DriftAlarms> alarms;
  std::vector<RealisticJob> realistic;

  /// Does everything that is wanted hold?
  bool hold() const;
};

StudyResults run_study(StudySize size, SeedParity parity, std::uint32_t threads);

std::vector<ReliabilityBin> reliability_bins();

}  // namespace bonescan
