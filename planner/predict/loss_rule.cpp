#include "planner/predict/loss_rule.h"

#include "detectors/loss/component_evidence.h"
#include "sim/base/check.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bonescan {
namespace {

/// Lossy visits that are remembered: at 0.1 % six are enough where nothing is in between.
constexpr std::size_t kMostLossy = 24;

/// Of one path of the integration; nothing that alarms at all needs so many.
constexpr std::size_t kMostEvents = 512;

constexpr std::size_t kPoints = 4096;

/// Fractions of their square roots are the steps of the sequence. @paper Richtmyer 1951
constexpr std::array<double, 24> kPrimes{2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                                         41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};

/// Coordinate `dimension` of a point: in (0, 1).  Beyond the primes, scrambled bits.
double coordinate(std::size_t point, std::size_t dimension) {
  if (dimension < kPrimes.size()) {
    const double at = (static_cast<double>(point) + 0.5) * std::sqrt(kPrimes[dimension]);
    return std::clamp(at - std::floor(at), 1e-12, 1.0 - 1e-12);
  }
  std::uint64_t bits = point * 0x9E3779B97F4A7C15ull + dimension * 0xD1B54A32D192ED03ull;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
  bits ^= bits >> 31;
  return (static_cast<double>(bits >> 32) + 0.5) * 0x1.0p-32;
}

LossRule rule_of_tests(const PlannedSchedule& schedule, const PlannedNoise& noise) {
  const ComponentEvidence tests(
      {.probes_per_visit = schedule.probes_per_visit, .base_loss_ratio = noise.base_loss_ratio});
  // A visit that lost one probe: partly lossy, unless it has no others.
  const auto lossy = tests.increments(schedule.probes_per_visit, 1);
  const auto clean = tests.increments(schedule.probes_per_visit, 0);
  LossRule rule{std::vector<std::int64_t>(kMostLossy + 1, -1)};
  for (std::size_t n = 1; n <= kMostLossy; ++n) {
    for (std::size_t test = 0; test < ComponentEvidence::kTests; ++test) {
      const double spare = static_cast<double>(n) * lossy[test] - tests.threshold(test);
      if (spare >= 0.0) {
        rule.allowed[n] =
            std::max(rule.allowed[n], static_cast<std::int64_t>(spare / -clean[test]));
      }
    }
  }
  return rule;
}

LossRule rule_of_ledger(const PlannedSchedule& schedule,
                        const PlannedNoise& noise,
                        double visits_per_period) {
  const double base = -std::expm1(schedule.probes_per_visit * std::log1p(-noise.base_loss_ratio));
  const double visits =
      std::max(2.0, visits_per_period * seconds(schedule.pool_window) / seconds(schedule.visit));
  LossRule rule{std::vector<std::int64_t>(kMostLossy + 1, -1)};
  for (std::size_t n = 2; n <= kMostLossy; ++n) {
    const double lossy = std::min(static_cast<double>(n), visits);
    const double ratio = lossy / visits;
    double nats = lossy * std::log(ratio / base);
    nats += ratio < 1.0 ? (visits - lossy) * std::log((1.0 - ratio) / (1.0 - base)) : 0.0;
    if (nats >= schedule.open_llr) {
      rule.allowed[n] = static_cast<std::int64_t>(visits) - static_cast<std::int64_t>(n);
    }
  }
  return rule;
}

void add(std::vector<VisitsToAlarm::Share>& shares, std::vector<std::uint64_t>& visits) {
  std::sort(visits.begin(), visits.end());
  for (const std::uint64_t one : visits) {
    if (shares.empty() || shares.back().visits != one) {
      shares.push_back({one, 0.0});
    }
    shares.back().share += 1.0 / kPoints;
  }
}

/// Outcomes of a visit whose probes are lost each on its own.
struct Outcomes {
  double log_clean = 0.0;  ///< ln P(nothing is lost)
  double silent = 0.0;     ///< P(its last `consecutive` probes are lost | it is lossy)
};

Outcomes outcomes(const PlannedSchedule& schedule, double loss_ratio) {
  const double probes = schedule.probes_per_visit;
  const double log_clean = loss_ratio < 1.0 ? probes * std::log1p(-loss_ratio) : -1e300;
  const double lossy = -std::expm1(log_clean);
  const bool can = probes >= static_cast<double>(schedule.consecutive);
  const double silent =
      can ? std::pow(loss_ratio, static_cast<double>(schedule.consecutive)) / lossy : 0.0;
  return {log_clean, silent};
}

/// Do the lossy visits up to `at[last]` make an alarm?
bool alarms(const LossRule& rule,
            const std::array<std::uint64_t, kMostEvents>& at,
            std::size_t last) {
  const std::size_t most = std::min(last + 1, rule.allowed.size() - 1);
  for (std::size_t n = 1; n <= most; ++n) {
    const auto span =
        static_cast<std::int64_t>(at[last] - at[last + 1 - n]) - static_cast<std::int64_t>(n - 1);
    if (span <= rule.allowed[n]) {
      return true;
    }
  }
  return false;
}

/// Nothing but silence: its visits are geometric.
VisitsToAlarm visits_to_silence(const Outcomes& visit) {
  const double each = visit.silent * -std::expm1(visit.log_clean);
  VisitsToAlarm result;
  std::vector<std::uint64_t> silent;
  for (std::size_t point = 0; point < kPoints; ++point) {
    const double rest = (static_cast<double>(point) + 0.5) / kPoints;
    const double visits =
        each < 1.0 ? std::max(1.0, std::ceil(std::log(rest) / std::log1p(-each))) : 1.0;
    if (each > 0.0 && visits < static_cast<double>(kMostLossVisits)) {
      silent.push_back(static_cast<std::uint64_t>(visits));
    } else {
      result.never += 1.0 / kPoints;
    }
  }
  add(result.silent, silent);
  return result;
}

}  // namespace

