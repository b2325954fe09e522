#include "tools/study/study_runs.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <map>
#include <thread>
#include <utility>

namespace bonescan {
namespace {

constexpr double kConfidence = 0.99;
constexpr std::uint32_t kRealisticJobs = 1'000;

std::uint64_t seed_of(SeedParity seeds, std::size_t index) {
  return 2 * index + (seeds == SeedParity::kOdd ? kFirstOddSeed : 2);
}

/// Runs `body(i)` for every i below `count`; each writes to a place of its own.
template <class Body>
void for_each_index(std::size_t count, std::uint32_t threads, const Body& body) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (std::uint32_t t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) {
        body(i);
      }
    });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
}

/// Numbers become '#', so that reasons can be counted.
std::string without_numbers(const std::string& why) {
  std::string out;
  for (const char c : why) {
    const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                        (c == '.' && !out.empty() && out.back() == '#');
    if (!number) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

StudySummary sum_up(const std::vector<StudyOutcome>& outcomes, const StudyCase& run) {
  StudySummary sum;
  sum.runs = static_cast<std::uint32_t>(outcomes.size());
  sum.adjusted_rand_least = 1.0;
  const auto n = static_cast<double>(outcomes.size());
  std::uint64_t listed = 0;
  std::uint64_t listed_true = 0;
  std::map<std::string, std::uint32_t> reasons;
  for (const StudyOutcome& outcome : outcomes) {
    sum.adjusted_rand_mean += outcome.adjusted_rand / n;
    sum.adjusted_rand_least = std::min(sum.adjusted_rand_least, outcome.adjusted_rand);
    for (std::size_t e = 0; e < kEdgeClasses; ++e) {
      sum.edges[e].covered += outcome.edges[e].covered;
      sum.edges[e].all += outcome.edges[e].all;
    }
    sum.runs_missing += outcome.missed() > 0 ? 1 : 0;
    sum.runs_fallen_back += outcome.fell_back() ? 1 : 0;
    ++sum.scopes[static_cast<std::size_t>(outcome.scope)];
    sum.stages_right += outcome.stages == run.job.pp ? 1 : 0;
    listed += outcome.listed;
    listed_true += outcome.listed_true;
    sum.list_mean += outcome.longest_list / n;
    sum.oracle_mean += outcome.longest_oracle / n;
    const std::uint32_t own = run.job.container_rnics == 0 ? 8 : run.job.container_rnics;
    sum.mesh += (outcome.members - own) / n;
    if (outcome.fell_back()) {
      ++reasons[without_numbers(outcome.why)];
    }
  }
  sum.precision =
      listed == 0 ? 0.0 : static_cast<double>(listed_true) / static_cast<double>(listed);
  std::uint32_t most = 0;
  for (const auto& [why, count] : reasons) {
    if (count > most) {
      most = count;
      sum.why_fallen_back = why;
    }
  }
  return sum;
}

KindResult judged(const StudyKind& kind,
                  const std::vector<StudyOutcome>& outcomes,
                  SeedParity parity) {
  KindResult result{kind, sum_up(outcomes, kind.base), 0, 0, reliability_bins(), {}};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const StudyOutcome& outcome = outcomes[i];
    if (outcome.missed() > 0) {
      result.misses.push_back({seed_of(parity, i), draw_case(kind, seed_of(parity, i)), outcome});
    }
    const bool confident = outcome.confidence > kConfidence;
    result.runs_confident += confident ? 1 : 0;
    result.runs_confident_missing += confident && outcome.missed() > 0 ? 1 : 0;
    for (ReliabilityBin& bin : result.bins) {
      if (outcome.lowest_confidence >= bin.low && outcome.lowest_confidence < bin.high) {
        ++bin.runs;
        bin.right += outcome.lowest_misses ? 0 : 1;
        bin.confidence_sum += outcome.lowest_confidence;
      }
    }
  }
  return result;
}

/// The first runs of each kind, under flow tables as well.
/// @param outcomes  of throughput: by kind, then by seed
std::vector<EvidenceResult> compare_evidence(const std::vector<StudyKind>& kinds,
                                             const std::vector<std::vector<StudyOutcome>>& outcomes,
                                             StudySize size,
                                             SeedParity parity,
                                             std::uint32_t threads) {
  const std::size_t seeds = size == StudySize::kQuick ? 2 : 20;
  std::vector<EvidenceOutcome> tables(kinds.size() * seeds);
  for_each_index(tables.size(), threads, [&](std::size_t i) {
    const std::uint64_t seed = seed_of(parity, i % seeds);
    tables[i] = run_flow_tables(draw_case(kinds[i / seeds], seed), seed);
  });
  std::vector<EvidenceResult> results;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto count = static_cast<std::ptrdiff_t>(seeds);
    EvidenceResult result;
    result.kind = kinds[k].name;
    result.runs = static_cast<std::uint32_t>(seeds);
    result.throughput =
        sum_up(std::vector(outcomes[k].begin(), outcomes[k].begin() + count), kinds[k].base);
    const auto first = tables.begin() + static_cast<std::ptrdiff_t>(k) * count;
    for (auto read = first; read != first + count; ++read) {
      const auto n = static_cast<double>(seeds);
      result.flow_missed += read->missed;
      result.flow_recall_least = std::min(result.flow_recall_least, read->recall);
      result.flow_list_mean += read->longest_list / n;
      result.flow_dumps_mean += read->dumps_per_rnic / n;
      result.flow_known_s_mean += read->known_after_s / n;
      result.flow_peers += read->scope == SkeletonScope::kPeers ? 1 : 0;
    }
    results.push_back(std::move(result));
  }
  return results;
}

