// The short-term test of tumbling windows behind the interface that all detectors share.
//
// The same WindowStore and ShortTermDetector as in the pipeline, without its incidents: every
// anomalous window is a verdict.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/pipeline/pipeline_options.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/window/window_store.h"

#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

class WindowLof final : public Detector {
 public:
  WindowLof(std::string name,
            const WindowOptions& window,
            const ShortTermOptions& options,
            DetectionConfiguration configuration);

  std::string_view name() const override { return name_; }

  void resize(std::size_t pairs) override { detector_.resize(pairs); }

  void set_class(PairId pair, std::uint8_t pair_class) override {
    detector_.set_class(pair, pair_class);
  }

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  std::string name_;
  Duration length_;
  std::int64_t closed_ = 0;  ///< windows
  WindowStore store_;
  ShortTermDetector detector_;
  ClosedWindow window_;
  std::vector<ShortTermResult> results_;
};

}  // namespace bonescan
