#include "detectors/shortterm/paper_detector.h"

namespace bonescan {

PaperDetector::PaperDetector(const TumblingOptions& options)
    : windows_(options),
      detector_(WindowOptions{.length = options.length},
                ShortTermOptions{},
                DetectionConfiguration::kPaper) {}

void PaperDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  windows_.add(visits);
}

// Two windows that close in one call would give a pair two verdicts: the later one counts.
void PaperDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  bool closed = false;
  Time end;
  while (windows_.close_next(now, closed_, end)) {
    detector_.evaluate(end, closed_, results_);
    closed = true;
  }
  if (!closed) {
    return;
  }
  for (const ShortTermResult& result : results_) {
    if (result.kind == VerdictKind::kAnomalous) {
      verdicts.push_back({.at = now,
                          .pair = result.pair,
                          .kind = result.kind,
                          .rule = VerdictRule::kWindowLof,
                          .score = result.lof,
                          .factor = result.factor});
    }
  }
}

void PaperDetector::release(PairRange pairs) {
  windows_.release(pairs);
  detector_.drop(pairs);
}

}  // namespace bonescan
