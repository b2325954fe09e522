#include "tools/gates/gate_report.h"

#include "scenarios/schema/key_markdown.h"
#include "tools/gates/gate_words.h"
#include "tools/report/format.h"
#include "tools/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bonescan {
namespace {

constexpr std::size_t kTableWidth = 120;
constexpr std::size_t kColumns = 7;
constexpr std::size_t kMostStrata = 5;   ///< of each gate, the worst
constexpr std::size_t kMostLost = 50;    ///< named; the rest is counted
constexpr std::size_t kLeastWidth = 12;  ///< of the columns that may be cut

using Cells = std::array<std::string, kColumns>;

Cells cells_of(const GateResult& result) {
  const GateLine line = gate_line(result.gate, result.strata.front());
  return {result.gate.name,
          line.stratum,
          line.trials,
          line.figure,
          line.bound,
          line.limit,
          std::string(to_string(result.verdict))};
}

const Cells kTitles = {"gate", "worst of", "trials", "figure", "bound", "limit", "verdict"};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return without_control_characters(std::move(text));
}

/// The gate's name and the stratum give way if the table is too wide.
std::array<std::size_t, kColumns> widths_of(const std::vector<Cells>& rows) {
  std::array<std::size_t, kColumns> widths{};
  std::size_t total = 2 * (kColumns - 1);
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (const Cells& row : rows) {
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
    total += widths[c];
  }
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}}) {
    while (total > kTableWidth && widths[c] > kLeastWidth) {
      --widths[c];
      --total;
    }
  }
  return widths;
}

std::string verdict_sentence(const GateReport& report) {
  const auto count = [&report](GateVerdict verdict) {
    return std::count_if(report.results.begin(),
                         report.results.end(),
                         [verdict](const GateResult& r) { return r.verdict == verdict; });
  };
  return fmt::format("{} of {} gates passed, {} failed, {} undecided",
                     count(GateVerdict::kPassed),
                     report.results.size(),
                     count(GateVerdict::kFailed),
                     count(GateVerdict::kUndecided));
}

/// Everything about one gate but its row.
std::vector<std::string> details_of(const GateResult& result) {
  std::vector<std::string> lines = {
      gate_demand(result.gate), "decided by the " + result.interval, gate_reason(result)};
  if (lines[1].find("itself") != std::string::npos) {
    lines[1] = "decided by " + result.interval;
  }
  const std::string unknown = unknown_words(result.unknown);
  if (!unknown.empty()) {
    lines.push_back("unknown: " + unknown);
  }
  for (std::size_t i = 1; i < std::min(result.strata.size(), kMostStrata); ++i) {
    const GateLine line = gate_line(result.gate, result.strata[i]);
    lines.push_back(fmt::format("then {}: {} over {} trials, bound {} ({})",
                                line.stratum,
                                line.figure,
                                line.trials,
                                line.bound,
                                to_string(result.strata[i].verdict)));
  }
  for (std::string& line : lines) {
    line = one_line(std::move(line));
  }
  return lines;
}

std::string lost_heading(const GateReport& report) {
  return fmt::format(
      "{} faults lost against the baseline, {} gained", report.lost.size(), report.gained);
}