void measure_drift(StudySize size,
                   SeedParity parity,
                   std::uint32_t threads,
                   StudyResults& results) {
  const bool quick = size == StudySize::kQuick;
  std::vector<std::uint64_t> seeds;
  for (std::size_t i = 0; i < (quick ? 2U : 20U); ++i) {
    seeds.push_back(seed_of(parity, i));
  }
  for (const DriftChange change : {DriftChange::kIdle,
                                   DriftChange::kStraggler,
                                   DriftChange::kStopped,
                                   DriftChange::kMoreStages,
                                   DriftChange::kNoStages}) {
    for (const double snr : {10.0, 20.0}) {
      for (const double step : {2.0, 4.0, 8.0, 16.0, 30.0}) {
        if (!quick || (step == 8.0 && snr == 10.0)) {
          results.delays.push_back({.change = change, .step_s = step, .snr_db = snr});
        }
      }
    }
  }
  for (const StudyNoise noise : kStudyNoises) {
    for (const double snr : {0.0, 10.0}) {
      if (!quick) {
        results.alarms.push_back({.noise = noise, .snr_db = snr});
      }
    }
  }
  const std::vector<std::uint64_t> few(seeds.begin(), seeds.begin() + (quick ? 2 : 8));
  for_each_index(results.delays.size() + results.alarms.size(), threads, [&](std::size_t i) {
    if (i < results.delays.size()) {
      DriftDelay& own = results.delays[i];
      own = measure_delay(own.change, own.step_s, own.snr_db, seeds);
    } else {
      DriftAlarms& own = results.alarms[i - results.delays.size()];
      own = measure_alarms(own.noise, own.snr_db, few);
    }
  });
}

struct Task {
  std::size_t owner = 0;  ///< point, or kind after the points
  std::uint64_t seed = 0;
};

}  // namespace

std::string_view to_string(SeedParity seeds) {
  return seeds == SeedParity::kOdd ? "odd seeds from 300,001 on" : "even seeds, which are tuned on";
}

std::vector<ReliabilityBin> reliability_bins() {
  std::vector<ReliabilityBin> bins;
  const double edges[] = {0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 1.01};
  for (std::size_t i = 0; i + 1 < std::size(edges); ++i) {
    bins.push_back({.low = edges[i], .high = edges[i + 1]});
  }
  return bins;
}

double StudySummary::recall() const {
  std::uint64_t all = 0;
  std::uint64_t covered = 0;
  for (const EdgeCount& count : edges) {
    all += count.all;
    covered += count.covered;
  }
  return all == 0 ? 1.0 : static_cast<double>(covered) / static_cast<double>(all);
}

bool PointResult::holds() const {
  const StudyBound& bound = point.bound;
  return summary.adjusted_rand_mean >= bound.adjusted_rand && summary.recall() >= bound.recall &&
         static_cast<double>(summary.runs_fallen_back) <=
             bound.fallback * static_cast<double>(summary.runs);
}

bool StudyResults::hold() const {
  return std::all_of(points.begin(),
                     points.end(),
                     [](const PointResult& result) { return result.holds(); }) &&
         std::all_of(kinds.begin(), kinds.end(), [](const KindResult& result) {
           return result.runs_confident_missing == 0 && result.summary.recall() >= 0.995;
         });
}

StudyResults run_study(StudySize size, SeedParity parity, std::uint32_t threads) {
  StudyResults results;
  results.seeds = parity;
  const std::vector<StudyPoint> points = study_sweeps(size);
  const std::vector<StudyKind> kinds = study_kinds(size);
  std::vector<Task> tasks;
  for (std::size_t p = 0; p < points.size() + kinds.size(); ++p) {
    const std::uint32_t seeds =
        p < points.size() ? points[p].seeds : kinds[p - points.size()].seeds;
    for (std::uint32_t s = 0; s < seeds; ++s) {
      tasks.push_back({p, seed_of(parity, s)});
    }
  }
  const SkeletonInference inference{InferenceOptions{}};
  std::vector<StudyOutcome> outcomes(tasks.size());
  for_each_index(tasks.size(), threads, [&](std::size_t i) {
    const auto& [owner, seed] = tasks[i];
    const StudyCase run =
        owner < points.size() ? points[owner].run : draw_case(kinds[owner - points.size()], seed);
    outcomes[i] = run_study_case(run, seed, inference, kConfidence);
  });
  auto next = outcomes.begin();
  for (const StudyPoint& point : points) {
    const std::vector<StudyOutcome> own(next, next + point.seeds);
    next += point.seeds;
    results.points.push_back({point, sum_up(own, point.run)});
  }
  std::vector<std::vector<StudyOutcome>> of_kinds;
  for (const StudyKind& kind : kinds) {
    of_kinds.emplace_back(next, next + kind.seeds);
    next += kind.seeds;
    results.kinds.push_back(judged(kind, of_kinds.back(), parity));
  }
  measure_drift(size, parity, threads, results);
  results.evidence = compare_evidence(kinds, of_kinds, size, parity, threads);
  for (std::uint32_t i = 0; i < kRealisticJobs; ++i) {
    results.realistic.push_back(draw_realistic_job(seed_of(parity, i)));
  }
  return results;
}

}  // namespace bonescan
