#include "tests/validation/localization_report.h"

#include "sim/base/rng_stream.h"
#include "tools/study/output/line_chart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace bonescan::validation {
namespace {

constexpr int kResamples = 4'000;
constexpr std::size_t kFreshTraces = std::size_t{5} * kFreshSeeds;

bool reference_holds(const StudyTables& tables, const Allowance& size) {
  return std::any_of(
      tables.reference.begin(), tables.reference.end(), [&](const ReferenceRow& row) {
        const Score sum = sum_of(row.scores);
        return row.flows == size.flows && row.method == kOurs && sum.right >= size.found_least &&
               sum.wrong() <= size.false_most && median_cpu_ms(row.scores) <= size.median_ms_most;
      });
}

/// Of one size or, with 0, of all.
std::vector<Score> fresh_scores(const StudyTables& tables,
                                std::uint32_t flows,
                                const std::string& name,
                                std::size_t traces_most) {
  std::vector<Score> scores;
  for (const FreshRow& row : tables.fresh) {
    if (row.method == name && (flows == 0 || row.flows == flows)) {
      const std::size_t count = std::min(row.scores.size(), traces_most);
      scores.insert(scores.end(),
                    row.scores.begin(),
                    row.scores.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  return scores;
}

bool fresh_holds(const StudyTables& tables, std::uint32_t flows) {
  const auto ours = fresh_scores(tables, flows, kOursChosen, kFreshTraces);
  const auto theirs = fresh_scores(tables, flows, kFlockStyle, kFreshTraces);
  return !ours.empty() && !theirs.empty() && compare(ours, theirs).low >= 0.0 &&
         sum_of(ours).wrong() <= sum_of(theirs).wrong();
}

const char* yes(bool kept) {
  return kept ? "yes" : "NO";
}

void write_reference(const StudyTables& tables, std::string& text) {
  auto out = std::back_inserter(text);
  text +=
      "\n## Reference traces, odd seeds (20 traces, 60 failed links a size)\n\n"
      "The setting of every method but ours is the one with the best macro F1 on the even "
      "seeds of these traces; ours is what the library ships.\n\n"
      "| flows | method | found | false | macro F1 | median / max CPU ms | setting |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ReferenceRow& row : tables.reference) {
    const Score sum = sum_of(row.scores);
    double slowest = 0.0;
    for (const Score& one : row.scores) {
      slowest = std::max(slowest, one.cpu_ms);
    }
    fmt::format_to(out,
                   "| {} | {} | {} | {} | {:.3f} | {:.2f} / {:.2f} | {} |\n",
                   row.flows,
                   row.method,
                   sum.right,
                   sum.wrong(),
                   macro_f1(row.scores),
                   median_cpu_ms(row.scores),
                   slowest,
                   row.setting);
  }
}

void write_published(const StudyTables& tables, std::string& text) {
  auto out = std::back_inserter(text);
  text +=
      "\n### Beside the published programs\n\n"
      "What the authors' programs (Flock's repository) answered on the odd seeds, measured by us "
      "with settings chosen by macro F1 on the even ones, and how many of the 40 traces a size our "
      "methods answer alike with the same setting: as many links named, as many of them right.\n\n"
      "| flows | method | published found, false | its setting | answered alike | different |\n"
      "|---|---|---|---|---|---|\n";
  for (const ReferenceRow& row : tables.reference) {
    if (row.published.empty()) {
      continue;
    }
    const Score published = sum_of(row.published);
    fmt::format_to(out,
                   "| {} | {} | {}, {} | {} | {} of {} | {} |\n",
                   row.flows,
                   row.method,
                   published.right,
                   published.wrong(),
                   row.their_setting,
                   row.alike.size() - row.different.size(),
                   row.alike.size(),
                   fmt::join(row.different, "; "));
  }
}

void write_fresh(const StudyTables& tables, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      "\n## Fresh traces (drawn, odd seeds from 20,001 on)\n\n"
      "Every method with the setting that finds most links on 200 drawn traces a size, of even "
      "seeds from 10,000 on, of those with at most half of the allowed false links (1 of 60 at "
      "50,000 flows, 2 of 60 at 12,500). \"bonescan\" is what the library ships, \"bonescan, "
      "sampled\" its PosteriorSearch; \"bound\" is the latter told the distributions that the "
      "traces are drawn from, about the most that can be found.\n\n"
      "| flows | method | traces | found | recall | false | median CPU ms | setting "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const FreshRow& row : tables.fresh) {
    const Score sum = sum_of(row.scores);
    fmt::format_to(out,
                   "| {} | {} | {} | {} of {} | {:.4f} | {} | {:.2f} | {} |\n",
                   row.flows,
                   row.method,
                   row.scores.size(),
                   sum.right,
                   sum.failed,
                   static_cast<double>(sum.right) / std::max(sum.failed, 1U),
                   sum.wrong(),
                   median_cpu_ms(row.scores),
                   row.setting);
  }
}

void write_pair(const StudyTables& tables,
                std::uint32_t flows,
                const char* name,
                std::size_t traces_most,
                std::string& text) {
  const auto ours = fresh_scores(tables, flows, name, traces_most);
  const auto theirs = fresh_scores(tables, flows, kFlockStyle, traces_most);
  if (ours.empty() || ours.size() != theirs.size()) {
    return;
  }
  const PairedRecall paired = compare(ours, theirs);
  fmt::format_to(std::back_inserter(text),
                 "| {} | {} | {} | {:+.4f} | {:+.4f} to {:+.4f} | {}, {} |\n",
                 flows == 0 ? "both" : std::to_string(flows),
                 name,
                 ours.size(),
                 paired.difference,
                 paired.low,
                 paired.high,
                 sum_of(ours).wrong(),
                 sum_of(theirs).wrong());
}

void write_paired(const StudyTables& tables, std::string& text) {
  text +=
      "\n### Against the Flock-style baseline, paired by trace\n\n"
      "\"both\" takes the traces of the two sizes together.\n\n"
      "| flows | against it | traces | difference of recall | 95 % (bootstrap over traces) | "
      "false, it and Flock-style |\n|---|---|---|---|---|---|\n";
  for (const std::uint32_t flows : {kAllowances[0].flows, kAllowances[1].flows, 0U}) {
    for (const char* name : {kOursChosen, kOurs, kBound}) {
      write_pair(tables, flows, name, kFreshTraces, text);
    }
    for (const char* name : {kOursChosen, kOurs}) {
      write_pair(tables, flows, name, std::size_t{1} << 30, text);
    }
  }
}

void write_required(const StudyTables& tables, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\n## What is required\n\n| what | holds |\n|---|---|\n");
  for (const Allowance& size : kAllowances) {
    fmt::format_to(
        out,
        "| {} flows, reference: at least {} of 60 found, at most {} false, median at most "
        "{} ms a trace | {} |\n",
        size.flows,
        size.found_least,
        size.false_most,
        size.median_ms_most,
        yes(reference_holds(tables, size)));
    fmt::format_to(
        out,
        "| {} flows, fresh: recall not below the Flock-style baseline's (lower bound >= 0), "
        "no more false links | {} |\n",
        size.flows,
        yes(fresh_holds(tables, size.flows)));
  }
  fmt::format_to(
      out, "| both sizes together, fresh: the same | {} |\n", yes(fresh_holds(tables, 0)));
}

}  // namespace

PairedRecall compare(const std::vector<Score>& ours, const std::vector<Score>& theirs) {
  const auto count = static_cast<std::uint32_t>(std::min(ours.size(), theirs.size()));
  const auto difference = [&](auto&& index_of) {
    double more = 0.0;
    double failed = 0.0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = index_of(i);
      more += static_cast<double>(ours[at].right) - static_cast<double>(theirs[at].right);
      failed += ours[at].failed;
    }
    return failed > 0.0 ? more / failed : 0.0;
  };
  PairedRecall paired;
  paired.difference = difference([](std::uint32_t i) { return i; });
  std::vector<double> samples;
  for (std::uint32_t sample = 0; sample < kResamples; ++sample) {
    const RngStream dice(1, Purpose::kStudyDraw, sample);
    samples.push_back(difference(
        [&](std::uint32_t i) { return static_cast<std::uint32_t>(dice.at(i) % count); }));
  }
  std::sort(samples.begin(), samples.end());
  paired.low = samples[samples.size() / 40];
  paired.high = samples[samples.size() - 1 - samples.size() / 40];
  return paired;
}