LossRule loss_rule(const PlannedSchedule& schedule,
                   const PlannedNoise& noise,
                   double visits_per_period) {
  return schedule.configuration == DetectionConfiguration::kPaper
             ? rule_of_ledger(schedule, noise, visits_per_period)
             : rule_of_tests(schedule, noise);
}

double VisitsToAlarm::mean() const {
  double sum = 0.0;
  double found = 0.0;
  for (const std::vector<Share>* shares : {&pooled, &silent}) {
    for (const Share& one : *shares) {
      sum += one.share * static_cast<double>(one.visits);
      found += one.share;
    }
  }
  return found > 0.0 ? sum / found : 0.0;
}

VisitsToAlarm visits_to_alarm(const PlannedSchedule& schedule,
                              const LossRule& rule,
                              double loss_ratio) {
  BONESCAN_CHECK(loss_ratio > 0.0 && loss_ratio <= 1.0);
  const Outcomes visit = outcomes(schedule, loss_ratio);
  if (std::all_of(rule.allowed.begin(), rule.allowed.end(), [](auto clean) { return clean < 0; })) {
    return visits_to_silence(visit);
  }
  std::vector<std::uint64_t> pooled;
  std::vector<std::uint64_t> silent;
  VisitsToAlarm result;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read.
  std::array<std::uint64_t, kMostEvents> at;
  for (std::size_t point = 0; point < kPoints; ++point) {
    double visits = 0.0;
    bool found = false;
    for (std::size_t event = 0; event < kMostEvents && visits < kMostLossVisits; ++event) {
      const std::size_t dimension = visit.silent > 1e-6 ? 2 * event : event;
      visits += std::floor(std::log(coordinate(point, dimension)) / visit.log_clean) + 1.0;
      at[event] = static_cast<std::uint64_t>(std::min(visits, 1e15));
      if (visit.silent > 1e-6 && coordinate(point, dimension + 1) < visit.silent) {
        silent.push_back(at[event]);
        found = true;
        break;
      }
      if (alarms(rule, at, event)) {
        pooled.push_back(at[event]);
        found = true;
        break;
      }
    }
    result.never += found ? 0.0 : 1.0 / kPoints;
  }
  add(result.pooled, pooled);
  add(result.silent, silent);
  return result;
}

}  // namespace bonescan
