#include "tools/gates/paired_gate.h"

#include "tools/evaluate/bootstrap.h"
#include "tools/gates/absolute_gate.h"
#include "tools/gates/delays.h"
#include "tools/gates/verdicts.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace bonescan {
namespace {

using Pairs = std::vector<FaultPair>;

bool found(const CampaignFault& fault) {
  return fault.status == FaultStatus::kDetected;
}

/// Whether the pair is a trial of this measure.
bool is_trial(const FaultPair& pair, GateMeasure measure) {
  switch (measure) {
    case GateMeasure::kRecallVisible:
      return pair.first->visible && pair.second->visible;
    case GateMeasure::kRecallHostVisible:
      return pair.first->host_visible && pair.second->host_visible;
    case GateMeasure::kLocalization:
    case GateMeasure::kMeanTime:
    case GateMeasure::kMedianTime:
    case GateMeasure::kP95Time:
      return found(*pair.first) && found(*pair.second);
    default:
      return true;
  }
}

bool is_right(const CampaignFault& fault, GateMeasure measure) {
  return measure == GateMeasure::kLocalization ? fault.placement == Placement::kCorrect
                                               : found(fault);
}

PairedCounts count_pairs(const Pairs& pairs, GateMeasure measure) {
  PairedCounts counts;
  for (const FaultPair& pair : pairs) {
    const bool first = is_right(*pair.first, measure);
    const bool second = is_right(*pair.second, measure);
    ++(first ? (second ? counts.both : counts.only_first)
             : (second ? counts.only_second : counts.neither));
  }
  return counts;
}

PairedCounts times_as_many(const PairedCounts& counts, double times) {
  const auto many = [times](std::size_t count) {
    return static_cast<std::size_t>(std::llround(static_cast<double>(count) * times));
  };
  return {.both = many(counts.both),
          .only_first = many(counts.only_first),
          .only_second = many(counts.only_second),
          .neither = many(counts.neither)};
}

/// Both sides' delays of one seed.
struct DelayCluster {
  std::vector<double> first_s;
  std::vector<double> second_s;
};

std::optional<double> summarize(GateMeasure measure, std::span<const double> delays_s) {
  switch (measure) {
    case GateMeasure::kMedianTime:
      return quantile(delays_s, 0.5);
    case GateMeasure::kP95Time:
      return quantile(delays_s, 0.95);
    default:
      return mean(delays_s);
  }
}

/// Candidate minus baseline, with the seeds drawn for both sides at once.
Estimate delay_difference(const Pairs& pairs, GateMeasure measure, const StrataOptions& options) {
  std::map<std::uint64_t, DelayCluster> by_seed;
  const double missed_s = MatchingRules{}.missed_counts_as_s;
  for (const FaultPair& pair : pairs) {
    DelayCluster& cluster = by_seed[pair.first->seed];
    cluster.first_s.push_back(pair.first->time_to_detect_s.value_or(missed_s));
    cluster.second_s.push_back(pair.second->time_to_detect_s.value_or(missed_s));
  }
  std::vector<const DelayCluster*> clusters;
  clusters.reserve(by_seed.size());
  for (const auto& [seed, cluster] : by_seed) {
    clusters.push_back(&cluster);
  }
  std::vector<double> first_s;
  std::vector<double> second_s;
  const auto of_draw = [&](std::span<const std::uint32_t> drawn) {
    first_s.clear();
    second_s.clear();
    for (const std::uint32_t index : drawn) {
      const DelayCluster& cluster = *clusters[index];
      first_s.insert(first_s.end(), cluster.first_s.begin(), cluster.first_s.end());
      second_s.insert(second_s.end(), cluster.second_s.begin(), cluster.second_s.end());
    }
    const auto first = summarize(measure, first_s);
    const auto second = summarize(measure, second_s);
    return Figures<1>{first && second ? std::optional(*second - *first) : std::nullopt};
  };
  const BootstrapOptions bootstrap{.confidence = options.confidence,
                                   .seed = options.bootstrap_seed,
                                   .resamples = options.resamples};
  return cluster_bootstrap<1>(clusters.size(), bootstrap, of_draw)[0];
}

StratumVerdict judge_test(const Gate& gate, const PairedCounts& counts, std::string stratum) {
  StratumVerdict verdict{.stratum = std::move(stratum)};
  verdict.trials = counts.pairs();
  verdict.pairs = counts;
  if (counts.pairs() == 0) {
    verdict.reason = "no trial";
    return verdict;
  }
  verdict.mcnemar_p = mcnemar_exact_p(counts.only_first, counts.only_second);
  verdict.decisive = verdict.mcnemar_p;
  const bool worse = counts.only_first > counts.only_second;
  verdict.verdict =
      worse && *verdict.mcnemar_p <= gate.limit ? GateVerdict::kFailed : GateVerdict::kPassed;
  return verdict;
}

StratumVerdict judge_counts(const Gate& gate,
                            const StrataOptions& options,
                            const PairedCounts& counts,
                            std::string stratum) {
  const double confidence = options.confidence;
  if (gate.rule == GateRule::kTest) {
    StratumVerdict verdict = judge_test(gate, counts, std::move(stratum));
    verdict.estimate = paired_difference(counts, confidence);
    return verdict;
  }
  const Measured measured{.trials = counts.pairs(),
                          .estimate = paired_difference(counts, confidence),
                          .scaled = [counts, confidence](double times) {
                            return paired_difference(times_as_many(counts, times), confidence);
                          }};
  const Limit limit{.value = -gate.limit, .is_least = true, .loss_beyond = 0.0};
  StratumVerdict verdict = decide(measured, limit, gate.decided_by, std::move(stratum));
  verdict.pairs = counts;
  verdict.mcnemar_p = mcnemar_exact_p(counts.only_first, counts.only_second);
  return verdict;
}

StratumVerdict judge_delays(const Gate& gate,
                            const StrataOptions& options,
                            const Pairs& pairs,
                            std::string stratum) {
  Measured measured{.trials = pairs.size(),
                    .estimate = delay_difference(pairs, gate.measure, options),
                    .scaled = {}};
  if (measured.estimate.lower) {
    measured.scaled = [estimate = measured.estimate](double times) {
      return scaled_by_root(estimate, times);
    };
  }
  const Limit limit{.value = gate.limit, .is_least = false, .loss_beyond = 0.0};
  return decide(measured, limit, gate.decided_by, std::move(stratum));
}

/// A run is a trial; an alarm that only one side raised is a loss of that side.
StratumVerdict judge_alarms(const Gate& gate, const Pairing& pairing) {
  PairedCounts counts;
  double rnic_days = 0.0;
  for (const RunPair& run : pairing.runs) {
    const std::uint32_t first = run.first->false_positives;
    const std::uint32_t second = run.second->false_positives;
    counts.only_first += second > first ? second - first : 0;
    counts.only_second += first > second ? first - second : 0;
    counts.both += first == second ? 1 : 0;
    rnic_days += run.second->rnic_days;
  }
  StratumVerdict verdict = judge_test(gate, counts, "all");
  verdict.trials = pairing.runs.size();
  if (rnic_days > 0) {
    const double more =
        static_cast<double>(counts.only_first) - static_cast<double>(counts.only_second);
    verdict.estimate.value = more / (rnic_days / kReferenceRnics);
  }
  return verdict;
}

/// The trials of a gate, by stratum.  A stratum without any is there, empty.
std::map<std::string, Pairs> trials_of(const Gate& gate, const Pairing& pairing) {
  const bool times = info_of(gate.measure).unit == GateUnit::kSeconds;
  std::map<std::string, Pairs> trials;
  if (!gate.scope.by || gate.scope.name) {
    trials[gate.scope.name.value_or("all")];
  }
  for (const FaultPair& pair : pairing.faults) {
    std::string name = gate.scope.by ? stratum_name(*pair.first, *gate.scope.by) : "all";
    if (gate.scope.name && name != *gate.scope.name) {
      continue;
    }
    Pairs& members = trials[std::move(name)];
    const bool counts = gate.scope.by || !times || is_abrupt(*pair.first);
    if (counts && is_trial(pair, gate.measure)) {
      members.push_back(pair);
    }
  }
  return trials;
}

}  // namespace

