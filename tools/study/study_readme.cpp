#include "tools/study/study_readme.h"

#include "tools/evaluate/statistics.h"
#include "tools/study/study_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

constexpr double kWantedOffset = 0.5;  ///< seconds

const char* verdict(const PointResult& result) {
  return !result.point.bound.wanted() ? "" : result.holds() ? "yes" : "NO";
}

std::string required_section(const StudyResults& results) {
  std::string text =
      "| offset | SNR | ARI, mean (least) | recall dp, pp | fallback (95 %) | scopes, runs | holds "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == "required") {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} dB | {:.3f} ({:.3f}) | {}, {} | {:.2f} ({}) | {} | {} |\n",
                          result.point.series,
                          result.point.x,
                          sum.adjusted_rand_mean,
                          sum.adjusted_rand_least,
                          recall_text(sum.edges[0]),
                          recall_text(sum.edges[1]),
                          share(sum.runs_fallen_back, sum.runs),
                          interval_text(sum.runs_fallen_back, sum.runs),
                          scopes_text(sum),
                          verdict(result));
    }
  }
  return text;
}

std::string size_section(const StudyResults& results) {
  std::string text =
      "| GPUs | shape | full mesh | same rail | throughput | oracle | recall | ARI | holds |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == "size") {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} | {:.0f} | {} | {:.1f} | {:.1f} | {:.4f} | {:.3f} | {} |\n",
                          result.point.run.job.gpus,
                          result.point.series,
                          sum.mesh,
                          result.point.run.job.gpus / 8 - 1,
                          sum.list_mean,
                          sum.oracle_mean,
                          sum.recall(),
                          sum.adjusted_rand_mean,
                          verdict(result));
    }
  }
  return text;
}

std::string sweep_section(const StudyResults& results, const std::string& sweep) {
  std::string text =
      "| series | x | ARI | stages counted right | recall | runs with a miss | fallback | list "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    if (result.point.sweep == sweep) {
      const StudySummary& sum = result.summary;
      text += fmt::format("| {} | {} | {:.3f} | {:.2f} | {:.4f} | {} of {} | {:.2f} | {:.1f} |\n",
                          result.point.series,
                          result.point.x,
                          sum.adjusted_rand_mean,
                          share(sum.stages_right, sum.runs),
                          sum.recall(),
                          sum.runs_missing,
                          sum.runs,
                          share(sum.runs_fallen_back, sum.runs),
                          sum.list_mean);
    }
  }
  return text;
}

std::string kinds_section(const StudyResults& results) {
  std::string text =
      "| kind | recall | dp, pp, ep, cp | runs above 0.99, of them with a miss (95 %) | scopes, "
      "runs | precision | list, oracle | why most fell back |\n|---|---|---|---|---|---|---|---|\n";
  for (const KindResult& result : results.kinds) {
    const StudySummary& sum = result.summary;
    text += fmt::format(
        "| {} | {:.4f} | {}, {}, {}, {} | {}, {} ({}) | {} | {:.3f} | {:.1f}, {:.1f} | {} |\n",
        result.kind.name,
        sum.recall(),
        recall_text(sum.edges[0]),
        recall_text(sum.edges[1]),
        recall_text(sum.edges[2]),
        recall_text(sum.edges[3]),
        result.runs_confident,
        result.runs_confident_missing,
        interval_text(result.runs_confident_missing, result.runs_confident),
        scopes_text(sum),
        sum.precision,
        sum.list_mean,
        sum.oracle_mean,
        sum.why_fallen_back);
  }
  return text;
}

std::string evidence_section(const StudyResults& results) {
  std::string text =
      "| kind | throughput: list, recall | flow tables: list, least recall | runs that name peers "
      "| "
      "dumps of an RNIC | known after | oracle: list |\n|---|---|---|---|---|---|---|\n";
  for (const EvidenceResult& result : results.evidence) {
    text += fmt::format(
        "| {} | {:.1f}, {:.4f} | {:.1f}, {:.4f} | {} of {} | {:.1f} | {:.0f} s | {:.1f} |\n",
        result.kind,
        result.throughput.list_mean,
        result.throughput.recall(),
        result.flow_list_mean,
        result.flow_recall_least,
        result.flow_peers,
        result.runs,
        result.flow_dumps_mean,
        result.flow_known_s_mean,
        result.throughput.oracle_mean);
  }
  return text;
}

