#include "tools/gates/absolute_gate.h"

#include "tools/evaluate/bootstrap.h"
#include "tools/gates/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bonescan {
namespace {

std::size_t times_as_many(std::size_t count, double times) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * times));
}

Measured measured_proportion(const Proportion& proportion, double confidence) {
  Measured measured{.trials = proportion.trials, .estimate = proportion.ratio, .scaled = {}};
  measured.scaled = [proportion, confidence](double times) {
    const std::size_t trials = times_as_many(proportion.trials, times);
    const std::size_t failures = times_as_many(proportion.trials - proportion.successes, times);
    return proportion_estimate(trials - std::min(failures, trials), trials, confidence);
  };
  return measured;
}

Measured measured_time(const Estimate& time_s, std::size_t trials) {
  Measured measured{.trials = trials, .estimate = time_s, .scaled = {}};
  if (time_s.lower) {
    measured.scaled = [time_s](double times) { return scaled_by_root(time_s, times); };
  }
  return measured;
}

Measured measured_of(const Stratum& stratum, GateMeasure measure, double confidence) {
  const DelayFigures& delays = stratum.time_to_detect;
  switch (measure) {
    case GateMeasure::kRecall:
      return measured_proportion(stratum.recall, confidence);
    case GateMeasure::kRecallVisible:
      return measured_proportion(stratum.recall_visible, confidence);
    case GateMeasure::kRecallHostVisible:
      return measured_proportion(stratum.recall_host_visible, confidence);
    case GateMeasure::kLocalization:
      return measured_proportion(stratum.localization, confidence);
    case GateMeasure::kMeanTime:
      return measured_time(delays.mean_s, delays.found);
    case GateMeasure::kMedianTime:
      return measured_time(delays.median_s, delays.found);
    case GateMeasure::kP95Time:
      return measured_time(delays.p95_s, delays.found);
    case GateMeasure::kMeanTimeWithMisses:
      return measured_time(delays.mean_with_misses_s, stratum.faults);
    case GateMeasure::kPrecision:
    case GateMeasure::kPrecisionRestated:
    case GateMeasure::kFalseAlarms:
      break;
  }
  return {};
}

Measured measured_restated(const CampaignFigures& figures, const StrataOptions& options) {
  Measured measured{
      .trials = figures.all.faults, .estimate = figures.precision_restated, .scaled = {}};
  measured.scaled = [figures, options](double times) {
    const std::size_t faults = times_as_many(figures.all.faults, times);
    const std::size_t missed = times_as_many(figures.all.missed, times);
    return restated_precision(
        [&](double confidence) {
          return proportion_estimate(faults - std::min(missed, faults), faults, confidence);
        },
        times_as_many(figures.false_positives, times),
        figures.rnic_days * times / kReferenceRnics,
        options.faults_per_day,
        options.confidence);
  };
  return measured;
}

Measured measured_of(const CampaignFigures& figures,
                     GateMeasure measure,
                     const StrataOptions& options) {
  if (measure == GateMeasure::kPrecision) {
    return measured_proportion(figures.precision, options.confidence);
  }
  if (measure == GateMeasure::kPrecisionRestated) {
    return measured_restated(figures, options);
  }
  if (measure != GateMeasure::kFalseAlarms) {
    return measured_of(figures.all, measure, options.confidence);
  }
  Measured measured{
      .trials = figures.runs, .estimate = figures.false_alarms_per_fleet_day, .scaled = {}};
  measured.scaled = [figures, options](double times) {
    return rate_estimate(times_as_many(figures.false_positives, times),
                         figures.rnic_days * times / kReferenceRnics,
                         options.confidence);
  };
  return measured;
}

Limit limit_of(const Gate& gate) {
  return {.value = gate.limit, .is_least = gate.rule == GateRule::kAtLeast};
}

StratumVerdict judge_stratum(const Gate& gate, const Stratum& stratum, double confidence) {
  const Measured measured = measured_of(stratum, gate.measure, confidence);
  StratumVerdict verdict = decide(measured, limit_of(gate), gate.decided_by, stratum.name);
  if (!measured.estimate.value && !gate.scope.name && stratum.faults > 0) {
    verdict.verdict = GateVerdict::kNotJudged;
    verdict.reason = fmt::format("{} faults, {} visible, {} found: no trial",
                                 stratum.faults,
                                 stratum.visible,
                                 stratum.found);
  }
  return verdict;
}

}  // namespace

std::string bootstrap_words(const StrataOptions& options) {
  return fmt::format("over {} draws of seeds (percentile bootstrap, seed {})",
                     options.resamples,
                     options.bootstrap_seed);
}

StrataOptions options_for(const Gate& gate, const StrataOptions& options) {
  StrataOptions adapted = options;
  if (info_of(gate.measure).unit != GateUnit::kSeconds) {
    adapted.resamples = 0;
  }
  return adapted;
}

std::vector<StratumVerdict> judge_absolute(const Gate& gate,
                                           const StrataOptions& options,
                                           const CampaignData& data) {
  const StrataOptions adapted = options_for(gate, options);
  if (!gate.scope.by) {
    const CampaignFigures figures = figures_of(data, gate.scheme, adapted);
    Measured measured = measured_of(figures, gate.measure, adapted);
    std::vector<StratumVerdict> verdicts = {
        decide(measured, limit_of(gate), gate.decided_by, "all")};
    if (measured.trials == 0 && is_ratio(info_of(gate.measure).unit) && gate.limit > 0 &&
        gate.limit < 1) {
      verdicts.front().trials_needed = trials_without_failure(gate.limit, options.confidence);
    }
    return verdicts;
  }
  std::vector<StratumVerdict> verdicts;
  for (const Stratum& stratum : strata_of(data, gate.scheme, *gate.scope.by, adapted)) {
    if (!gate.scope.name || *gate.scope.name == stratum.name) {
      verdicts.push_back(judge_stratum(gate, stratum, adapted.confidence));
    }
  }
  if (verdicts.empty()) {
    StratumVerdict nothing{.stratum = gate.scope.name.value_or(gate.on)};
    nothing.reason = "no such fault in the campaign";
    verdicts.push_back(std::move(nothing));
  }
  return verdicts;
}

std::string interval_of_absolute(const Gate& gate, const StrataOptions& options) {
  if (gate.decided_by == DecidedBy::kPoint) {
    return "the figure itself, as asked for: it proves nothing";
  }
  const std::string sided = fmt::format("one-sided {:g} %", options.confidence * 100);
  const double risk = (1 - options.confidence) * 100;
  if (gate.measure == GateMeasure::kPrecisionRestated) {
    return fmt::format(
        "{} lower bound: Clopper-Pearson of the recall at {:g} % risk with exact Poisson of the "
        "false alarms at {:g} %",
        sided,
        risk / 10,
        risk * 9 / 10);
  }
  switch (info_of(gate.measure).unit) {
    case GateUnit::kRatio:
      return sided + " Clopper-Pearson lower bound";
    case GateUnit::kPerFleetDay:
      return sided + " exact Poisson upper bound";
    case GateUnit::kSeconds:
      return fmt::format("{} upper bound {}", sided, bootstrap_words(options));
  }
  return {};
}

}  // namespace bonescan