std::vector<StratumVerdict> judge_paired(const Gate& gate,
                                         const StrataOptions& options,
                                         const Pairing& pairing) {
  if (gate.measure == GateMeasure::kFalseAlarms) {
    return {judge_alarms(gate, pairing)};
  }
  std::vector<StratumVerdict> verdicts;
  for (const auto& [name, pairs] : trials_of(gate, pairing)) {
    StratumVerdict verdict =
        info_of(gate.measure).unit == GateUnit::kSeconds
            ? judge_delays(gate, options, pairs, name)
            : judge_counts(gate, options, count_pairs(pairs, gate.measure), name);
    if (pairs.empty() && gate.scope.by && !gate.scope.name) {
      verdict.verdict = GateVerdict::kNotJudged;
    }
    verdicts.push_back(std::move(verdict));
  }
  if (verdicts.empty()) {
    StratumVerdict nothing{.stratum = gate.on};
    nothing.reason = "no pair at all";
    verdicts.push_back(std::move(nothing));
  }
  return verdicts;
}

std::string interval_of_paired(const Gate& gate, const StrataOptions& options) {
  if (gate.rule == GateRule::kTest) {
    return fmt::format("exact McNemar test, two-sided, at {:g} %", gate.limit * 100);
  }
  if (gate.decided_by == DecidedBy::kPoint) {
    return "the paired difference itself, as asked for: it proves nothing";
  }
  const std::string sided = fmt::format("one-sided {:g} %", options.confidence * 100);
  if (info_of(gate.measure).unit == GateUnit::kSeconds) {
    return fmt::format(
        "{} upper bound of the paired difference {}", sided, bootstrap_words(options));
  }
  return sided + " lower bound of the paired difference, Tango's score interval";
}

}  // namespace bonescan
