#include "tools/evaluate/evaluate.h"

#include "tools/evaluate/outcomes.h"

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

constexpr double kSecondsPerDay = 86400.0;

std::optional<double> quotient(double numerator, double denominator) {
  return denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}

/// Collects the delays of one stratum.
struct Delays {
  std::vector<double> detected_s;
  std::vector<double> with_misses_s;
  std::vector<double> bounds_s;

  void add(const FaultOutcome& outcome, const TruthRow& truth, double missed_counts_as_s) {
    with_misses_s.push_back(outcome.time_to_detect_s.value_or(missed_counts_as_s));
    if (outcome.time_to_detect_s) {
      detected_s.push_back(*outcome.time_to_detect_s);
      if (truth.information_bound_s > 0) {
        bounds_s.push_back(truth.information_bound_s);
      }
    }
  }

  TimeToDetect summary() const {
    const bool bound_known = bounds_s.size() == detected_s.size();
    return {.mean_s = mean(detected_s),
            .median_s = quantile(detected_s, 0.5),
            .p95_s = quantile(detected_s, 0.95),
            .mean_with_misses_s = mean(with_misses_s),
            .information_bound_mean_s = bound_known ? mean(bounds_s) : std::nullopt};
  }
};

StratumScore score_stratum(const std::string& name,
                           const std::vector<std::size_t>& members,
                           const RunData& run,
                           const Evaluation& evaluation) {
  StratumScore score{.name = name, .faults = members.size()};
  Delays delays;
  std::size_t detected = 0;
  std::size_t correct = 0;
  for (const std::size_t f : members) {
    const FaultOutcome& outcome = evaluation.faults[f];
    score.visible += run.truth[f].visible ? 1 : 0;
    detected += outcome.status == FaultStatus::kDetected ? 1 : 0;
    correct += outcome.placement.placement == Placement::kCorrect ? 1 : 0;
    delays.add(outcome, run.truth[f], evaluation.matching.missed_counts_as_s);
  }
  score.recall = make_ratio(detected, members.size());
  score.placed = make_ratio(correct, detected);
  score.time_to_detect = delays.summary();
  return score;
}

/// Scores of the decided faults by whatever `name_of` says of a truth row.
template <class NameOf>
std::vector<StratumScore> score_strata(const RunData& run,
                                       const Evaluation& evaluation,
                                       NameOf name_of) {
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    if (is_decided(evaluation.faults[f].status)) {
      members[std::string(name_of(run.truth[f]))].push_back(f);
    }
  }
  std::vector<StratumScore> scores;
  scores.reserve(members.size());
  for (const auto& [name, faults] : members) {
    scores.push_back(score_stratum(name, faults, run, evaluation));
  }
  return scores;
}

void count_faults(const RunData& run, const Evaluation& evaluation, DetectionScore& score) {
  Delays abrupt;
  std::size_t visible_detected = 0;
  std::size_t host_detected = 0;
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    const FaultOutcome& outcome = evaluation.faults[f];
    score.undecided += outcome.status == FaultStatus::kUndecided ? 1 : 0;
    if (!is_decided(outcome.status)) {
      continue;
    }
    const bool detected = outcome.status == FaultStatus::kDetected;
    ++score.faults;
    ++(detected ? score.true_positives : score.false_negatives);
    score.hidden_by_agent_death += outcome.hidden_by_agent_death ? 1 : 0;
    score.visible += run.truth[f].visible ? 1 : 0;
    visible_detected += run.truth[f].visible && detected ? 1 : 0;
    score.host_visible += run.truth[f].host_visible ? 1 : 0;
    host_detected += run.truth[f].host_visible && detected ? 1 : 0;
    if (!outcome.gray && !outcome.by_host) {
      abrupt.add(outcome, run.truth[f], evaluation.matching.missed_counts_as_s);
    }
  }
  score.recall = make_ratio(score.true_positives, score.faults);
  score.recall_visible = make_ratio(visible_detected, score.visible);
  score.recall_host_visible = make_ratio(host_detected, score.host_visible);
  score.time_to_detect = abrupt.summary();
}

void count_incidents(const Evaluation& evaluation, DetectionScore& score) {
  for (const IncidentOutcome& outcome : evaluation.incidents) {
    score.false_positives += outcome.status == IncidentStatus::kFalsePositive ? 1 : 0;
    score.duplicates += outcome.status == IncidentStatus::kDuplicate ? 1 : 0;
    score.merged += outcome.status == IncidentStatus::kMerged ? 1 : 0;
    score.planned += outcome.status == IncidentStatus::kPlanned ? 1 : 0;
    score.agent_deaths += outcome.status == IncidentStatus::kAgentDeath ? 1 : 0;
    score.undecided_incidents += outcome.status == IncidentStatus::kUndecided ? 1 : 0;
    score.late += outcome.late ? 1 : 0;
  }
  score.precision = make_ratio(score.true_positives, score.true_positives + score.false_positives);
}

/// @formula recall * faults / (recall * faults + false alarms), all per kReferenceRnics RNIC-days
RestatedPrecision restate(double faults_per_day,
                          std::optional<double> recall,
                          std::optional<double> alarms,
                          std::optional<double> alarms_upper) {
  RestatedPrecision restated{.faults_per_day = faults_per_day};
  if (recall && alarms && alarms_upper) {
    const double found = *recall * faults_per_day;
    restated.value = quotient(found, found + *alarms);
    restated.low95 = quotient(found, found + *alarms_upper);
  }
  return restated;
}

