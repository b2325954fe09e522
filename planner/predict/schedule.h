// What a prediction is made of: how a task is probed, what fails, and what the reports are like.
//
// Values only.  Defaults are those of PipelineOptions, so that a prediction of nothing in
// particular is one of the production pipeline.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

/// How the RNICs of a task are probed, and by which rules.
struct PlannedSchedule {
  std::uint32_t list_length = 15;  ///< destinations of an RNIC, at least 1
  Duration visit = ProbingOptions{}.visit;
  std::uint8_t probes_per_visit = ProbingOptions{}.probes_per_visit;
  Duration timeout = ProbingOptions{}.timeout;
  Duration lateness = ProbingOptions{}.lateness;
  bool counter_phase = ProbingOptions{}.counter_phase;
  Duration max_idle = LocalizeOptions{}.max_idle;  ///< of the bridges
  Duration cold_after = WindowOptions{}.cold_after;
  std::uint16_t payload_bytes = ProbingOptions{}.payload_bytes;
  DetectionConfiguration configuration = DetectionConfiguration::kBonescan;
  std::size_t consecutive = LossOptions{}.consecutive;
  Duration window = WindowOptions{}.length;          ///< of the paper's latency rule
  Duration pool_window = LossOptions{}.pool_window;  ///< of the paper's loss rule
  double open_llr = LossOptions{}.open_llr;          ///< of the paper's loss rule
  std::uint64_t rnics = 32'768;                      ///< that share the budget of latency alarms
  double latency_alarms_per_day = ShiftOptions{}.false_alarms_per_day;
  double minimum_factor = ShortTermOptions{}.minimum_factor;

  /// A sweep: every destination once.
  Duration sweep() const { return static_cast<std::int64_t>(list_length) * visit; }

  /// Do visits of a directed pair lie so far apart that their first probe is left out of latency?
  bool cold() const { return sweep() > cold_after; }
};

enum class FailureSymptom : std::uint8_t {
  kLoss,
  kLatency
};

struct PlannedFailure {
  FailureSymptom symptom = FailureSymptom::kLoss;
  /// Loss: share of the round trips over the failing component that get no answer, in (0, 1], each
  /// on its own.  Of a cable that loses q of the packets each way it is 1 - (1 - q)^2.
  /// Latency: what the round trips take, in multiples of what they took, above 1.
  double size = 1.0;
  /// Directed pairs in lists whose probes meet the component, on the way there or back.  Of a pair
  /// that is listed both ways and broken both ways: 2.  Of an RNIC: twice its list.
  std::uint32_t pairs = 2;
};

/// What is there without a failure.
struct PlannedNoise {
  double base_loss_ratio = LossOptions{}.base_loss_ratio;  ///< per probe, as the tests have learnt
  double latency_sigma = 0.04;     ///< of the logarithm of one round trip @ours
  double late_report_share = 0.0;  ///< of reports, late by up to late_by, uniformly
  Duration late_by{};
  double lost_report_share = 0.0;
};

}  // namespace bonescan
