// The one evaluator: what a run detected, judged against what was really broken.
//
// Pure: the same rows give the same evaluation.  The rules are in METHODS.md beside this file; they
// are the same for every detector and every scenario.
// Invariants: 1. every fault and every incident has exactly one outcome; 2. a fault is found by at
// most one incident and an incident finds at most one fault; 3. true positives + false negatives =
// faults, and faults that are not yet decided are in neither; 4. an undefined figure is nullopt;
// 5. without truth there is no score at all.
#pragma once

#include "sim/base/units.h"
#include "tools/evaluate/localization.h"
#include "tools/evaluate/run_data.h"
#include "tools/evaluate/statistics.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// The match windows of a run.
struct MatchingRules {
  Duration abrupt_deadline{};  ///< max(30 s, 2 sweeps + one window)
  Duration merge_gap = std::chrono::seconds(60);
  double gray_bound_factor = 3.0;  ///< a gray loss has this many times its information bound
  double missed_counts_as_s = 60.0;
  /// What only hosts can tell may wait for the slow round over all of them. @ours
  Duration host_deadline = std::chrono::minutes(30);
};

enum class FaultStatus {
  kDetected,
  kMissed,
  kUndecided,   ///< the run ends before it could count as missed
  kAgentDeath,  ///< a death of a probing process: not a network fault, in no ratio
};

std::string_view to_string(FaultStatus status);
/// Detected or missed: counts in the ratios.
bool is_decided(FaultStatus status);

/// What became of one truth row, in the order of RunData::truth.
struct FaultOutcome {
  FaultStatus status = FaultStatus::kUndecided;
  bool gray = false;                    ///< its deadline comes from its information bound
  bool by_host = false;                 ///< no probe sees it, its host does
  Duration deadline{};                  ///< after time zero
  std::optional<std::size_t> incident;  ///< index of the incident that found it
  std::optional<double> time_to_detect_s;
  PlacementJudgement placement;
  bool hidden_by_agent_death = false;  ///< missed, but explained away as a death of an agent
};

enum class IncidentStatus {
  kMatched,        ///< found a fault
  kDuplicate,      ///< a further incident of a fault that was found
  kFalsePositive,  ///< nothing it could have found
  kAgentDeath,     ///< says that a probing process died: neither right nor wrong about the network
  kPlanned,        ///< lies in a maintenance window: set aside, neither right nor wrong
  kMerged,         ///< one with an earlier incident of the same component
  kUndecided,      ///< there is no truth, or the run was cut before the truth was known
};

std::string_view to_string(IncidentStatus status);

/// What became of one incident, in the order of RunData::incidents.
struct IncidentOutcome {
  IncidentStatus status = IncidentStatus::kUndecided;
  std::optional<std::size_t> fault{};  ///< index of the truth row: found, repeated, or too late for
  std::optional<std::size_t> merged_into{};  ///< index of the incident it is one with
  bool late = false;  ///< a false positive that a missed fault would explain, after its deadline
};

/// `successes` of `trials` with its intervals.
struct Ratio {
  std::size_t successes = 0;
  std::size_t trials = 0;
  std::optional<double> value;
  std::optional<Interval> wilson95;
  std::optional<Interval> clopper_pearson95;
};

Ratio make_ratio(std::size_t successes, std::size_t trials);

/// From time zero, over detected faults with an abrupt deadline.
struct TimeToDetect {
  std::optional<double> mean_s;
  std::optional<double> median_s;
  std::optional<double> p95_s;
  std::optional<double> mean_with_misses_s;        ///< misses count as MatchingRules says
  std::optional<double> information_bound_mean_s;  ///< of the same detected faults
};

/// The score of a stratum: one kind of fault, or one symptom.
struct StratumScore {
  std::string name{};
  std::size_t faults = 0;
  std::size_t visible = 0;
  Ratio recall{};
  TimeToDetect time_to_detect{};  ///< here over all detected faults, gray ones too
  Ratio placed{};                 ///< correct of detected
};

/// Precision restated at a prevalence, see METHODS.md.
struct RestatedPrecision {
  double faults_per_day = 0.0;  ///< in a fleet of kReferenceRnics
  std::optional<double> value{};
  std::optional<double> low95{};  ///< with the upper bound of the false alarm rate
};

inline constexpr double kReferenceRnics = 32768.0;
/// @paper SkeletonHunter: 4,816 failures in 184 days on about 32,768 RNICs
inline constexpr double kReferenceFaultsPerDay = 26.2;

struct DetectionScore {
  std::size_t faults = 0;
  std::size_t visible = 0;
  std::size_t host_visible = 0;
  std::size_t undecided = 0;
  std::size_t true_positives = 0;
  std::size_t false_positives = 0;
  std::size_t false_negatives = 0;
  std::size_t duplicates = 0;
  std::size_t merged = 0;
  std::size_t late = 0;  ///< of the false positives
  std::size_t agent_deaths = 0;
  std::size_t planned = 0;  ///< incidents in maintenance windows
  std::size_t undecided_incidents = 0;
  std::size_t hidden_by_agent_death = 0;  ///< of the false negatives
  Ratio precision;
  Ratio recall;
  Ratio recall_visible;
  Ratio recall_host_visible;  ///< of those that a look at the host shows
  TimeToDetect time_to_detect;
  std::optional<double> false_alarms_per_day;
  std::optional<double> false_alarms_per_day_upper95;
  std::optional<double> false_alarms_per_reference_day;  ///< per kReferenceRnics RNIC-days
  RestatedPrecision restated;
  std::vector<RestatedPrecision> curve;  ///< by rising prevalence
  std::vector<StratumScore> by_kind;     ///< by name
  std::vector<StratumScore> by_symptom;
};

struct LocalizationScore {
  std::size_t localized = 0;  ///< found faults whose incident names something
  std::size_t correct = 0;
  std::size_t abstained = 0;
  Ratio accuracy;                       ///< correct of localized + abstained
  std::optional<double> set_size_mean;  ///< over localized
  std::optional<double> top1;           ///< mean credit over localized + abstained
};

struct Evaluation {
  MatchingRules matching;
  std::vector<FaultOutcome> faults;
  std::vector<IncidentOutcome> incidents;
  std::optional<DetectionScore> detection;        ///< absent without truth
  std::optional<LocalizationScore> localization;  ///< absent without truth
};

Evaluation evaluate(const RunData& run);

/// How long RNICs were watched.  Where tasks come and go, each endpoint counts from its submission
/// (or the start) until it is gone (or the end); where none is submitted, all count throughout.
/// @units RNICs times days
double rnic_days(const RunData& run);

}  // namespace bonescan