void state_false_alarms(const RunData& run, DetectionScore& score) {
  const double days = seconds(run.result.reached) / kSecondsPerDay;
  const double reference_days = rnic_days(run) / kReferenceRnics;
  const auto count = static_cast<double>(score.false_positives);
  score.false_alarms_per_day = quotient(count, days);
  score.false_alarms_per_day_upper95 = poisson_upper_bound(score.false_positives, days);
  score.false_alarms_per_reference_day = quotient(count, reference_days);
  const auto upper = poisson_upper_bound(score.false_positives, reference_days);
  const auto at = [&](double faults_per_day) {
    return restate(faults_per_day, score.recall.value, score.false_alarms_per_reference_day, upper);
  };
  score.restated = at(kReferenceFaultsPerDay);
  for (const double faults_per_day : {1.0, 3.0, 10.0, kReferenceFaultsPerDay, 100.0, 300.0}) {
    score.curve.push_back(at(faults_per_day));
  }
}

LocalizationScore score_localization(const Evaluation& evaluation) {
  LocalizationScore score;
  std::vector<double> set_sizes;
  std::vector<double> credits;
  for (const FaultOutcome& outcome : evaluation.faults) {
    const PlacementJudgement& judgement = outcome.placement;
    if (judgement.placement == Placement::kNotJudged) {
      continue;
    }
    credits.push_back(judgement.top1_credit);
    if (judgement.placement == Placement::kAbstained) {
      ++score.abstained;
      continue;
    }
    ++score.localized;
    score.correct += judgement.placement == Placement::kCorrect ? 1 : 0;
    set_sizes.push_back(static_cast<double>(judgement.set_size));
  }
  score.accuracy = make_ratio(score.correct, score.localized + score.abstained);
  score.set_size_mean = mean(set_sizes);
  score.top1 = mean(credits);
  return score;
}

}  // namespace

std::string_view to_string(FaultStatus status) {
  switch (status) {
    case FaultStatus::kDetected:
      return "detected";
    case FaultStatus::kMissed:
      return "missed";
    case FaultStatus::kUndecided:
      return "undecided";
    case FaultStatus::kAgentDeath:
      return "agent-death";
  }
  return "unknown";
}

bool is_decided(FaultStatus status) {
  return status == FaultStatus::kDetected || status == FaultStatus::kMissed;
}

std::string_view to_string(IncidentStatus status) {
  switch (status) {
    case IncidentStatus::kMatched:
      return "matched";
    case IncidentStatus::kDuplicate:
      return "duplicate";
    case IncidentStatus::kFalsePositive:
      return "false-positive";
    case IncidentStatus::kAgentDeath:
      return "agent-death";
    case IncidentStatus::kPlanned:
      return "planned";
    case IncidentStatus::kMerged:
      return "merged";
    case IncidentStatus::kUndecided:
      return "undecided";
  }
  return "unknown";
}

Ratio make_ratio(std::size_t successes, std::size_t trials) {
  return {.successes = successes,
          .trials = trials,
          .value = quotient(static_cast<double>(successes), static_cast<double>(trials)),
          .wilson95 = wilson_interval(successes, trials),
          .clopper_pearson95 = clopper_pearson_interval(successes, trials)};
}

double rnic_days(const RunData& run) {
  const Time end = run.result.reached;
  std::vector<Time> from(run.endpoints.size(), kStartOfRun);
  std::vector<Time> to(run.endpoints.size(), end);
  bool grows = false;
  for (const MembershipEvent& event : run.membership) {
    if (event.endpoint.index() >= from.size()) {
      continue;
    }
    switch (event.kind) {
      case MembershipKind::kSubmitted:
        grows = true;
        from[event.endpoint.index()] = std::min(event.at, end);
        break;
      case MembershipKind::kGone:
        to[event.endpoint.index()] = std::min(event.at, end);
        break;
      case MembershipKind::kReady:
        to[event.endpoint.index()] = end;
        break;
      case MembershipKind::kStopping:
      case MembershipKind::kAddressChanged:
        break;
    }
  }
  if (!grows) {
    return seconds(end) / kSecondsPerDay * static_cast<double>(run.result.rnics);
  }
  double watched_s = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    watched_s += seconds(to[i] - from[i]);
  }
  return watched_s / kSecondsPerDay;
}

Evaluation evaluate(const RunData& run) {
  Evaluation evaluation = judge_outcomes(run);
  if (!run.info.truth_available) {
    return evaluation;
  }
  DetectionScore score;
  count_faults(run, evaluation, score);
  count_incidents(evaluation, score);
  state_false_alarms(run, score);
  score.by_kind = score_strata(run, evaluation, [](const TruthRow& t) { return t.kind; });
  score.by_symptom =
      score_strata(run, evaluation, [](const TruthRow& t) { return to_string(t.symptom); });
  evaluation.detection = std::move(score);
  evaluation.localization = score_localization(evaluation);
  return evaluation;
}

}  // namespace bonescan
