#include "tools/gates/judge.h"

#include "scenarios/schema/schema_key.h"
#include "tools/gates/absolute_gate.h"
#include "tools/gates/paired_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace bonescan {
namespace {

void require_scheme(const Gate& gate,
                    std::string_view key,
                    const std::string& scheme,
                    const CampaignData& data) {
  const std::vector<std::string> known = schemes_of(data);
  if (std::find(known.begin(), known.end(), scheme) == known.end()) {
    raise(gate.at,
          fmt::format("{}.{}", gate.path, key),
          {"a scheme of the campaign",
           in_quotes(scheme),
           known.empty() ? "the campaign has no run at all"
                         : fmt::format("it has {}", fmt::join(known, ", "))});
  }
}

void require_what_gates_need(const GateFile& gates,
                             const CampaignData& candidate,
                             const CampaignData* baseline) {
  if (baseline != nullptr && baseline->file_hash != candidate.file_hash) {
    throw ConfigError(fmt::format(
        "{}: expected a baseline of the same campaign file; found {} ({}) and {} ({}); hint: make "
        "the baseline anew with the old program and the new campaign file",
        gates.file,
        baseline->name,
        baseline->file_hash,
        candidate.name,
        candidate.file_hash));
  }
  for (const Gate& gate : gates.gates) {
    require_scheme(gate, "scheme", gate.scheme, candidate);
    if (!gate.is_paired()) {
      continue;
    }
    if (baseline == nullptr) {
      raise(gate.at,
            gate.path,
            {"a baseline to compare with", "none", "give --baseline FILE, or delete the gate"});
    }
    require_scheme(gate, "baseline_scheme", gate.baseline_scheme, *baseline);
  }
}

UnknownCounts count_unknown(const CampaignData& data, std::string_view scheme) {
  StrataOptions without_bootstrap;
  without_bootstrap.resamples = 0;
  const CampaignFigures figures = figures_of(data, scheme, without_bootstrap);
  return {.failed_runs = figures.failed_runs,
          .runs = figures.runs + figures.failed_runs,
          .undecided = figures.all.undecided,
          .faults = figures.all.faults + figures.all.undecided,
          .pairing = {}};
}

/// How far the number keeps the limit of its gate; what has no number is worst.
double slack(const Gate& gate, const StratumVerdict& verdict) {
  if (!verdict.decisive) {
    return -std::numeric_limits<double>::infinity();
  }
  const bool ratio = is_ratio(info_of(gate.measure).unit);
  switch (gate.rule) {
    case GateRule::kAtLeast:
      return *verdict.decisive - gate.limit;
    case GateRule::kAtMost:
      return gate.limit - *verdict.decisive;
    case GateRule::kMargin:
      return ratio ? *verdict.decisive + gate.limit : gate.limit - *verdict.decisive;
    case GateRule::kTest:
      return verdict.pairs && verdict.pairs->only_first > verdict.pairs->only_second
                 ? *verdict.decisive
                 : 2.0;
  }
  return 0.0;
}

void settle(GateResult& result) {
  const Gate& gate = result.gate;
  std::stable_sort(result.strata.begin(),
                   result.strata.end(),
                   [&gate](const StratumVerdict& a, const StratumVerdict& b) {
                     return std::tuple(a.verdict, slack(gate, a)) <
                            std::tuple(b.verdict, slack(gate, b));
                   });
  result.verdict = result.strata.front().verdict;
  if (result.verdict == GateVerdict::kNotJudged) {
    result.verdict = GateVerdict::kUndecided;
  }
  if (result.unknown.share() > gate.unknown_at_most) {
    result.verdict = GateVerdict::kFailed;
  }
}

void add_lost(const Pairing& pairing, const std::string& scheme, GateReport& report) {
  for (const FaultPair& pair : pairing.faults) {
    const bool first = pair.first->status == FaultStatus::kDetected;
    const bool second = pair.second->status == FaultStatus::kDetected;
    report.gained += second && !first ? 1 : 0;
    const bool misplaced = first && second && pair.first->placement == Placement::kCorrect &&
                           pair.second->placement != Placement::kCorrect;
    if ((first && !second) || misplaced) {
      report.lost.push_back({.scheme = scheme, .fault = *pair.second, .was_placed = misplaced});
    }
  }
}

}  // namespace

std::string_view to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kFailed:
      return "failed";
    case GateVerdict::kUndecided:
      return "undecided";
    case GateVerdict::kPassed:
      return "passed";
    case GateVerdict::kNotJudged:
      return "not judged";
  }
  return "unknown";
}

double UnknownCounts::share() const {
  if (runs == 0) {
    return 1.0;
  }
  double share = static_cast<double>(failed_runs) / static_cast<double>(runs);
  if (faults > 0) {
    share = std::max(share, static_cast<double>(undecided) / static_cast<double>(faults));
  }
  return pairing ? std::max(share, pairing->share()) : share;
}

bool GateReport::is_green() const {
  return !results.empty() &&
         std::all_of(results.begin(), results.end(), [](const GateResult& result) {
           return result.verdict == GateVerdict::kPassed;
         });
}

GateReport judge_campaign(const GateFile& gates,
                          const CampaignData& candidate,
                          const CampaignData* baseline) {
  require_what_gates_need(gates, candidate, baseline);
  const CampaignData data = with_seeds(candidate, gates.seeds);
  const CampaignData before =
      baseline == nullptr ? CampaignData{} : with_seeds(*baseline, gates.seeds);
  GateReport report{.campaign = data.name, .commit = data.commit, .command = data.command};
  report.baseline_commit = baseline == nullptr ? "" : before.commit;
  std::set<std::pair<std::string, std::string>> listed;
  for (const Gate& gate : gates.gates) {
    GateResult result{.gate = gate, .unknown = count_unknown(data, gate.scheme)};
    if (gate.is_paired()) {
      const Pairing pairing = pair_campaigns(before, gate.baseline_scheme, data, gate.scheme);
      result.unknown.pairing = pairing.gaps;
      result.interval = interval_of_paired(gate, gates.options);
      result.strata = judge_paired(gate, gates.options, pairing);
      if (listed.emplace(gate.baseline_scheme, gate.scheme).second) {
        add_lost(pairing, gate.scheme, report);
      }
    } else {
      result.interval = interval_of_absolute(gate, gates.options);
      result.strata = judge_absolute(gate, gates.options, data);
    }
    settle(result);
    report.results.push_back(std::move(result));
  }
  return report;
}

}  // namespace bonescan
