#include "detectors/shortterm/window_lof_detector.h"

namespace bonescan {

WindowLofDetector::WindowLofDetector(std::string_view name,
                                     DetectionConfiguration configuration,
                                     const WindowOptions& window,
                                     const ShortTermOptions& options)
    : name_(name), windows_({.length = window.length}), detector_(window, options, configuration) {}

void WindowLofDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  windows_.add(visits);
}

// Two windows that close in one call would give a pair two verdicts: the later one counts.
void WindowLofDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
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

void WindowLofDetector::release(PairRange pairs) {
  windows_.release(pairs);
  detector_.drop(pairs);
}

}  // namespace bonescan
