// The one-number rival of the local outlier factor: robust z of a window's log-median.
//
// Intuition: a slow path moves the median, so compare the newest window's log-median with the
// median of the pair's last ones, in units of what healthy pairs of the class usually move:
//   z = (x - median(history)) / (s sqrt(1 + 1.4 / n)),   s pooled over the class, at least least_sd
// It equals or beats LOF on location shifts, and sees no change of shape.  Only increases count.  A
// late pair's history stands still for `freeze` windows.
//
// Invariants: those of detector.h; squares are summed as integers, so the order of pairs never
// matters.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/shortterm/tumbling_windows.h"
#include "sim/base/paged_column.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bonescan {

struct RobustZOptions {
  TumblingOptions windows;
  double threshold = 6.0;                  ///< one in 10^9 for a normal deviate @ours
  double least_sd = 0.02;                  ///< of a log-median @ours
  std::uint64_t least_contributions = 40;  ///< before a class is trusted @ours
  std::uint8_t freeze = 20;                ///< windows @ours
};

class RobustZDetector final : public Detector {
 public:
  explicit RobustZDetector(const RobustZOptions& options = {});

  std::string_view name() const override { return "robust-z"; }

  void resize(std::size_t pairs) override { states_.grow(pairs); }

  void set_class(PairId pair, std::uint8_t pair_class) override {
    states_[pair].pair_class = pair_class;
  }

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  static constexpr std::size_t kHistory = 10;

  struct PairState {
    std::array<float, kHistory> log_medians{};
    std::uint8_t count = 0;
    std::uint8_t next = 0;
    std::uint8_t pair_class = 0;
    std::uint8_t late_windows = 0;
  };

  struct Class {
    std::uint64_t squares = 0;  ///< in units of 2^-40
    std::uint64_t weight = 0;
    std::uint64_t new_squares = 0;
    std::uint64_t new_weight = 0;
  };

  void judge_window(Time now, std::vector<Verdict>& verdicts);
  void remember(PairState& state, float log_median) const;

  RobustZOptions options_;
  TumblingWindows windows_;
  ClosedWindow closed_;
  PagedColumn<PairId, PairState> states_;
  std::vector<Class> classes_;  ///< one per value of std::uint8_t
};

}  // namespace bonescan