std::string delay_section(const StudyResults& results) {
  std::string text =
      "| change | step | SNR | within three steps (95 %) | seen within six | steps, mean of those "
      "|\n|---|---|---|---|---|---|\n";
  for (const DriftDelay& delay : results.delays) {
    text += fmt::format("| {} | {} s | {} dB | {} of {} ({}) | {} | {:.2f} |\n",
                        to_string(delay.change),
                        delay.step_s,
                        delay.snr_db,
                        delay.in_time,
                        delay.runs,
                        interval_text(delay.in_time, delay.runs),
                        delay.seen,
                        delay.steps_mean);
  }
  return text;
}

std::string alarm_section(const StudyResults& results) {
  std::string text =
      "| noise | SNR | alarms | allowed in this time | 95 % upper bound of alarms an allowed one "
      "|\n|---|---|---|---|---|\n";
  for (const DriftAlarms& alarms : results.alarms) {
    const double allowed = alarms.hours / alarms.price_hours;
    text += fmt::format("| {} | {} dB | {} | {:.0f} | {:.2f} |\n",
                        to_string(alarms.noise),
                        alarms.snr_db,
                        alarms.alarms,
                        allowed,
                        poisson_upper_bound(alarms.alarms, allowed).value_or(0.0));
  }
  return text;
}

std::string reliability_section(const StudyResults& results) {
  std::string text = "| stated | runs | mean stated | nothing missed (95 %) |\n|---|---|---|---|\n";
  for (const ReliabilityBin& bin : pooled(results)) {
    if (bin.runs > 0) {
      text += fmt::format("| {} to {} | {} | {:.4f} | {:.4f} ({}) |\n",
                          bin.low,
                          std::min(bin.high, 1.0),
                          bin.runs,
                          bin.confidence_sum / bin.runs,
                          share(bin.right, bin.runs),
                          interval_text(bin.right, bin.runs));
    }
  }
  return text;
}

std::string realistic_section(const StudyResults& results) {
  std::vector<double> offsets;
  std::uint32_t wide = 0;
  for (const RealisticJob& drawn : results.realistic) {
    offsets.push_back(drawn.offset_s);
    wide += drawn.offset_s >= kWantedOffset ? 1 : 0;
  }
  const auto all = static_cast<std::uint32_t>(offsets.size());
  return fmt::format(
      "{} of {} drawn jobs ({:.3f}, 95 % {}) have stages that burst 0.5 s or more apart; quantiles "
      "5, 50, 95 %: {:.2f}, {:.2f}, {:.2f} s.\n",
      wide,
      all,
      share(wide, all),
      interval_text(wide, all),
      quantile(offsets, 0.05).value_or(0.0),
      quantile(offsets, 0.5).value_or(0.0),
      quantile(offsets, 0.95).value_or(0.0));
}

/// Lists of the sizes that the paper gives sweep times for.
std::string sweep_times(const StudyResults& results) {
  struct Paper {
    std::uint32_t gpus;
    std::string_view seconds;
  };

  constexpr std::array<Paper, 3> kPaper = {
      Paper{512, "8.23"}, Paper{1'024, "16.91"}, Paper{2'048, "25.09"}};
  std::string text = "| GPUs | shape | list x 1 s, here | paper, quoted |\n|---|---|---|---|\n";
  for (const PointResult& result : results.points) {
    for (const Paper& paper : kPaper) {
      if (result.point.sweep == "size" && result.point.run.job.gpus == paper.gpus) {
        text += fmt::format("| {} | {} | {:.1f} s | {} s |\n",
                            paper.gpus,
                            result.point.series,
                            result.summary.list_mean,
                            paper.seconds);
      }
    }
  }
  return text;
}

/// A picture and a table of every swept parameter.
std::string sweep_sections(const StudyResults& results) {
  struct Sweep {
    const char* name;
    const char* title;
    const char* x_label;
    const char* text;
  };

  const Sweep sweeps[] = {
      {"snr", "Noise and stage offset", "SNR, dB", ""},
      {"skew", "Clocks of hosts that are off", "off by up to, s", "Nobody knows of the skew.\n\n"},
      {"phases",
       "Samplers with phases of their own",
       "stage offset, s",
       "Samples say when they were taken; they are spread over the seconds that they cover.\n\n"},
      {"length", "Record length", "s", ""},
      {"step_time",
       "Step time",
       "step, s",
       "PP 4, DP 8, 20 dB, offsets of a twelfth of the step. A boxcar of 1 s has no gain at steps "
       "of 0.5 and 1 s: such jobs cannot be read at 1 Hz, whatever the noise, and steps below "
       "two seconds only through aliases.\n\n"},
      {"noise", "Noise that nobody tuned on", "SNR, dB", ""},
  };
  std::string text;
  for (const Sweep& sweep : sweeps) {
    text += fmt::format("\n## {}\n\n{}![]({}.svg)\n\n", sweep.title, sweep.text, sweep.name) +
            sweep_section(results, sweep.name);
  }
  return text;
}

}  // namespace

