// localization_study TRACES PEERS [--quick] [--out DIRECTORY COMMAND COMMIT]
//
// Scores every localizer: on the reference traces in folder TRACES (written by flow_traces.py),
// beside what published programs answered there (file PEERS), and on 400 fresh traces a size; the
// two of the paired claim on 1,000.  Settings are chosen on even seeds and scored on odd ones.
// Prints tables and, if told where, writes README.md, results.json and recall.svg; says on the
// error output how far it is. Exit status: 0 if what is required holds, 1 if not, 2 wrong usage or
// missing traces.
#include "tests/validation/localization_methods.h"
#include "tests/validation/localization_report.h"
#include "tests/validation/localization_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan::validation {
namespace {

constexpr std::uint32_t kFaults[] = {0, 1, 2, 4, 8};
constexpr std::uint64_t kTuningSeed = 10'000;
constexpr std::uint64_t kFreshSeed = 20'001;

struct Plan {
  std::uint32_t tuning_seeds = 40;
  std::uint32_t fresh_seeds = kFreshSeeds;
  std::uint32_t contest_seeds = 200;
  std::uint32_t chart_seeds = 5;
};

void say(const std::string& text) {
  std::fprintf(stderr, "localization_study: %s\n", text.c_str());
}

std::vector<Score> score_all(const std::vector<test::FlowTrace>& traces, Localizer& localizer) {
  std::vector<Score> scores;
  for (const test::FlowTrace& trace : traces) {
    scores.push_back(score_trace(trace, localizer));
  }
  return scores;
}

std::vector<test::FlowTrace> draw(std::uint32_t flows, std::uint64_t first, std::uint32_t seeds) {
  std::vector<test::FlowTrace> traces;
  for (const std::uint32_t faults : kFaults) {
    for (std::uint32_t i = 0; i < seeds; ++i) {
      traces.push_back(test::draw_flow_trace(flows, faults, first + 2 * i));
    }
  }
  return traces;
}

std::optional<std::vector<test::FlowTrace>> reference(const std::string& folder,
                                                      std::uint32_t flows,
                                                      std::uint32_t parity) {
  std::vector<test::FlowTrace> traces;
  for (const std::uint32_t faults : kFaults) {
    for (std::uint32_t seed = parity == 0 ? 2 : 1; seed <= 8; seed += 2) {
      auto trace = test::read_flow_trace(folder + "/n" + std::to_string(flows) + "_f" +
                                         std::to_string(faults) + "_s" + std::to_string(seed));
      if (!trace) {
        return std::nullopt;
      }
      traces.push_back(std::move(*trace));
    }
  }
  return traces;
}

/// Lines: scheme trace failed named right.
std::map<std::string, std::map<std::string, Score>> read_peers(const std::string& file) {
  std::map<std::string, std::map<std::string, Score>> peers;
  std::ifstream in(file);
  std::string scheme;
  std::string trace;
  Score score;
  while (in >> scheme >> trace >> score.failed >> score.named >> score.right) {
    peers[scheme][trace] = score;
  }
  return peers;
}

/// What the published program answered, and ours with the program's setting.
void compare_with(const std::map<std::string, Score>& answers,
                  const std::vector<test::FlowTrace>& even,
                  const std::vector<test::FlowTrace>& odd,
                  ReferenceRow& row) {
  const Setting theirs = published_setting(row.method, row.flows);
  row.their_setting = theirs.text;
  for (const std::vector<test::FlowTrace>* traces : {&even, &odd}) {
    for (const test::FlowTrace& trace : *traces) {
      const auto answer = answers.find(trace.name);
      if (answer == answers.end()) {
        continue;
      }
      if (traces == &odd) {
        row.published.push_back(answer->second);
      }
      const Score ours = score_trace(trace, *theirs.localizer);
      row.alike.push_back(ours);
      if (ours.named != answer->second.named || ours.right != answer->second.right) {
        row.different.push_back(fmt::format("{} ({} named, {} right; theirs {}, {})",
                                            trace.name,
                                            ours.named,
                                            ours.right,
                                            answer->second.named,
                                            answer->second.right));
      }
    }
  }
}

void run_reference(const std::string& folder,
                   const std::map<std::string, std::map<std::string, Score>>& peers,
                   std::vector<Method>& methods,
                   StudyTables& tables) {
  static const std::map<std::string, std::string> kPublished = {
      {"flock-style", "flock"}, {"007", "007"}, {"netbouncer", "nb"}};
  for (const Allowance& size : kAllowances) {
    const auto even = reference(folder, size.flows, 0);
    const auto odd = reference(folder, size.flows, 1);
    if (!even || !odd) {
      tables.complete = false;
      return;
    }
    say(fmt::format("reference traces of {} flows", size.flows));
    Tuning tuning(methods);
    for (const test::FlowTrace& trace : *even) {
      tuning.try_on(trace);
    }
    for (std::size_t m = 0; m < methods.size(); ++m) {
      Method& method = methods[m];
      if (method.name == kOursChosen || method.name == kSampled || method.name == kBound) {
        continue;
      }
      const std::size_t chosen = tuning.best_by_f1(m);
      ReferenceRow row{.flows = size.flows, .method = method.name};
      row.setting = method.settings[chosen].text;
      row.scores = score_all(*odd, *method.settings[chosen].localizer);
      const auto published = kPublished.find(method.name);
      if (published != kPublished.end() && peers.contains(published->second)) {
        compare_with(peers.at(published->second), *even, *odd, row);
      }
      tables.reference.push_back(std::move(row));
    }
  }
}

/// At most half of the allowed false links for everybody.
std::vector<std::size_t> choose(const Allowance& size,
                                const Plan& plan,
                                std::vector<Method>& methods) {
  Tuning tuning(methods);
  for (std::uint32_t i = 0; i < plan.tuning_seeds; ++i) {
    say(fmt::format("tuning, {} flows, seed {} of {}", size.flows, i + 1, plan.tuning_seeds));
    for (const std::uint32_t faults : kFaults) {
      tuning.try_on(test::draw_flow_trace(size.flows, faults, kTuningSeed + 2 * i));
    }
  }
  const double most = 0.5 * size.false_most / 60.0 * static_cast<double>(tuning.tally(0, 0).failed);
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    chosen.push_back(tuning.best_by_false(m, most));
    const Tally& best = tuning.tally(m, chosen.back());
    say(fmt::format("{}: {} ({} of {}, {} false)",
                    methods[m].name,
                    methods[m].settings[chosen.back()].text,
                    best.right,
                    best.failed,
                    best.wrong));
  }
  return chosen;
}

