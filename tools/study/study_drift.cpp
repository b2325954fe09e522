#include "tools/study/study_drift.h"

#include "skeleton/drift_guard.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace bonescan {
namespace {

constexpr std::int64_t kReference = 300;  ///< columns
/// Where records begin (study_record).
constexpr std::int64_t kRecordFrom = 120;
constexpr double kWantedSteps = 3.0;
constexpr double kLookedAtSteps = 6.0;
constexpr Duration kPrice = std::chrono::hours(1);
constexpr std::int64_t kWatched = 10'800;  ///< columns

/// 64 GPUs: two stages of four hosts.
StudyCase watched_job(double step_s, double snr_db) {
  StudyCase run;
  run.job.gpus = 64;
  run.job.tp = 8;
  run.job.pp = 2;
  run.job.dp = 4;
  run.job.step_time = from_seconds(step_s);
  run.job.stage_offset = from_seconds(std::min(2.0, step_s / 8.0));
  run.snr_db = snr_db;
  return run;
}

/// The skeleton as it is: the guard is to be measured, not what was inferred.
TaskSkeleton true_skeleton(const StudyWorld& world, const StudyCase& run) {
  TaskSkeleton skeleton;
  skeleton.scope = SkeletonScope::kAdjacentGroups;
  skeleton.basis = SkeletonBasis::kThroughput;
  skeleton.stage_count = run.job.pp;
  skeleton.stages = true_stages(world);
  for (std::uint32_t stage = 0; stage < run.job.pp; ++stage) {
    skeleton.lags_s.push_back(stage * seconds(run.job.stage_offset));
  }
  return skeleton;
}

void change_job(StudyCase& run, DriftChange change, std::int64_t at_s) {
  const Duration at = std::chrono::seconds(at_s);
  if (change == DriftChange::kStraggler) {
    run.job.stragglers.push_back(
        {.container = 1, .late_by = run.job.step_time / 4, .at = at, .length = Duration::zero()});
  } else if (change == DriftChange::kMoreStages || change == DriftChange::kNoStages) {
    const std::uint32_t pp = change == DriftChange::kNoStages ? 1 : 4;
    run.job.changes.push_back(
        {.at = at, .tp = 8, .pp = pp, .dp = 8 / pp, .restart = Duration::zero()});
  }
}

TrafficRecord part(const TrafficRecord& whole, std::size_t columns) {
  TrafficRecord out = whole;
  out.columns = columns;
  out.rates.clear();
  for (std::size_t m = 0; m < whole.members.size(); ++m) {
    const auto row = whole.row(m);
    out.rates.insert(
        out.rates.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
  }
  return out;
}

std::vector<float> column_of(const TrafficRecord& record, std::size_t column) {
  std::vector<float> rates;
  for (std::size_t m = 0; m < record.members.size(); ++m) {
    rates.push_back(record.row(m)[column]);
  }
  return rates;
}

/// Columns from the change until it is seen; nothing if it is not in time.
std::optional<double> delay_of(DriftChange change, StudyCase run, std::uint64_t seed) {
  const double looked_at = kLookedAtSteps * seconds(run.job.step_time);
  run.length = std::chrono::seconds(kReference + static_cast<std::int64_t>(looked_at));
  const TaskSkeleton skeleton = true_skeleton(StudyWorld(run, seed), run);
  change_job(run, change, kRecordFrom + kReference);
  StudyWorld world(run, seed);
  if (change == DriftChange::kStopped) {
    world.job.set_running_until(kStartOfRun + std::chrono::seconds(kRecordFrom + kReference));
  }
  TrafficRecord record = study_record(world, run, seed);
  DriftGuard guard(skeleton, part(record, kReference), {});
  for (std::size_t c = kReference; c < record.columns; ++c) {
    std::vector<float> rates = column_of(record, c);
    if (change == DriftChange::kIdle) {
      // What is left is noise of the same size as before.
      rates[3] = record.row(3)[c] - static_cast<float>(world.job.bytes_counted(
                                        world.job.traffic_class(world.rnics[3]),
                                        record.from + std::chrono::seconds(c),
                                        record.from + std::chrono::seconds(c + 1)));
    }
    if (guard.observe(rates) == DriftState::kDrifted) {
      return static_cast<double>(c + 1 - kReference);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(DriftChange change) {
  switch (change) {
    case DriftChange::kIdle:
      return "idle RNIC";
    case DriftChange::kStraggler:
      return "straggler";
    case DriftChange::kStopped:
      return "stopped job";
    case DriftChange::kMoreStages:
      return "twice the stages";
    case DriftChange::kNoStages:
      return "one stage";
  }
  return "";
}

DriftDelay measure_delay(DriftChange change,
                         double step_s,
                         double snr_db,
                         const std::vector<std::uint64_t>& seeds) {
  DriftDelay result{.change = change, .step_s = step_s, .snr_db = snr_db};
  for (const std::uint64_t seed : seeds) {
    ++result.runs;
    if (const auto delay = delay_of(change, watched_job(step_s, snr_db), seed)) {
      ++result.seen;
      result.steps_mean += *delay / step_s;
      result.in_time += *delay <= kWantedSteps * step_s ? 1 : 0;
    }
  }
  result.steps_mean /= std::max(1U, result.seen);
  return result;
}

DriftAlarms measure_alarms(StudyNoise noise,
                           double snr_db,
                           const std::vector<std::uint64_t>& seeds) {
  DriftAlarms result{.noise = noise, .snr_db = snr_db, .price_hours = seconds(kPrice) / 3'600.0};
  for (const std::uint64_t seed : seeds) {
    StudyCase run = watched_job(8.0, snr_db);
    run.noise = noise;
    run.length = std::chrono::seconds(kReference + kWatched);
    const StudyWorld world(run, seed);
    const TrafficRecord record = study_record(world, run, seed);
    const TrafficRecord reference = part(record, kReference);
    const TaskSkeleton skeleton = true_skeleton(world, run);
    const DriftOptions options{.false_alarm_every = kPrice};
    DriftGuard guard(skeleton, reference, options);
    for (std::size_t c = kReference; c < record.columns; ++c) {
      if (guard.observe(column_of(record, c)) == DriftState::kDrifted) {
        ++result.alarms;
        guard = DriftGuard(skeleton, reference, options);
      }
    }
    result.hours += static_cast<double>(kWatched) / 3'600.0;
  }
  return result;
}

}  // namespace bonescan