/// Also replaces what XML cannot hold at all.
std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : escape_html(without_control_characters(std::string(text)))) {
    if (c == '\n') {
      escaped += "&#10;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string cell(std::string text) {
  std::string escaped;
  for (const char c : markdown_cell(one_line(std::move(text)))) {
    escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return escaped;
}

/// In a code span nothing is escaped, but nothing may end it either.
std::string code_cell(std::string text) {
  std::replace(text.begin(), text.end(), '`', '\'');
  return markdown_cell(one_line(std::move(text)));
}

std::string provenance(const GateReport& report) {
  std::string words = fmt::format("campaign {}, commit {}", report.campaign, report.commit);
  if (!report.baseline_commit.empty()) {
    words += ", baseline commit " + report.baseline_commit;
  }
  return one_line(words + ", simulated");
}

}  // namespace

std::string gate_table(const GateReport& report) {
  std::vector<Cells> rows = {kTitles};
  for (const GateResult& result : report.results) {
    rows.push_back(cells_of(result));
    for (std::string& text : rows.back()) {
      text = one_line(std::move(text));
    }
  }
  const auto widths = widths_of(rows);
  std::string table;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < kColumns; ++c) {
      line += (c == 0 ? "" : "  ") + fit(row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table += line + "\n";
  }
  table += "\n";
  for (const GateResult& result : report.results) {
    table += fmt::format("{}: {}\n", one_line(result.gate.name), to_string(result.verdict));
    for (const std::string& line : details_of(result)) {
      table += "  " + line + "\n";
    }
  }
  if (!report.baseline_commit.empty()) {
    table += "\n" + lost_heading(report) + "\n";
  }
  for (std::size_t i = 0; i < std::min(report.lost.size(), kMostLost); ++i) {
    table += fmt::format("  {}\n    {}\n",
                         one_line(lost_words(report.lost[i])),
                         one_line(reproduce_command(report, report.lost[i])));
  }
  return table + "\n" + provenance(report) + "\n" + verdict_sentence(report) + "\n";
}

std::string gate_junit(const GateReport& report) {
  const auto failures =
      std::count_if(report.results.begin(), report.results.end(), [](const GateResult& result) {
        return result.verdict != GateVerdict::kPassed;
      });
  const std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"", report.results.size(), failures);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite name=\"{1}\" {0} time=\"0\">\n",
      counts,
      xml_text("bonescan gates: " + report.campaign));
  for (const GateResult& result : report.results) {
    std::string details;
    for (const std::string& line : details_of(result)) {
      details += line + "\n";
    }
    xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n",
                       xml_text(fmt::format("gates.{}", info_of(result.gate.measure).name)),
                       xml_text(result.gate.name));
    if (result.verdict == GateVerdict::kPassed) {
      xml += fmt::format("      <system-out>{}</system-out>\n", xml_text(details));
    } else {
      xml += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                         to_string(result.verdict),
                         xml_text(gate_reason(result)),
                         xml_text(details));
    }
    xml += "    </testcase>\n";
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string gate_markdown(const GateReport& report) {
  std::string text = fmt::format("## Accuracy gate: {}\n\n{}. {}.\n\n",
                                 report.is_green() ? "green" : "red",
                                 verdict_sentence(report),
                                 cell(provenance(report)));
  text += "| Gate | Worst of | Trials | Figure | Bound | Limit | Verdict |\n";
  text += "|---|---|---|---|---|---|---|\n";
  for (const GateResult& result : report.results) {
    std::string row = "|";
    for (const std::string& value : cells_of(result)) {
      row += " " + cell(value) + " |";
    }
    text += row + "\n";
  }
  for (const GateResult& result : report.results) {
    text += fmt::format("\n**{}**: {}\n\n", cell(result.gate.name), to_string(result.verdict));
    for (const std::string& line : details_of(result)) {
      text += "- " + cell(line) + "\n";
    }
  }
  if (report.baseline_commit.empty()) {
    return text;
  }
  text += fmt::format("\n### {}\n", lost_heading(report));
  if (!report.lost.empty()) {
    text += "\n| Seed | Kind | Component | What became of it | Command |\n|---|---|---|---|---|\n";
  }
  for (std::size_t i = 0; i < std::min(report.lost.size(), kMostLost); ++i) {
    const LostFault& lost = report.lost[i];
    text += fmt::format("| {} | {} | {} | {} | `{}` |\n",
                        lost.fault.seed,
                        cell(lost.fault.kind),
                        cell(lost.fault.component),
                        lost.was_placed ? "no longer placed right" : "no longer found",
                        code_cell(reproduce_command(report, lost)));
  }
  if (report.lost.size() > kMostLost) {
    text += fmt::format("\n... and {} more.\n", report.lost.size() - kMostLost);
  }
  return text;
}

}  // namespace bonescan
