// A recorded run as a telemetry backend: the same code that ran live analyses the log again.
//
// Probes, membership and throughput come back at the times at which they were first collected;
// the on-demand sources answer what was recorded for the same question at the same time, and
// kUnavailable for a question that was never asked.  submit() is accepted and ignored: history
// cannot be probed anew.
#pragma once

#include "detectors/run_log/run_log.h"
#include "detectors/telemetry/telemetry.h"

#include <memory>
#include <string>

namespace bonescan {

class ReplayBackend final {
 public:
  /// @errors those of RunLogReader::open
  static Expected<std::unique_ptr<ReplayBackend>> open(const std::string& run_sqlite);
  ~ReplayBackend();
  ReplayBackend(const ReplayBackend&) = delete;
  ReplayBackend& operator=(const ReplayBackend&) = delete;

  const RunLogReader& log() const;
  Telemetry telemetry();

 private:
  class Impl;
  explicit ReplayBackend(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
