#include "tools/study/detection/information_bound.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

/// More than anybody sends while somebody waits.
constexpr double kMostProbes = 1e9;

/// P(base exp(sigma Z) <= x).
double lognormal_cdf(double x_us, double base_us) {
  return x_us <= 0.0 ? 0.0
                     : 0.5 * std::erfc(-std::log(x_us / base_us) / (kNoiseSigma * std::sqrt(2.0)));
}

/// Adds an exponential wait: one step of a first-order recursion a cell, its mean kept exact.
void add_wait(std::vector<double>& mass, double mean_us) {
  const double keep = mean_us / (mean_us + ProbeDensity::kStepUs);
  double waiting = 0.0;
  for (double& cell : mass) {
    waiting = keep * waiting + (1.0 - keep) * cell;
    cell = waiting;
  }
}

}  // namespace

ProbeDensity::ProbeDensity(double base_us) : mass_(kCells) {
  for (std::size_t i = 0; i < kCells; ++i) {
    const double low = kStepUs * static_cast<double>(i);
    mass_[i] = lognormal_cdf(low + kStepUs, base_us) - lognormal_cdf(low, base_us);
  }
  add_wait(mass_, kNoiseQueueUs);
  std::vector<double> spiked = mass_;
  add_wait(spiked, kNoiseSpikeUs);
  for (std::size_t i = 0; i < kCells; ++i) {
    mass_[i] = (1.0 - kNoiseSpikeShare) * mass_[i] + kNoiseSpikeShare * spiked[i];
  }
}

double ProbeDensity::mean_us() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < kCells; ++i) {
    sum += mass_[i] * kStepUs * (static_cast<double>(i) + 0.5);
  }
  return sum;
}

double ProbeDensity::quantile_us(double u) const {
  double below = 0.0;
  for (std::size_t i = 0; i < kCells; ++i) {
    if (below + mass_[i] >= u) {
      return kStepUs * (static_cast<double>(i) + (u - below) / mass_[i]);
    }
    below += mass_[i];
  }
  return kStepUs * static_cast<double>(kCells);
}

double latency_information(double base_us, double factor) {
  const ProbeDensity healthy(base_us);
  const ProbeDensity slow(base_us * factor);
  double nats = 0.0;
  for (std::size_t i = 0; i < ProbeDensity::kCells; ++i) {
    const double p = slow.mass(i);
    const double q = healthy.mass(i);
    if (p > 0.0 && q > 0.0) {
      nats += p * std::log(p / q);
    }
  }
  return nats;
}

double loss_information(double loss, double base_loss) {
  const double lost = loss + base_loss - loss * base_loss;
  const double answered = 1.0 - lost;
  return lost * std::log(lost / base_loss) +
         (answered > 0.0 ? answered * std::log(answered / (1.0 - base_loss)) : 0.0);
}

double nats_of_budget(double false_alarms_per_day, double visits_per_day) {
  return std::log(visits_per_day / false_alarms_per_day);
}

double bound_probes(double nats, double nats_per_probe) {
  return nats_per_probe > 0.0 ? std::max(1.0, nats / nats_per_probe)
                              : std::numeric_limits<double>::infinity();
}

double bound_delay_s(const VisitRhythm& rhythm, double probes) {
  BONESCAN_CHECK(rhythm.probes > 0);
  if (!(probes < kMostProbes)) {
    return std::numeric_limits<double>::infinity();
  }
  constexpr int kOnsets = 2000;
  const auto needed = static_cast<std::uint64_t>(std::ceil(probes));
  double sum = 0.0;
  for (int i = 0; i < kOnsets; ++i) {
    const double onset_s = rhythm.period_s * (i + 0.5) / kOnsets;
    // Probes of the visit at 0 that come after the onset, then those of whole visits.
    const double sent = std::ceil(onset_s / rhythm.gap_s);
    const auto first =
        static_cast<std::uint64_t>(std::clamp(sent, 0.0, static_cast<double>(rhythm.probes)));
    const std::uint64_t left = rhythm.probes - first;
    if (needed <= left) {
      sum += rhythm.gap_s * static_cast<double>(first + needed - 1) - onset_s;
      continue;
    }
    const std::uint64_t more = needed - left - 1;
    const std::uint64_t visit = 1 + more / rhythm.probes;
    sum += rhythm.period_s * static_cast<double>(visit) +
           rhythm.gap_s * static_cast<double>(more % rhythm.probes) - onset_s;
  }
  return sum / kOnsets + rhythm.answer_s;
}

double growing_bound_s(const std::vector<double>& nats_by_step,
                       double step_s,
                       double probes_per_s,
                       double nats) {
  double sum = 0.0;
  for (std::size_t i = 0; i < nats_by_step.size(); ++i) {
    const double more = nats_by_step[i] * probes_per_s * step_s;
    if (sum + more >= nats) {
      return step_s * (static_cast<double>(i) + (nats - sum) / more);
    }
    sum += more;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace bonescan
