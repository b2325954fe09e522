#include "model/workload/job_layout.h"

#include "model/workload/model_size.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Slots that are looked at before an irregular job is called silent.
constexpr std::int64_t kMostSlots = 100'000;
/// Forward passes alone bring half of what goes in both directions.
constexpr double kForwardShare = 0.5;

}  // namespace

JobLayout::JobLayout(const JobOptions& options, const RngStream& steps, std::uint32_t index)
    : options_(derived(options)), graph_(options_), rhythm_(options_, steps, index) {
  for (std::uint32_t stage = 0; stage < options_.pp; ++stage) {
    stages_.push_back(stage_windows(options_, stage));
  }
}

TrafficRates JobLayout::rates(const PeerLink& link, std::uint32_t stage) const {
  const StageWindows& unit = stages_[stage];
  switch (link.kind) {
    case TrafficKind::kNone:
      return {};
    case TrafficKind::kPipeline: {
      const double rate = link.share * unit.pipeline_rate;
      return rhythm_.regular() ? TrafficRates{.steady = rate} : TrafficRates{.compute = rate};
    }
    case TrafficKind::kRing:
    case TrafficKind::kTree:
    case TrafficKind::kMesh:
    case TrafficKind::kShard:
      return {.sync = link.share * unit.sync_rate};
    case TrafficKind::kExpert:
      return {.compute = link.share * unit.expert_rate};
    case TrafficKind::kContext:
      return {.compute = link.share * unit.context_rate};
  }
  return {};
}

TrafficProfile JobLayout::profile(std::uint32_t rank) const {
  const RankCoordinate at = graph_.layout().coordinate(rank);
  const std::uint32_t container =
      options_.container_rnics == 0 ? 0 : rank / options_.container_rnics;
  return {.stage = at.pipeline,
          .lane = rhythm_.lane_of(container, at.data),
          .first_replica = at.data == 0 && at.context == 0,
          .takes_part = graph_.takes_part(rank)};
}

StepWindow JobLayout::sync(std::uint32_t stage) const {
  return {stages_[stage].sync_from, stages_[stage].sync_length};
}

StepWindow JobLayout::compute(std::uint32_t stage) const {
  return {stages_[stage].compute_from, stages_[stage].compute_length};
}

JobLayout::Pauses JobLayout::pauses(Time begin, TimeSpan within) const {
  Pauses sum;
  for (std::size_t i = 0; i < options_.phases.size(); ++i) {
    Duration& of_kind = is_silent(options_.phases[i].kind) ? sum.silent : sum.evaluated;
    of_kind += rhythm_.paused(i, begin, within);
  }
  return sum;
}

double JobLayout::bytes(const TrafficProfile& profile,
                        const TrafficRates& rates,
                        Time begin,
                        TimeSpan within) const {
  const Pauses paused = pauses(begin, within);
  const double evaluated_s = seconds(paused.evaluated);
  double bytes = 0.0;
  if (rates.steady > 0.0) {
    const double busy_s = seconds(within.to - within.from - paused.silent);
    bytes += (busy_s - (1.0 - kForwardShare) * evaluated_s) * rates.steady;
  }
  if (rates.sync > 0.0) {
    const Duration bursts = rhythm_.overlap(sync(profile.stage), profile.lane, begin, within);
    bytes += seconds(bursts) * rates.sync;
  }
  if (rates.compute > 0.0) {
    const Duration busy = rhythm_.overlap(compute(profile.stage), profile.lane, begin, within);
    bytes += (seconds(busy) + kForwardShare * evaluated_s) * rates.compute;
  }
  return bytes;
}

double JobLayout::storage_bytes(const TrafficProfile& profile, Time begin, TimeSpan within) const {
  double bytes = 0.0;
  for (std::size_t i = 0; i < options_.phases.size(); ++i) {
    const PeriodicPhase& phase = options_.phases[i];
    const bool writes = phase.kind == PhaseKind::kStorage ||
                        (phase.kind == PhaseKind::kCheckpoint && profile.first_replica);
    if (writes && profile.takes_part) {
      bytes +=
          seconds(rhythm_.paused(i, begin, within)) * static_cast<double>(phase.rate.count()) / 8;
    }
  }
  return bytes;
}

TimeSpan JobLayout::burst_ending_after(std::uint32_t stage, Time t, Time begin) const {
  const bool bursts = graph_.sums_gradients() || options_.workload == Workload::kDebug;
  if (!bursts || begin == Time::max()) {
    return {Time::max(), Time::max()};
  }
  const StepWindow window = sync(stage);
  const std::int64_t nominal = rhythm_.step_at(t - begin - window.from);
  const std::int64_t first = std::max<std::int64_t>(nominal - 1, 0);
  for (std::int64_t step = first; step < first + kMostSlots; ++step) {
    const auto found = rhythm_.window(window, step, 0, begin);
    if (found && found->to > t) {
      return *found;
    }
  }
  return {Time::max(), Time::max()};
}

}  // namespace bonescan
