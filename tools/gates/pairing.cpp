#include "tools/gates/pairing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace bonescan {
namespace {

using RunKey = std::pair<std::uint32_t, std::uint64_t>;
using FaultKey = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;

std::map<RunKey, RunPair> runs_by_key(const CampaignData& baseline,
                                      std::string_view baseline_scheme,
                                      const CampaignData& candidate,
                                      std::string_view scheme) {
  std::map<RunKey, RunPair> runs;
  for (const CampaignRun& run : baseline.runs) {
    if (run.scheme == baseline_scheme) {
      runs[{run.cell, run.seed}].first = &run;
    }
  }
  for (const CampaignRun& run : candidate.runs) {
    if (run.scheme == scheme) {
      runs[{run.cell, run.seed}].second = &run;
    }
  }
  return runs;
}

std::map<FaultKey, FaultPair> faults_by_key(const CampaignData& baseline,
                                            std::string_view baseline_scheme,
                                            const CampaignData& candidate,
                                            std::string_view scheme) {
  std::map<FaultKey, FaultPair> faults;
  for (const CampaignFault& fault : baseline.faults) {
    if (fault.scheme == baseline_scheme) {
      faults[{fault.cell, fault.seed, fault.fault}].first = &fault;
    }
  }
  for (const CampaignFault& fault : candidate.faults) {
    if (fault.scheme == scheme) {
      faults[{fault.cell, fault.seed, fault.fault}].second = &fault;
    }
  }
  return faults;
}

bool is_made(const CampaignRun* run) {
  return run != nullptr && run->failure.empty();
}

/// Times are doubles that went through a database.
bool is_same_fault(const CampaignFault& first, const CampaignFault& second) {
  constexpr double kSameMoment = 1e-6;
  return first.kind == second.kind && first.component == second.component &&
         std::abs(first.injected_s - second.injected_s) < kSameMoment;
}

bool is_agent_death(const FaultPair& pair) {
  return pair.first->status == FaultStatus::kAgentDeath &&
         pair.second->status == FaultStatus::kAgentDeath;
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double PairingGaps::share() const {
  if (runs == 0) {
    return 1.0;
  }
  return std::max(share_of(runs_missing, runs),
                  share_of(faults_missing + other_faults + undecided, faults));
}

Pairing pair_campaigns(const CampaignData& baseline,
                       std::string_view baseline_scheme,
                       const CampaignData& candidate,
                       std::string_view scheme) {
  Pairing pairing;
  const auto runs = runs_by_key(baseline, baseline_scheme, candidate, scheme);
  for (const auto& [key, run] : runs) {
    ++pairing.gaps.runs;
    if (is_made(run.first) && is_made(run.second)) {
      pairing.runs.push_back(run);
    } else {
      ++pairing.gaps.runs_missing;
    }
  }
  for (const auto& [key, fault] : faults_by_key(baseline, baseline_scheme, candidate, scheme)) {
    const auto run = runs.find({std::get<0>(key), std::get<1>(key)});
    const bool both_made =
        run != runs.end() && is_made(run->second.first) && is_made(run->second.second);
    if (fault.first == nullptr || fault.second == nullptr || !both_made) {
      ++pairing.gaps.faults;
      ++pairing.gaps.faults_missing;
      continue;
    }
    if (is_agent_death(fault)) {
      continue;
    }
    ++pairing.gaps.faults;
    if (!is_same_fault(*fault.first, *fault.second)) {
      ++pairing.gaps.other_faults;
    } else if (!is_decided(fault.first->status) || !is_decided(fault.second->status)) {
      ++pairing.gaps.undecided;
    } else {
      pairing.faults.push_back(fault);
    }
  }
  return pairing;
}

}  // namespace bonescan
