#include "tools/study/detection/rare_alarms.h"

#include "detectors/longterm/drift_detector.h"
#include "detectors/loss/component_evidence.h"
#include "detectors/shortterm/shift_detector.h"
#include "sim/base/rng_stream.h"
#include "tools/study/detection/detector_registry.h"
#include "tools/study/detection/learned_nulls.h"
#include "tools/study/detection/parallel.h"
#include "tools/study/detection/table_visits.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bonescan {
namespace {

constexpr std::uint32_t kWarmVisits = 80;  ///< a pair's own spread is of 64
constexpr std::uint32_t kHistory = 16;     ///< that a visit is compared with
constexpr std::uint32_t kVisits = 40;      ///< of an episode; the last one is asked about
constexpr std::uint8_t kFarLabel = 1;

/// Entities of streams, away from those of the turns.
constexpr std::uint32_t kFirstEpisode = 1'000'000'000;
constexpr std::uint32_t kFirstExcursion = 2'000'000'000;

/// Components that a visit crosses and that others are crossed by as well: two RNICs, four directed
/// links, the pair, and what cables and hosts add.
constexpr double kComponentsPerVisit = 8.0;

/// One way of drawing an episode.
struct Tilt {
  double power = 1.0;
  std::uint32_t visits = 1;  ///< the last ones
  double before = 1.0;       ///< power of the history before them

  double power_at(std::uint32_t visit) const {
    if (visit + visits >= kVisits) {
      return power;
    }
    return visit + visits + kHistory >= kVisits ? before : 1.0;
  }
};

/// A history that is fast by chance is part of many an alarm.  @ours
constexpr double kHistoryNats = 5.0;

/// So many nats a probe lie between a law of the power b and the uniform one.
double nats_of_power(double power) {
  return std::log(power) - (power - 1.0) / power;
}

/// The power that lies so many nats away, on the side of `far`.
double power_of_nats(double nats, double far) {
  double low = 1.0;
  double high = far;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (nats_of_power(middle) < nats ? low : high) = middle;
  }
  return low;
}

/// Alarms of one visit and of runs, each near the 24 nats that the budget stands for.
const std::vector<Tilt>& tilts() {
  static const std::vector<Tilt> kAll = [] {
    std::vector<Tilt> all;
    for (const std::uint32_t visits : {1U, 2U, 3U, 5U, 8U, 11U, 15U, 19U, 24U}) {
      for (const double nats : {7.0, 11.0, 16.0, 22.0, 30.0}) {
        const double power = power_of_nats(nats / (visits * double{TableVisits::kProbes}), 1e6);
        all.push_back({power, visits, 1.0});
        all.push_back(
            {power,
             visits,
             power_of_nats(kHistoryNats / (kHistory * double{TableVisits::kProbes}), 1e-6)});
      }
    }
    return all;
  }();
  return kAll;
}

struct WeightSum {
  double sum = 0.0;
  double squares = 0.0;
  std::uint64_t samples = 0;
  std::uint64_t alarms = 0;

  void add(double weight) {
    sum += weight;
    squares += weight * weight;
    alarms += weight > 0.0 ? 1 : 0;
    ++samples;
  }

  void add(const WeightSum& other) {
    sum += other.sum;
    squares += other.squares;
    samples += other.samples;
    alarms += other.alarms;
  }

  double mean() const { return sum / static_cast<double>(samples); }

  double error() const {
    const auto n = static_cast<double>(samples);
    return std::sqrt(std::max(0.0, squares / n - mean() * mean()) / n);
  }
};

/// One episode of every pair of a table.
class Episodes final {
 public:
  Episodes(std::uint64_t seed, std::uint32_t batch)
      : draw_(seed, Purpose::kDetectionCheck, kFirstEpisode + batch),
        places_(TableVisits::kPairs * TableVisits::kProbes),
        logs_(TableVisits::kPairs) {
    for (std::size_t p = 0; p < TableVisits::kPairs; ++p) {
      chosen_.push_back(tilts()[draw_.at(drawn_++) % tilts().size()]);
    }
  }

