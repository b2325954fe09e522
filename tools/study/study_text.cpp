#include "tools/study/study_text.h"

#include "tools/evaluate/statistics.h"

#include <fmt/format.h>

#include <cstddef>

namespace bonescan {

double share(std::uint32_t part, std::uint32_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string interval_text(std::uint32_t part, std::uint32_t all) {
  const auto interval = clopper_pearson_interval(part, all);
  return interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high) : "";
}

std::optional<double> recall_of(const EdgeCount& count) {
  return count.all == 0
             ? std::nullopt
             : std::optional(static_cast<double>(count.covered) / static_cast<double>(count.all));
}

std::string recall_text(const EdgeCount& count) {
  const auto recall = recall_of(count);
  return recall ? fmt::format("{:.4f}", *recall) : "-";
}

std::string miss_text(const StudyMiss& miss) {
  return fmt::format(
      "seed {}: {} of noise {} at {} dB, step {:.2f} s, offset {:.3f} s, burst share {:.3f}, "
      "jitter "
      "{:.3f}, skew {:.3f} s; {} stages (ARI {:.2f}), confidence {:.4f}, recall {:.3f}: {}",
      miss.seed,
      to_string(miss.outcome.scope),
      to_string(miss.run.noise),
      miss.run.snr_db,
      seconds(miss.run.job.step_time),
      seconds(miss.run.job.stage_offset),
      miss.run.job.burst_share,
      miss.run.job.step_jitter,
      seconds(miss.run.skew),
      miss.outcome.stages,
      miss.outcome.adjusted_rand,
      miss.outcome.confidence,
      miss.outcome.recall(),
      miss.outcome.why);
}

std::string scopes_text(const StudySummary& summary) {
  std::string text;
  for (std::size_t s = 0; s < summary.scopes.size(); ++s) {
    if (summary.scopes[s] > 0) {
      text += fmt::format("{}{} {}",
                          text.empty() ? "" : ", ",
                          to_string(static_cast<SkeletonScope>(s)),
                          summary.scopes[s]);
    }
  }
  return text;
}

std::vector<ReliabilityBin> pooled(const StudyResults& results) {
  std::vector<ReliabilityBin> bins = reliability_bins();
  for (const KindResult& result : results.kinds) {
    for (std::size_t b = 0; b < bins.size(); ++b) {
      bins[b].runs += result.bins[b].runs;
      bins[b].right += result.bins[b].right;
      bins[b].confidence_sum += result.bins[b].confidence_sum;
    }
  }
  return bins;
}

}  // namespace bonescan
