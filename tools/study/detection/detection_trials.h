// Trials: one fault in one fleet with its own seed, heard by all detectors at once.
//
// A detector has found a fault when it accuses a pair that the fault touches, after its onset.  All
// detectors of a trial hear the same visits; a trial ends when all have alarmed or `watch_s` after
// the onset.  Accusations before the onset, or of other pairs, are false.
#pragma once

#include "tools/study/detection/detector_registry.h"
#include "tools/study/detection/noise_world.h"
#include "tools/study/output/study_command.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

/// The i-th seed of a parity.
std::uint64_t trial_seed(SeedParity parity, std::uint32_t i);

struct TrialPlan {
  FleetPlan fleet{};
  FaultPlan fault{};
  double warm_s = 420.0;  ///< before the onset, which is drawn from one sweep after it
  double watch_s = 60.0;  ///< after the onset
  std::uint32_t trials = 50;
};

/// What one detector made of one fault.
struct TrialOutcome {
  std::optional<double> delay_s;  ///< nothing: missed
  std::uint64_t probes = 0;       ///< that crossed the fault, the visit that alarmed included
  std::uint64_t probes_sent = 0;  ///< likewise, until the end of the turn that was heard
};

/// All trials of one detector.
struct TrialSeries {
  std::vector<TrialOutcome> outcomes;
  std::uint64_t false_alarms = 0;  ///< incidents before the onset
  std::uint64_t visits = 0;        ///< before the onset

  std::uint32_t found() const;
  /// Misses count as `missed_s`.
  double mean_s(double missed_s) const;
  /// Of all trials, misses at infinity; in [0, 1].
  double quantile_s(double share) const;
  /// Of those that were found.
  double mean_probes() const;
  double mean_probes_sent() const;
  double found_within(double limit_s) const;
};

/// One series per entry.  The same answer whatever the number of threads.
std::vector<TrialSeries> run_trials(const TrialPlan& plan,
                                    const std::vector<DetectorEntry>& entries,
                                    SeedParity parity,
                                    std::uint32_t threads);

/// Counts incidents rather than verdicts: accusations of a pair, in either direction, with gaps
/// under 60 s are one, and so are pooled accusations of one turn.
class IncidentCount final {
 public:
  explicit IncidentCount(const PairTable& pairs);

  void add(const Verdict& verdict);
  std::uint64_t count() const { return count_; }

 private:
  const PairTable* pairs_;
  std::vector<Time> last_;  ///< by pair
  Time last_pooled_ = Time::min();
  std::uint64_t count_ = 0;
};

struct NullSeries {
  std::uint64_t incidents = 0;
  std::uint64_t verdicts = 0;
  std::uint64_t visits = 0;  ///< after warm-up
};

/// Nothing is wrong for `seconds` after the warm-up, in each of `runs` fleets.
std::vector<NullSeries> run_null(const FleetPlan& fleet,
                                 const std::vector<DetectorEntry>& entries,
                                 SeedParity parity,
                                 std::uint32_t runs,
                                 std::uint32_t seconds,
                                 std::uint32_t threads);

/// Visits of 32,768 RNICs in a day, one a second each.
constexpr double kFleetDayVisits = 32'768.0 * 86'400.0;

/// 95 % upper bound of a Poisson mean of which `count` were seen.
double poisson_upper(std::uint64_t count);
double poisson_lower(std::uint64_t count);

}  // namespace bonescan