  /// Places of the next visits of all pairs, the k-th of an episode.
  std::span<const double> places(std::uint32_t k) {
    for (std::size_t p = 0; p < TableVisits::kPairs; ++p) {
      const Tilt& tilt = chosen_[p];
      const double power = tilt.power_at(k);
      double sum = 0.0;
      for (std::size_t i = 0; i < TableVisits::kProbes; ++i) {
        const double log_place = std::log(draw_.open01_at(drawn_++)) / power;
        sum += log_place;
        places_[p * TableVisits::kProbes + i] = std::min(std::exp(log_place), kMostPlace);
      }
      logs_[p][k] = sum;
    }
    return places_;
  }

  /// How much rarer the pair's episode is by itself than it was drawn.
  double weight(std::size_t pair) const {
    double mixture = 0.0;
    for (const Tilt& tilt : tilts()) {
      double nats = 0.0;
      for (std::uint32_t k = 0; k < kVisits; ++k) {
        const double power = tilt.power_at(k);
        nats += power == 1.0
                    ? 0.0
                    : TableVisits::kProbes * std::log(power) + (power - 1.0) * logs_[pair][k];
      }
      mixture += std::exp(nats);
    }
    return static_cast<double>(tilts().size()) / mixture;
  }

 private:
  static constexpr double kMostPlace = 1.0 - 1e-12;

  RngStream draw_;
  std::uint64_t drawn_ = 0;
  std::vector<Tilt> chosen_;
  std::vector<double> places_;
  std::vector<std::array<double, kVisits>> logs_;
};

WeightSum shift_batch(double probability,
                      const LearnedNulls& learned,
                      std::uint64_t seed,
                      std::uint32_t batch) {
  ShiftDetector detector(ShiftOptions{.probability = probability});
  detector.hold_nulls(learned.visit, learned.run);
  detector.resize(TableVisits::kPairs);
  for (std::uint32_t p = 0; p < TableVisits::kPairs; ++p) {
    detector.set_class(PairId(p), kFarLabel);
  }
  TableVisits table(seed);
  std::vector<Verdict> verdicts;
  const auto hear = [&](std::uint32_t turn, std::span<const ObservedVisit> visits) {
    verdicts.clear();
    detector.observe(NoiseFleet::handed_on(turn), visits);
    detector.evaluate(NoiseFleet::handed_on(turn), verdicts);
  };
  const std::uint32_t first = batch * (kWarmVisits + kVisits);
  for (std::uint32_t k = 0; k < kWarmVisits; ++k) {
    hear(first + k, table.turn(first + k));
  }
  Episodes episodes(seed, batch);
  std::vector<std::uint8_t> late(TableVisits::kPairs);
  std::vector<double> weights(TableVisits::kPairs);
  for (std::uint32_t k = 0; k < kVisits; ++k) {
    const std::uint32_t turn = first + kWarmVisits + k;
    hear(turn, table.turn_at(turn, episodes.places(k)));
    for (const Verdict& verdict : verdicts) {
      const std::size_t pair = verdict.pair.index();
      weights[pair] = k + 1 == kVisits && late[pair] == 0 ? episodes.weight(pair) : 0.0;
      late[pair] = 1;
    }
  }
  WeightSum sum;
  for (const double weight : weights) {
    sum.add(weight);
  }
  return sum;
}

/// An excursion of all tests of one component, from the law of one of them, until all are at 0.
double loss_excursion(const ComponentEvidence& evidence,
                      const std::array<std::array<double, ComponentEvidence::kTests>, 3>& steps,
                      std::size_t law,
                      const RngStream& draw) {
  constexpr std::size_t kTests = ComponentEvidence::kTests;
  const double base = evidence.base_per_visit();
  const double clean = (1.0 - base) * std::exp(steps[0][law]);
  const double silent = base * 1e-3 * std::exp(steps[2][law]);
  std::array<double, kTests> tests{};
  std::array<double, kTests> ratio{};
  bool alarm = false;
  bool above = true;
  for (std::uint64_t visit = 0; above && !alarm; ++visit) {
    const double u = draw.open01_at(visit);
    const std::size_t outcome = u < clean ? 0 : (u < clean + silent ? 2 : 1);
    above = false;
    for (std::size_t test = 0; test < kTests; ++test) {
      tests[test] = std::max(0.0, tests[test] + steps[outcome][test]);
      ratio[test] += steps[outcome][test];
      above = above || tests[test] > 0.0;
      alarm = alarm || tests[test] >= evidence.threshold(test);
    }
  }
  double mixture = 0.0;
  for (const double nats : ratio) {
    mixture += std::exp(nats) / kTests;
  }
  return alarm ? 1.0 / mixture : 0.0;
}

