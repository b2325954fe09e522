#include "tools/gates/strata.h"

#include "faults/kinds/fault_kind.h"
#include "tools/gates/delays.h"

#include <algorithm>
#include <map>
#include <set>

namespace bonescan {
namespace {

std::string_view class_name(std::string_view kind) {
  const FaultKind* known = find_fault_kind(kind);
  if (known == nullptr) {
    return "other";
  }
  switch (known->failure_class) {
    case FailureClass::kLink:
      return "link-or-switch";
    case FailureClass::kHost:
      return "rnic-or-host";
    case FailureClass::kSoftware:
      return "software";
  }
  return "other";
}

enum class Delay {
  kAbruptOnly,
  kGrayToo
};

void count_fault(const CampaignFault& fault, Stratum& stratum) {
  stratum.undecided += fault.status == FaultStatus::kUndecided ? 1 : 0;
  stratum.agent_deaths += fault.status == FaultStatus::kAgentDeath ? 1 : 0;
  if (!is_decided(fault.status)) {
    return;
  }
  const bool found = fault.status == FaultStatus::kDetected;
  ++stratum.faults;
  ++(found ? stratum.found : stratum.missed);
  stratum.visible += fault.visible ? 1 : 0;
  stratum.host_visible += fault.host_visible ? 1 : 0;
  stratum.missed_visible += fault.visible && !found ? 1 : 0;
  stratum.placed_right += fault.placement == Placement::kCorrect ? 1 : 0;
  stratum.placed_wrong += fault.placement == Placement::kWrong ? 1 : 0;
  stratum.abstained += fault.placement == Placement::kAbstained ? 1 : 0;
}

Stratum make_stratum(std::string name,
                     const std::vector<const CampaignFault*>& faults,
                     Delay delay,
                     const StrataOptions& options) {
  Stratum stratum{.name = std::move(name)};
  ClusteredDelays delays;
  std::size_t found_by_host = 0;
  for (const CampaignFault* fault : faults) {
    count_fault(*fault, stratum);
    if (is_decided(fault->status) && (delay == Delay::kGrayToo || is_abrupt(*fault))) {
      delays.add(*fault);
    }
    found_by_host += fault->host_visible && fault->status == FaultStatus::kDetected ? 1 : 0;
  }
  const double confidence = options.confidence;
  stratum.recall = make_proportion(stratum.found, stratum.faults, confidence);
  stratum.recall_visible =
      make_proportion(stratum.visible - stratum.missed_visible, stratum.visible, confidence);
  stratum.recall_host_visible = make_proportion(found_by_host, stratum.host_visible, confidence);
  stratum.localization = make_proportion(stratum.placed_right, stratum.found, confidence);
  stratum.time_to_detect = delays.figures(options);
  return stratum;
}

/// Faults of a scheme's runs that could be made.
std::vector<const CampaignFault*> faults_of(const CampaignData& data, std::string_view scheme) {
  std::set<std::pair<std::uint32_t, std::uint64_t>> failed;
  for (const CampaignRun& run : data.runs) {
    if (run.scheme == scheme && !run.failure.empty()) {
      failed.emplace(run.cell, run.seed);
    }
  }
  std::vector<const CampaignFault*> faults;
  for (const CampaignFault& fault : data.faults) {
    if (fault.scheme == scheme && !failed.contains({fault.cell, fault.seed})) {
      faults.push_back(&fault);
    }
  }
  return faults;
}

void count_runs(const CampaignData& data, CampaignFigures& figures) {
  for (const CampaignRun& run : data.runs) {
    if (run.scheme != figures.scheme) {
      continue;
    }
    if (!run.failure.empty()) {
      ++figures.failed_runs;
      continue;
    }
    ++figures.runs;
    figures.false_positives += run.false_positives;
    figures.duplicates += run.duplicates;
    figures.probes += run.probes;
    figures.rnic_days += run.rnic_days;
  }
}

}  // namespace

std::string stratum_name(const CampaignFault& fault, StratifyBy by) {
  switch (by) {
    case StratifyBy::kKind:
      return fault.kind;
    case StratifyBy::kSymptom:
      return std::string(to_string(fault.symptom));
    case StratifyBy::kClass:
      return std::string(class_name(fault.kind));
  }
  return {};
}

Proportion make_proportion(std::size_t successes, std::size_t trials, double confidence) {
  return {.successes = successes,
          .trials = trials,
          .ratio = proportion_estimate(successes, trials, confidence)};
}

std::vector<std::string> schemes_of(const CampaignData& data) {
  std::set<std::string> names;
  for (const CampaignRun& run : data.runs) {
    names.insert(run.scheme);
  }
  return {names.begin(), names.end()};
}

CampaignData with_seeds(const CampaignData& data, SeedChoice choice) {
  CampaignData part = data;
  if (choice == SeedChoice::kAll) {
    return part;
  }
  const std::uint64_t unwanted = choice == SeedChoice::kOdd ? 0 : 1;
  const auto is_unwanted = [unwanted](const auto& row) { return row.seed % 2 == unwanted; };
  std::erase_if(part.runs, is_unwanted);
  std::erase_if(part.faults, is_unwanted);
  std::erase_if(part.incidents, is_unwanted);
  return part;
}

CampaignFigures figures_of(const CampaignData& data,
                           std::string_view scheme,
                           const StrataOptions& options) {
  CampaignFigures figures{.scheme = std::string(scheme)};
  count_runs(data, figures);
  figures.all = make_stratum("all", faults_of(data, scheme), Delay::kAbruptOnly, options);
  figures.precision = make_proportion(
      figures.all.found, figures.all.found + figures.false_positives, options.confidence);
  const double reference_days = figures.rnic_days / kReferenceRnics;
  figures.false_alarms_per_fleet_day =
      rate_estimate(figures.false_positives, reference_days, options.confidence);
  figures.precision_restated = restated_precision(
      [&](double confidence) {
        return proportion_estimate(figures.all.found, figures.all.faults, confidence);
      },
      figures.false_positives,
      reference_days,
      options.faults_per_day,
      options.confidence);
  return figures;
}

std::vector<Stratum> strata_of(const CampaignData& data,
                               std::string_view scheme,
                               StratifyBy by,
                               const StrataOptions& options) {
  std::map<std::string, std::vector<const CampaignFault*>> members;
  for (const CampaignFault* fault : faults_of(data, scheme)) {
    members[stratum_name(*fault, by)].push_back(fault);
  }
  std::vector<Stratum> strata;
  strata.reserve(members.size());
  for (const auto& [name, faults] : members) {
    strata.push_back(make_stratum(name, faults, Delay::kGrayToo, options));
  }
  return strata;
}

}  // namespace bonescan
