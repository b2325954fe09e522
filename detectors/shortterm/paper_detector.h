// SkeletonHunter's short-term detector as published, behind the interface of all detectors.
//
// Tumbling windows of 30 s, seven raw features in microseconds, the local outlier factor against
// the pair's last ten windows, a constant threshold.  The paper gives neither k nor the threshold.
// @paper SkeletonHunter, section 3.2  @ours k = 5, threshold 1.5 (short_term_detector.h)
// Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/shortterm/tumbling_windows.h"

#include <string_view>
#include <vector>

namespace bonescan {

class PaperDetector final : public Detector {
 public:
  explicit PaperDetector(const TumblingOptions& options = {});

  std::string_view name() const override { return "skeletonhunter"; }

  void resize(std::size_t pairs) override { detector_.resize(pairs); }

  /// Accepted and not used: raw features know no class.
  void set_class(PairId pair, std::uint8_t pair_class) override {
    detector_.set_class(pair, pair_class);
  }

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  TumblingWindows windows_;
  ShortTermDetector detector_;
  ClosedWindow closed_;
  std::vector<ShortTermResult> results_;
};

}  // namespace bonescan
