// A progress line on a terminal: how far, how fast, how long still.  Silent when piped.
#pragma once

#include "sim/base/units.h"

#include <chrono>
#include <functional>
#include <string_view>

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

  /// Nothing if nobody is watching.  @param before what else there is to say
  void show(Time reached, std::string_view before = {});

 private:
  Duration planned_;
  std::chrono::steady_clock::time_point started_;
  bool watched_;
  bool shown_ = false;
};

}  // namespace bonescan
