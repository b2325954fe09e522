#include "tools/study/detection/window_lof.h"

#include <utility>

namespace bonescan {

WindowLof::WindowLof(std::string name,
                     const WindowOptions& window,
                     const ShortTermOptions& options,
                     DetectionConfiguration configuration)
    : name_(std::move(name)), length_(window.length), detector_(window, options, configuration) {}

void WindowLof::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  for (const ObservedVisit& visit : visits) {
    store_.add(visit.pair, visit.cold ? visit.rtts_ns.subspan(1) : visit.rtts_ns);
  }
}

void WindowLof::evaluate(Time now, std::vector<Verdict>& verdicts) {
  const std::int64_t window = now.time_since_epoch() / length_;
  if (window == closed_) {
    return;
  }
  closed_ = window;
  store_.close(window_);
  detector_.evaluate(now, window_, results_);
  for (const ShortTermResult& result : results_) {
    if (result.kind == VerdictKind::kAnomalous) {
      verdicts.push_back({.at = now,
                          .pair = result.pair,
                          .kind = VerdictKind::kAnomalous,
                          .rule = VerdictRule::kWindowLof,
                          .score = result.lof,
                          .factor = result.factor});
    }
  }
}

void WindowLof::release(PairRange pairs) {
  if (store_.holds(pairs)) {
    // Its samples lie in the open window; they go with it and the pairs' histories begin anew.
    for (std::uint32_t i = 0; i < pairs.count; ++i) {
      detector_.release(PairId(pairs.first.index() + i));
    }
    return;
  }
  store_.release(pairs);
  detector_.drop(pairs);
}

}  // namespace bonescan
