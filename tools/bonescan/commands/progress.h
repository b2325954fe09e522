// A progress line on a terminal: how far, how fast, how long still.  Silent when piped.
#pragma once

#include "sim/base/units.h"

#include <chrono>
#include <functional>

namespace bonescan {

class ProgressLine final {
 public:
  /// `planned` is the simulated length of the run.
  explicit ProgressLine(Duration planned);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Empty if nobody is watching.
  std::function<void(Time)> callback();

 private:
  void show(Time reached);

  Duration planned_;
  std::chrono::steady_clock::time_point started_;
  bool shown_ = false;
};

}  // namespace bonescan
