#include "model/workload/job_rhythm.h"

#include "sim/base/distributions.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Bursts stay in order: of a step time.
constexpr double kMostJitter = 0.25;
/// Above every step: rows of what a lane draws once.
constexpr std::int64_t kLaneRow = 0xFFFF'FFFF;
/// An irregular burst is this part of the usual length, uniformly. @ours
constexpr double kShortest = 0.25;
constexpr double kLongest = 1.75;

Duration shared_time(const TimeSpan& a, const TimeSpan& b) {
  return std::max(Duration{}, std::min(a.to, b.to) - std::max(a.from, b.from));
}

double clamped_normal(double unit, double deviation) {
  return std::clamp(normal_quantile(unit) * deviation, -kMostJitter, kMostJitter);
}

}  // namespace

JobRhythm::JobRhythm(const JobOptions& options, const RngStream& steps, std::uint32_t layout_index)
    : options_(options), steps_(steps), layout_(layout_index) {}

Lane JobRhythm::lane_of(std::uint32_t container, std::uint32_t replica) const {
  if (options_.workload == Workload::kInference) {
    return replica + 1;
  }
  if (!regular()) {
    return 0;
  }
  const bool ordered = std::any_of(
      options_.stragglers.begin(), options_.stragglers.end(), [&](const Straggler& straggler) {
        return straggler.container == container;
      });
  const bool own = options_.worker_spread > 0.0 || options_.worker_jitter > 0.0;
  return ordered || own ? container + 1 : 0;
}

double JobRhythm::draw(std::int64_t step, Lane lane) const {
  const auto row = static_cast<std::uint64_t>(step) & 0xFFFF'FFFF;
  return steps_.open01_at(row | layout_ << 32 | std::uint64_t{lane} << 40);
}

Duration JobRhythm::pause_before(std::int64_t step, Pause which) const {
  Duration sum{};
  for (const PeriodicPhase& phase : options_.phases) {
    const bool counts = which == Pause::kAny || is_silent(phase.kind);
    sum += counts && step > 0 && step % phase.every == 0 ? phase.length : Duration{};
  }
  return sum;
}

bool JobRhythm::falls_silent() const {
  return std::any_of(options_.phases.begin(), options_.phases.end(), [](const auto& phase) {
    return is_silent(phase.kind);
  });
}

Duration JobRhythm::step_start(std::int64_t step) const {
  Duration start = step * options_.step_time;
  for (const PeriodicPhase& phase : options_.phases) {
    start += step / phase.every * phase.length;
  }
  return start;
}

std::int64_t JobRhythm::step_at(Duration since) const {
  if (since < Duration{}) {
    return -1;
  }
  if (options_.phases.empty()) {
    return since / options_.step_time;
  }
  double mean_ns = static_cast<double>(options_.step_time.count());
  for (const PeriodicPhase& phase : options_.phases) {
    mean_ns += static_cast<double>(phase.length.count()) / phase.every;
  }
  auto step = static_cast<std::int64_t>(static_cast<double>(since.count()) / mean_ns);
  while (step_start(step) > since) {
    --step;
  }
  while (step_start(step + 1) <= since) {
    ++step;
  }
  return step;
}

Duration JobRhythm::lag(std::int64_t step, Lane lane, Time begin) const {
  if (lane == 0) {
    return {};
  }
  double share = 0.0;
  if (options_.worker_spread > 0.0) {
    share += clamped_normal(draw(kLaneRow, lane), options_.worker_spread);
  }
  if (options_.worker_jitter > 0.0) {
    share += clamped_normal(draw(step, lane), options_.worker_jitter);
  }
  Duration sum = share_of(options_.step_time, share);
  const Time nominal = begin + step_start(step);
  for (const Straggler& straggler : options_.stragglers) {
    const Time from = kStartOfRun + straggler.at;
    const bool over = straggler.length > Duration{} && nominal >= from + straggler.length;
    if (straggler.container + 1 == lane && nominal >= from && !over) {
      sum += straggler.late_by;
    }
  }
  return sum;
}

