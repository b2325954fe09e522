// The test of tumbling windows behind the interface of all detectors: every anomalous window is a
// verdict.
//
// One class for both readings of it: bonescan's, on pooled log features, and SkeletonHunter's as
// published: windows of 30 s, seven raw features in microseconds, the local outlier factor against
// the pair's last ten windows, a constant threshold.  The paper gives neither k nor the threshold.
// @paper SkeletonHunter, section 3.2  @ours k = 5, threshold 1.5 (short_term_detector.h)
// Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/pipeline/pipeline_options.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/shortterm/tumbling_windows.h"

#include <string_view>
#include <vector>

namespace bonescan {

class WindowLofDetector final : public Detector {
 public:
  /// `name` must outlive the detector.
  WindowLofDetector(std::string_view name,
                    DetectionConfiguration configuration,
                    const WindowOptions& window = {},
                    const ShortTermOptions& options = {});

  /// SkeletonHunter as published.
  static WindowLofDetector published() {
    return {"skeletonhunter",
            DetectionConfiguration::kPaper,
            WindowOptions{},
            ShortTermOptions{.threshold = kPaperLofThreshold}};
  }

  std::string_view name() const override { return name_; }

  void resize(std::size_t pairs) override { detector_.resize(pairs); }

  /// Accepted and not used where features are raw: they know no class.
  void set_class(PairId pair, std::uint8_t pair_class) override {
    detector_.set_class(pair, pair_class);
  }

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  std::string_view name_;
  TumblingWindows windows_;
  ShortTermDetector detector_;
  ClosedWindow closed_;
  std::vector<ShortTermResult> results_;
};

}  // namespace bonescan