void run_fresh(const Plan& plan, std::vector<Method>& methods, StudyTables& tables) {
  for (const Allowance& size : kAllowances) {
    const std::vector<std::size_t> chosen = choose(size, plan, methods);
    for (std::size_t i = 0; i < methods.size(); ++i) {
      tables.fresh.push_back({.flows = size.flows,
                              .method = methods[i].name,
                              .setting = methods[i].settings[chosen[i]].text,
                              .scores = {}});
    }
    const std::size_t first = tables.fresh.size() - methods.size();
    // One trace at a time: a thousand would not fit.
    for (std::uint32_t s = 0; s < plan.contest_seeds; ++s) {
      if (s % 20 == 0) {
        say(fmt::format("fresh, {} flows, seed {} of {}", size.flows, s + 1, plan.contest_seeds));
      }
      for (const std::uint32_t faults : kFaults) {
        const auto trace = test::draw_flow_trace(size.flows, faults, kFreshSeed + 2 * s);
        for (std::size_t i = 0; i < methods.size(); ++i) {
          if (s < plan.fresh_seeds || methods[i].contest) {
            tables.fresh[first + i].scores.push_back(
                score_trace(trace, *methods[i].settings[chosen[i]].localizer));
          }
        }
      }
    }
  }
}

/// With the settings of the nearer size.
void run_chart(const Plan& plan, std::vector<Method>& methods, StudyTables& tables) {
  for (const std::uint32_t flows : {3'000U, 6'000U, 12'500U, 25'000U, 50'000U}) {
    const auto traces = draw(flows, kFreshSeed, plan.chart_seeds);
    for (Method& method : methods) {
      const std::uint32_t size = flows < 25'000 ? 12'500 : 50'000;
      const auto row = std::find_if(tables.fresh.begin(), tables.fresh.end(), [&](const auto& one) {
        return one.method == method.name && one.flows == size;
      });
      const auto setting =
          std::find_if(method.settings.begin(), method.settings.end(), [&](const Setting& one) {
            return one.text == row->setting;
          });
      const Score sum = sum_of(score_all(traces, *setting->localizer));
      tables.chart[method.name].emplace_back(
          flows, static_cast<double>(sum.right) / static_cast<double>(sum.failed));
    }
  }
}

/// After each part: the whole takes minutes.
void write_files(const StudyTables& tables, const std::string& folder) {
  if (!folder.empty()) {
    std::ofstream(folder + "/README.md") << markdown(tables);
    std::ofstream(folder + "/results.json") << json(tables);
    std::ofstream(folder + "/recall.svg") << chart(tables);
  }
}

int run(const std::vector<std::string>& arguments) {
  StudyTables tables;
  Plan plan;
  std::string out;
  bool right = arguments.size() >= 2;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (arguments[i] == "--quick") {
      plan = {.tuning_seeds = 1, .fresh_seeds = 1, .contest_seeds = 1, .chart_seeds = 1};
      tables.quick = true;
    } else if (arguments[i] == "--out" && i + 3 < arguments.size()) {
      out = arguments[i + 1];
      tables.command = arguments[i + 2];
      tables.commit = arguments[i + 3];
      i += 3;
    } else {
      right = false;
    }
  }
  if (!right) {
    std::fputs(
        "usage: localization_study TRACES PEERS [--quick] [--out DIRECTORY COMMAND COMMIT]\n",
        stderr);
    return 2;
  }
  std::vector<Method> methods = study_methods();
  run_reference(arguments[0], read_peers(arguments[1]), methods, tables);
  if (!tables.complete && !tables.quick) {
    std::fprintf(stderr, "localization_study: no reference traces in %s\n", arguments[0].c_str());
    return 2;
  }
  write_files(tables, out);
  run_fresh(plan, methods, tables);
  write_files(tables, out);
  run_chart(plan, methods, tables);
  write_files(tables, out);
  std::fputs(markdown(tables).c_str(), stdout);
  return tables.quick || holds(tables) ? 0 : 1;
}

}  // namespace
}  // namespace bonescan::validation

int main(int argc, char** argv) {
  return bonescan::validation::run({argv + 1, argv + argc});
}