Duration JobRhythm::longest_lag() const {
  Duration longest = share_of(options_.step_time,
                              kMostJitter * ((options_.worker_spread > 0.0 ? 1.0 : 0.0) +
                                             (options_.worker_jitter > 0.0 ? 1.0 : 0.0)));
  for (const Straggler& straggler : options_.stragglers) {
    longest += straggler.late_by;
  }
  return longest;
}

std::optional<TimeSpan> JobRhythm::window(const StepWindow& in_step,
                                          std::int64_t step,
                                          Lane lane,
                                          Time begin) const {
  const Time start = begin + step_start(step);
  if (regular()) {
    const Duration jitter =
        share_of(options_.step_time, clamped_normal(draw(step, 0), options_.step_jitter));
    const Time from = start + in_step.from + jitter + lag(step, lane, begin);
    return TimeSpan{from, from + in_step.length};
  }
  // Its own three rows, above the lanes of hosts.
  const Lane row = 0x40'0000 + 3 * lane;
  if (draw(step, row) >= options_.activity) {
    return std::nullopt;
  }
  const double usual = options_.burst_share;
  const double share =
      std::min(1.0, usual * (kShortest + (kLongest - kShortest) * draw(step, row + 1)));
  const Duration length = share_of(options_.step_time, share);
  const Time from = start + share_of(options_.step_time - length, draw(step, row + 2));
  return TimeSpan{from, from + length};
}

Duration JobRhythm::overlap(const StepWindow& in_step,
                            Lane lane,
                            Time begin,
                            TimeSpan within) const {
  Duration before = options_.step_time;
  Duration after{};
  if (regular()) {
    const Duration jitter =
        options_.step_jitter > 0.0 ? share_of(options_.step_time, kMostJitter) : Duration{};
    const Duration lags = lane == 0 ? Duration{} : longest_lag();
    before = in_step.from + in_step.length + jitter + lags;
    after = jitter + lags - in_step.from;
  }
  const std::int64_t first = std::max<std::int64_t>(step_at(within.from - begin - before), 0);
  const std::int64_t last = step_at(within.to - begin + after);
  Duration sum{};
  for (std::int64_t step = first; step <= last; ++step) {
    if (const auto found = window(in_step, step, lane, begin)) {
      sum += shared_time(*found, within);
    }
  }
  return sum;
}

Duration JobRhythm::paused(std::size_t index, Time begin, TimeSpan within) const {
  const std::int64_t every = options_.phases[index].every;
  const std::int64_t last = step_at(within.to - begin) + 1;
  Duration sum{};
  // Only steps that it comes before.
  std::int64_t step = std::max<std::int64_t>(step_at(within.from - begin), 1);
  for (step = (step + every - 1) / every * every; step <= last; step += every) {
    // Phases before one step follow each other in their order.
    Time from = begin + step_start(step) - pause_before(step, Pause::kAny);
    for (std::size_t i = 0; i < index; ++i) {
      from += step % options_.phases[i].every == 0 ? options_.phases[i].length : Duration{};
    }
    sum += shared_time({from, from + options_.phases[index].length}, within);
  }
  return sum;
}

TimeSpan JobRhythm::busy_ending_after(Time t, Time begin) const {
  if (!falls_silent()) {
    return {begin, Time::max()};
  }
  const std::int64_t step = std::max<std::int64_t>(step_at(t - begin), 0);
  Time from = begin + step_start(step);
  // Silence ends with the pause: an evaluation before the same step comes first.
  for (std::int64_t next = step + 1;; ++next) {
    const Duration silent = pause_before(next, Pause::kSilent);
    if (silent == Duration{}) {
      continue;
    }
    const Time back = begin + step_start(next);
    if (back - silent > t) {
      return {from, back - silent};
    }
    from = back;
  }
}

}  // namespace bonescan