std::string markdown(const StudyTables& tables) {
  std::string text = fmt::format(
      "# How well faulty links are found\n\n"
      "Made by `{}` at commit {}; do not edit. Everything is *simulated*: a fat tree of degree 10 "
      "(750 hosts, 2,500 directed links), of which 0, 1, 2, 4 or 8 lose 0.2 to 2 % of the packets "
      "in "
      "silence while every other link loses up to 0.01 %; flows of Pareto sizes over random "
      "shortest "
      "paths, each with its packets, its losses and its path known. A named link is right if it "
      "fails "
      "in the named direction (cables named as a whole: in either). The reference traces come from "
      "`tests/validation/flow_traces.py`, byte by byte those of the published programs' runs; the "
      "fresh ones are drawn in C++ from the same distributions with streams of our own. Times are "
      "CPU "
      "times of one call, loading excluded.\n",
      tables.command,
      tables.commit);
  write_required(tables, text);
  write_reference(tables, text);
  write_published(tables, text);
  write_fresh(tables, text);
  write_paired(tables, text);
  text +=
      "\n![Recall against flows](recall.svg)\n\nRecall against flows: 5 odd seeds for each number "
      "of "
      "faults, settings of the nearer size.\n";
  return text;
}

std::string json(const StudyTables& tables) {
  nlohmann::ordered_json all;
  all["simulated"] = true;
  all["command"] = tables.command;
  all["commit"] = tables.commit;
  const auto add = [&all](const char* table, const auto& row) {
    const Score sum = sum_of(row.scores);
    all[table].push_back({{"flows", row.flows},
                          {"method", row.method},
                          {"setting", row.setting},
                          {"traces", row.scores.size()},
                          {"failed", sum.failed},
                          {"found", sum.right},
                          {"false", sum.wrong()},
                          {"macro_f1", macro_f1(row.scores)},
                          {"median_cpu_ms", median_cpu_ms(row.scores)}});
  };
  for (const ReferenceRow& row : tables.reference) {
    add("reference", row);
    if (!row.published.empty()) {
      const Score sum = sum_of(row.published);
      all["reference"].back()["published_found"] = sum.right;
      all["reference"].back()["published_false"] = sum.wrong();
      all["reference"].back()["answered_alike"] = row.alike.size() - row.different.size();
      all["reference"].back()["compared"] = row.alike.size();
    }
  }
  for (const FreshRow& row : tables.fresh) {
    add("fresh", row);
  }
  for (const auto& [method, points] : tables.chart) {
    all["recall_by_flows"][method] = points;
  }
  return all.dump(1) + "\n";
}

std::string chart(const StudyTables& tables) {
  LineChart chart{
      .title = "Faulty links found", .x_label = "flows", .y_label = "recall", .lines = {}};
  for (const auto& [method, points] : tables.chart) {
    chart.lines.push_back({method, points});
  }
  return to_svg(chart);
}

bool holds(const StudyTables& tables) {
  return std::all_of(kAllowances.begin(), kAllowances.end(), [&](const Allowance& size) {
    return reference_holds(tables, size) && fresh_holds(tables, size.flows);
  });
}

}  // namespace bonescan::validation
