#include "tools/gates/gate_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace bonescan {
namespace {

/// A number in the unit of the gate's measure, without the unit's sign if it is none.
std::string value_text(const Gate& gate, double value) {
  switch (info_of(gate.measure).unit) {
    case GateUnit::kRatio:
      return fmt::format("{:.2f} %", value * 100);
    case GateUnit::kPerFleetDay:
      return fmt::format("{:.3g}", value);
    case GateUnit::kSeconds:
      return fmt::format("{:.3f} s", value);
  }
  return {};
}

std::string maybe_text(const Gate& gate, std::optional<double> value) {
  if (!value) {
    return "-";
  }
  // No minus zero.
  const double shown = std::abs(*value) < 5e-6 ? 0.0 : *value;
  const std::string text = value_text(gate, shown);
  return gate.is_paired() && shown > 0 ? "+" + text : text;
}

std::string limit_text(const Gate& gate) {
  switch (info_of(gate.measure).unit) {
    case GateUnit::kRatio:
      return fmt::format("{:g} %", gate.limit * 100);
    case GateUnit::kPerFleetDay:
      return fmt::format("{:g}", gate.limit);
    case GateUnit::kSeconds:
      return fmt::format("{:g} s", gate.limit);
  }
  return {};
}

std::string pairs_text(const StratumVerdict& stratum) {
  if (!stratum.pairs || !stratum.mcnemar_p) {
    return {};
  }
  return fmt::format(" ({} lost, {} gained, McNemar p = {:.2g})",
                     stratum.pairs->only_first,
                     stratum.pairs->only_second,
                     *stratum.mcnemar_p);
}

/// Options of the campaign's command that a command for one run gives anew.
constexpr std::array<std::string_view, 3> kReplaced = {"--seeds", "--jobs", "--out"};

void add_share(std::string& words, std::size_t part, std::size_t whole, std::string_view what) {
  if (part > 0) {
    words += fmt::format("{}{} of {} {}", words.empty() ? "" : ", ", part, whole, what);
  }
}

}  // namespace

GateLine gate_line(const Gate& gate, const StratumVerdict& stratum) {
  GateLine line;
  line.stratum = stratum.stratum;
  line.trials = fmt::format("{}", stratum.trials);
  line.figure = maybe_text(gate, stratum.estimate.value);
  if (gate.rule == GateRule::kTest) {
    line.bound = stratum.mcnemar_p ? fmt::format("p = {:.2g}", *stratum.mcnemar_p) : "-";
    line.limit = fmt::format("p > {:g}", gate.limit);
    return line;
  }
  line.bound = gate.decided_by == DecidedBy::kPoint ? "point" : maybe_text(gate, stratum.decisive);
  const bool least = is_ratio(info_of(gate.measure).unit);
  const bool minus = gate.is_paired() && least;
  line.limit = fmt::format("{} {}{}", least ? ">=" : "<=", minus ? "-" : "", limit_text(gate));
  return line;
}

std::string gate_demand(const Gate& gate) {
  const std::string on = gate.on == "all" ? "" : fmt::format(" on {}", gate.on);
  const std::string measure =
      fmt::format("{} of {}{}", info_of(gate.measure).name, gate.scheme, on);
  switch (gate.rule) {
    case GateRule::kAtLeast:
      return fmt::format("{} at least {}", measure, limit_text(gate));
    case GateRule::kAtMost:
      return fmt::format("{} at most {}", measure, limit_text(gate));
    case GateRule::kMargin:
      return fmt::format("{} at most {} worse than {} in the baseline",
                         measure,
                         limit_text(gate),
                         gate.baseline_scheme);
    case GateRule::kTest:
      return fmt::format("{} not proven worse than {} in the baseline, p > {:g}",
                         measure,
                         gate.baseline_scheme,
                         gate.limit);
  }
  return measure;
}

std::string gate_reason(const GateResult& result) {
  const Gate& gate = result.gate;
  const double unknown = result.unknown.share();
  if (unknown > gate.unknown_at_most) {
    return fmt::format("{:.2f} % is unknown and {:g} % is accepted: {}",
                       unknown * 100,
                       gate.unknown_at_most * 100,
                       unknown_words(result.unknown));
  }
  const StratumVerdict& worst = result.strata.front();
  const GateLine line = gate_line(gate, worst);
  std::string words = fmt::format("{}: {} over {} trials{}, held against {}: {}",
                                  line.stratum,
                                  line.figure,
                                  line.trials,
                                  pairs_text(worst),
                                  line.limit,
                                  line.bound);
  if (!worst.reason.empty()) {
    words += "; " + worst.reason;
  }
  if (result.verdict == GateVerdict::kUndecided) {
    words += worst.trials_needed
                 ? fmt::format("; about {} trials at these rates would do", *worst.trials_needed)
                 : std::string("; no number of trials at these rates is known to do");
  }
  return words;
}

std::string unknown_words(const UnknownCounts& unknown) {
  if (unknown.runs == 0) {
    return "no run at all";
  }
  std::string words;
  add_share(words, unknown.failed_runs, unknown.runs, "runs failed");
  add_share(words, unknown.undecided, unknown.faults, "faults undecided");
  if (unknown.pairing) {
    const PairingGaps& gaps = *unknown.pairing;
    add_share(words, gaps.runs_missing, gaps.runs, "runs without a partner");
    add_share(words, gaps.faults_missing, gaps.faults, "faults without a partner");
    add_share(
        words, gaps.other_faults, gaps.faults, "faults that are other faults in the baseline");
    add_share(words, gaps.undecided, gaps.faults, "pairs undecided");
  }
  return words;
}

std::string reproduce_command(const GateReport& report, const LostFault& lost) {
  std::istringstream words(report.command);
  std::string word;
  while (words >> word && word != "campaign") {
  }
  if (!words) {
    return fmt::format("seed {} of: {}", lost.fault.seed, report.command);
  }
  std::string kept;
  while (words >> word) {
    const std::string option = word.substr(0, word.find('='));
    if (std::find(kReplaced.begin(), kReplaced.end(), option) == kReplaced.end()) {
      kept += word + " ";
    } else if (option == word) {
      words >> word;  // its value
    }
  }
  return fmt::format(
      "bonescan campaign {0}--seeds {1}..{1} --out lost-{1}.sqlite", kept, lost.fault.seed);
}

std::string lost_words(const LostFault& lost) {
  return fmt::format("cell {}, seed {}, fault {}: {} on {}: {}",
                     lost.fault.cell,
                     lost.fault.seed,
                     lost.fault.fault,
                     lost.fault.kind,
                     lost.fault.component,
                     lost.was_placed ? "found, but no longer placed right" : "no longer found");
}

}  // namespace bonescan
