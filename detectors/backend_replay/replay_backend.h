// A recorded run as a telemetry backend: the same code that ran live analyses the log again.
//
// Probes, membership and throughput come back at the times at which they were first collected;
// the on-demand sources answer what was recorded for the same question at the same time, and
// kUnavailable for a question that was never asked.  submit() sends nothing, because history cannot
// be probed anew; it only tells which ids the caller gives to which pairs.
// The directory starts with the endpoints of the start and grows as their submission is handed
// over. Invariant: a visit comes back under the id that the caller knows its pair by.  Until the
// caller has named a pair (submit, use_pair_ids) ids are the recorded ones; from then on visits of
// pairs that were never named are left out.
#pragma once

#include "detectors/run_log/run_log.h"
#include "detectors/telemetry/telemetry.h"

#include <memory>
#include <string>

namespace bonescan {

class ReplayBackend final {
 public:
  /// Reads the whole log once, so that a damaged one is refused before it is half analysed.
  /// @errors those of RunLogReader::open and RunLogReader::verify
  static Expected<std::unique_ptr<ReplayBackend>> open(const std::string& run_sqlite);
  ~ReplayBackend();
  ReplayBackend(const ReplayBackend&) = delete;
  ReplayBackend& operator=(const ReplayBackend&) = delete;

  const RunLogReader& log() const;
  Telemetry telemetry();

  /// Names every pair of the caller's table at once; a later call those that were appended since.
  /// Needed where visits may come before they are asked for, as in a log that another scheduler
  /// wrote.
  void use_pair_ids(const PairTable& pairs);

  /// An error if the log could not be read as far as it was asked for.
  Expected<void> status() const;

 private:
  class Impl;
  explicit ReplayBackend(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