std::string study_readme(const StudyResults& results, const StudyOrigin& origin) {
  std::string text = fmt::format(
      "# How well the traffic skeleton is read\n\nMade by `{}` at commit {}; do not "
      "edit. Everything is *simulated*: traffic of `model/workload`, noise of `tools/study`, {}. "
      "Base: 512 GPUs, TP = PP = DP = 8, a burst of 3 s every 20 s, stages 0.5 s apart, a "
      "record of 300 s, white noise, confidence 0.99. SNR is 20 lg(burst sd / noise sd) of one "
      "RNIC's 1 s samples. ARI is that of the likeliest stages, whatever scope is used; recall is "
      "the share of directed communicating pairs inside the lists that would be probed.\n\n",
      origin.command,
      origin.commit,
      to_string(results.seeds));
  text +=
      "## What is required\n\nSkew: clocks of hosts are off by up to 0.1 s. Wanted: ARI >= "
      "0.95, recall >= 0.995, fallback (a scope wider than groups) <= 5 % from 10 dB on, <= 20 "
      "% at 5 dB.\n\n" +
      required_section(results);
  text += "\n## Sizes\n\n" + size_section(results) +
          "\nDestinations of an RNIC, longest list of a run, mean over runs.  The oracle knows who "
          "talks.\n\nIdentity check, list x 1 s: no reproduction of the paper's sweep times, which "
          "follow from list lengths.\n\n" +
          sweep_times(results);
  text +=
      "\n## Kinds of jobs\n\n64 to 128 GPUs; SNR 0 to 20 dB, step 6 to 24 s, offsets 0.2 to "
      "1.5 s, jitter 0.5 to 5 %, skew up to 0.1 s and the kind of noise are drawn anew in "
      "every run.  Wanted: recall >= 0.995 and no missed pair above 0.99.\n\n" +
      kinds_section(results);
  text +=
      "\n## Throughput, flow tables, oracle\n\nThe same draws. Eight dumps a second in the whole "
      "job, beside entries of probes to the same rail; the throughput record takes 300 s. An "
      "oracle's dumps are what is true.\n\n" +
      evidence_section(results);
  text += "\n## Is the confidence calibrated?\n\n![](reliability.svg)\n\n" +
          reliability_section(results);
  text +=
      "\n## How far apart do stages burst?\n\nModels of 6.7e9 to 530e9 parameters, TP 8, PP 2 "
      "to 16, DP 8 to 32, 512 to 2,048 sequences a step, MFU 0.3 to 0.55, micro-batches of 1, 2 or "
      "4 sequences, GPipe, 1F1B or "
      "interleaved with 2 chunks, each drawn evenly.\n\n" +
      realistic_section(results);
  text +=
      "\n## Drift\n\n64 GPUs, PP 2, DP 4, a reference of 300 s, one false alarm a day and task "
      "allowed; the change comes after the reference.\n\n" +
      delay_section(results) +
      "\nAlarms while nothing changes, step 8 s, one alarm an hour and task allowed, a new guard "
      "on the same reference after each.\n\n" +
      alarm_section(results);
  return text + sweep_sections(results);
}

std::string study_table(const StudyResults& results) {
  std::string text;
  for (const PointResult& result : results.points) {
    const StudySummary& sum = result.summary;
    text += fmt::format(
        "{:10} {:28} x {:<6} ari {:.3f} recall {:.4f} missing {:>2} of {:<3} list {:6.1f} [{}] "
        "{}\n",
        result.point.sweep,
        result.point.series,
        result.point.x,
        sum.adjusted_rand_mean,
        sum.recall(),
        sum.runs_missing,
        sum.runs,
        sum.list_mean,
        scopes_text(sum),
        verdict(result));
  }
  for (const KindResult& result : results.kinds) {
    const StudySummary& sum = result.summary;
    text += fmt::format("{:26} recall {:.4f} above 0.99: {:>3} runs, {} with a miss [{}] {}\n",
                        result.kind.name,
                        sum.recall(),
                        result.runs_confident,
                        result.runs_confident_missing,
                        scopes_text(sum),
                        sum.why_fallen_back);
    for (const StudyMiss& miss : result.misses) {
      text += "    " + miss_text(miss) + "\n";
    }
  }
  return text + evidence_section(results) + delay_section(results) + alarm_section(results) +
         realistic_section(results) + reliability_section(results) +
         (results.hold() ? "everything that is required holds\n"
                         : "something that is required does not hold\n");
}

}  // namespace bonescan
