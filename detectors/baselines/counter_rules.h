// Counter thresholds of a NIC monitor: what an operator without probes would alarm on.
//
// As published (@source design of NVSentinel's NIC monitor, Apache-2.0): the table below, a poll
// every 5 s, five non-fatal findings in 24 h are one fatal one.
// Our reading, for CounterRulesDetector: visits carry no counters, so a lost probe stands for the
// acknowledgement timeout that the sender's RNIC would count, and the rule on local_ack_timeout_err
// (more than one a second) is the only one that probes can trip.  It names no latency.
#pragma once

#include "detectors/baselines/pair_tallies.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bonescan {

enum class RnicCounter : std::uint8_t {
  kLinkDowned,
  kExcessiveBufferOverrun,
  kLocalLinkIntegrity,
  kRnrNakRetryErr,
  kSymbolError,
  kLinkErrorRecovery,
  kPortRcvErrors,
  kPortXmitDiscards,
  kRoceSlowRestart,
  kLocalAckTimeoutErr,
  kCarrierChanges,
};

/// As drivers spell it: "local_ack_timeout_err".
std::string_view to_string(RnicCounter counter);

enum class CounterFinding : std::uint8_t {
  kNone,
  kNonFatal,
  kFatal,
};

/// What `delta` counts within `interval` say.  A counter that went back was reset: no finding.
/// REQUIRES: interval > 0.
CounterFinding counter_finding(RnicCounter counter, std::int64_t delta, Duration interval);

/// Five non-fatal findings in 24 h are fatal.
class FindingHistory final {
 public:
  /// What a finding at `now` amounts to, with those before it.
  CounterFinding add(Time now, CounterFinding finding);

 private:
  static constexpr std::size_t kFatalCount = 5;

  std::array<Time, kFatalCount> last_{};  ///< ring of non-fatal ones
  std::size_t count_ = 0;                 ///< of all so far
};

class CounterRulesDetector final : public Detector {
 public:
  /// `pairs` says who sends, must outlive the detector, and may grow.
  explicit CounterRulesDetector(const PairTable& pairs);

  std::string_view name() const override { return "counter-rules"; }

  void resize(std::size_t pairs) override;
  void set_class(PairId, std::uint8_t) override {}
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override { tallies_.release(pairs); }

 private:
  const PairTable* pairs_;
  PairTallies tallies_;
  TumblingClock clock_;
  std::vector<std::int64_t> lost_;  ///< by sender
};

}  // namespace bonescan