RareAlarms loss_alarms(DetectionSize size, SeedParity parity) {
  const std::uint32_t runs = sized(size, 7'000, 50'000, 140'000);
  const LossEvidenceOptions options{.base_loss_ratio = kNoiseBaseLoss};
  const ComponentEvidence evidence(options);
  const auto probes = static_cast<std::uint8_t>(TableVisits::kProbes);
  const std::array steps{evidence.increments(probes, 0),
                         evidence.increments(probes, 1),
                         evidence.increments(probes, probes)};
  WeightSum sum;
  for (std::uint32_t run = 0; run < runs; ++run) {
    sum.add(loss_excursion(
        evidence,
        steps,
        run % ComponentEvidence::kTests,
        RngStream(trial_seed(parity, 0), Purpose::kDetectionCheck, kFirstExcursion + run)));
  }
  const double visits = kComponentsPerVisit * kFleetDayVisits;
  return {.rule = "bonescan-loss, components",
          .budget = options.false_alarms_per_visit * visits,
          .rate = sum.mean() * visits,
          .error = sum.error() * visits,
          .samples = sum.samples,
          .alarms = sum.alarms};
}

}  // namespace

RareAlarms shift_alarms_per_visit(double probability,
                                  const LearnedNulls& learned,
                                  SeedParity parity,
                                  std::uint32_t batches,
                                  std::uint32_t threads) {
  constexpr std::uint32_t kSeeds = 16;
  std::vector<WeightSum> sums(kSeeds);
  run_parallel(kSeeds, threads, [&](std::uint32_t i) {
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      sums[i].add(shift_batch(probability, learned, trial_seed(parity, i), batch));
    }
  });
  WeightSum all;
  for (const WeightSum& sum : sums) {
    all.add(sum);
  }
  return {.rule = "bonescan-shift",
          .budget = probability,
          .rate = all.mean(),
          .error = all.error(),
          .samples = all.samples,
          .alarms = all.alarms};
}

RareAlarms sum_of(const std::vector<RareAlarms>& rules) {
  RareAlarms all{.rule = "all rules together"};
  for (const RareAlarms& one : rules) {
    all.budget += one.budget;
    all.rate += one.rate;
    all.error = std::hypot(all.error, one.error);
    all.samples += one.samples;
    all.alarms += one.alarms;
  }
  return all;
}

std::vector<RareAlarms> run_rare_alarms(DetectionSize size,
                                        SeedParity parity,
                                        std::uint32_t threads) {
  // Losses of one probe are independent here: four in a row end at every tenth probe at most.
  const double silence =
      std::pow(kNoiseBaseLoss, kSilentProbes) * TableVisits::kProbes * kFleetDayVisits;
  const double shift_budget = ShiftOptions{}.false_alarms_per_day;
  FleetPlan fleet;
  fleet.learnt_visits = learnt_visits(size, fleet.world);
  RareAlarms shift = shift_alarms_per_visit(shift_budget / kFleetDayVisits,
                                            learned_nulls(fleet),
                                            parity,
                                            sized(size, 2, 20, 50),
                                            threads);
  shift.budget = shift_budget;
  shift.rate *= kFleetDayVisits;
  shift.error *= kFleetDayVisits;
  const double drift = LevelDriftOptions{}.false_alarms_per_day;
  return {shift,
          loss_alarms(size, parity),
          {.rule = "bonescan-loss, silence", .budget = silence, .rate = silence},
          {.rule = "bonescan-drift", .budget = drift, .rate = drift}};
}

}  // namespace bonescan
