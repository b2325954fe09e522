#include "tools/campaign/campaign_summary.h"

#include "tools/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace bonescan {
namespace {

/// What is gathered of a scheme before it is summed up.
struct Gathered {
  SchemeSummary sum{};
  std::size_t visible_found = 0;
  std::size_t judged = 0;
  std::size_t correct = 0;
  std::vector<double> delays_s{};
};

void add_run(const CampaignRun& run, Gathered& into) {
  SchemeSummary& sum = into.sum;
  ++sum.runs;
  sum.failed += run.failure.empty() ? 0 : 1;
  sum.false_positives += run.false_positives;
  sum.duplicates += run.duplicates;
  sum.rnic_days += run.rnic_days;
  sum.simulated_s += run.simulated_s;
  sum.wall_s += run.wall_s;
  sum.probes += run.probes;
}

void add_fault(const CampaignFault& fault, Gathered& into) {
  SchemeSummary& sum = into.sum;
  if (fault.placement != Placement::kNotJudged) {
    ++into.judged;
    into.correct += fault.placement == Placement::kCorrect ? 1 : 0;
  }
  sum.undecided += fault.status == FaultStatus::kUndecided ? 1 : 0;
  if (!is_decided(fault.status)) {
    return;
  }
  const bool is_found = fault.status == FaultStatus::kDetected;
  ++sum.faults;
  ++(is_found ? sum.found : sum.missed);
  sum.visible += fault.visible ? 1 : 0;
  into.visible_found += fault.visible && is_found ? 1 : 0;
  if (!fault.gray && fault.time_to_detect_s) {
    into.delays_s.push_back(*fault.time_to_detect_s);
  }
}

SchemeSummary finish(Gathered gathered) {
  SchemeSummary& sum = gathered.sum;
  sum.precision = make_ratio(sum.found, sum.found + sum.false_positives);
  sum.recall = make_ratio(sum.found, sum.faults);
  sum.recall_visible = make_ratio(gathered.visible_found, sum.visible);
  sum.placed = make_ratio(gathered.correct, gathered.judged);
  sum.time_to_detect.mean_s = mean(gathered.delays_s);
  sum.time_to_detect.median_s = quantile(gathered.delays_s, 0.5);
  sum.time_to_detect.p95_s = quantile(gathered.delays_s, 0.95);
  return std::move(sum);
}

/// "98.2 (96.6-99.1)" in percent, or "-".
std::string percent_text(const Ratio& ratio) {
  if (!ratio.value) {
    return "-";
  }
  return fmt::format("{:.1f} ({:.1f}-{:.1f})",
                     100.0 * *ratio.value,
                     100.0 * ratio.wilson95->low,
                     100.0 * ratio.wilson95->high);
}

std::string delay_text(std::optional<double> value_s) {
  return value_s ? fmt::format("{:.1f}", *value_s) : "-";
}

constexpr std::size_t kColumns = 12;
using Row = std::array<std::string, kColumns>;

Row summary_row(const SchemeSummary& sum) {
  return {without_control_characters(sum.scheme),
          std::to_string(sum.runs - sum.failed),
          std::to_string(sum.faults),
          std::to_string(sum.visible),
          std::to_string(sum.found),
          std::to_string(sum.false_positives),
          percent_text(sum.precision),
          percent_text(sum.recall_visible),
          percent_text(sum.placed),
          delay_text(sum.time_to_detect.mean_s),
          delay_text(sum.time_to_detect.median_s),
          delay_text(sum.time_to_detect.p95_s)};
}

Json json_ratio(const Ratio& ratio) {
  Json json = {{"successes", ratio.successes},
               {"trials", ratio.trials},
               {"value", json_number(ratio.value)},
               {"wilson95", nullptr}};
  if (ratio.wilson95) {
    json["wilson95"] = {ratio.wilson95->low, ratio.wilson95->high};
  }
  return json;
}

Json json_scheme(const SchemeSummary& sum) {
  return {{"scheme", sum.scheme},
          {"runs", sum.runs},
          {"failed_runs", sum.failed},
          {"faults", sum.faults},
          {"visible", sum.visible},
          {"found", sum.found},
          {"missed", sum.missed},
          {"undecided", sum.undecided},
          {"false_positives", sum.false_positives},
          {"duplicates", sum.duplicates},
          {"precision", json_ratio(sum.precision)},
          {"recall", json_ratio(sum.recall)},
          {"recall_visible", json_ratio(sum.recall_visible)},
          {"placed", json_ratio(sum.placed)},
          {"time_to_detect_s",
           {{"mean", json_number(sum.time_to_detect.mean_s)},
            {"median", json_number(sum.time_to_detect.median_s)},
            {"p95", json_number(sum.time_to_detect.p95_s)}}},
          {"rnic_days", sum.rnic_days},
          {"simulated_s", sum.simulated_s},
          {"wall_s", sum.wall_s},
          {"probes", sum.probes}};
}

}  // namespace

std::vector<SchemeSummary> summarize(const CampaignData& campaign,
                                     const std::vector<std::string>& schemes) {
  std::map<std::string, Gathered> gathered;
  for (const CampaignRun& run : campaign.runs) {
    add_run(run, gathered[run.scheme]);
  }
  for (const CampaignFault& fault : campaign.faults) {
    add_fault(fault, gathered[fault.scheme]);
  }
  std::vector<SchemeSummary> summaries;
  for (const std::string& scheme : schemes) {
    if (const auto found = gathered.find(scheme); found != gathered.end()) {
      found->second.sum.scheme = scheme;
      summaries.push_back(finish(std::move(found->second)));
    }
  }
  return summaries;
}

std::string summary_table(const std::vector<SchemeSummary>& summaries) {
  std::vector<Row> rows = {{"scheme",
                            "runs",
                            "faults",
                            "visible",
                            "found",
                            "false",
                            "precision %",
                            "recall visible %",
                            "placed %",
                            "mean s",
                            "p50 s",
                            "p95 s"}};
  for (const SchemeSummary& sum : summaries) {
    rows.push_back(summary_row(sum));
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < kColumns; ++c) {
      line += (c == 0 ? "" : "  ") + fit(row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Json summary_json(const CampaignData& campaign, const std::vector<SchemeSummary>& summaries) {
  Json schemes = Json::array();
  for (const SchemeSummary& sum : summaries) {
    schemes.push_back(json_scheme(sum));
  }
  return {{"campaign", campaign.name},
          {"file_hash", campaign.file_hash},
          {"commit", campaign.commit},
          {"command", campaign.command},
          {"cells", campaign.cells.size()},
          {"schemes", schemes}};
}

}  // namespace bonescan
