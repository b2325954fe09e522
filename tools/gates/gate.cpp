#include "tools/gates/gate.h"

#include "sim/base/check.h"

namespace bonescan {

const std::vector<MeasureInfo>& gate_measures() {
  using enum GateMeasure;
  using enum GateUnit;
  static const std::vector<MeasureInfo> kTable = {
      {.measure = kPrecision, .name = "precision"},
      {.measure = kPrecisionRestated, .name = "precision_restated"},
      {kRecall, "recall", kRatio, true, true, true},
      {kRecallVisible, "recall_visible", kRatio, true, true, true},
      {kRecallHostVisible, "recall_host_visible", kRatio, true, true, true},
      {kLocalization, "localization", kRatio, true, true, true},
      {kFalseAlarms, "false_alarms_per_fleet_day", kPerFleetDay, false, false, true},
      {kMeanTime, "time_to_detect_mean", kSeconds, true, true, false},
      {kMedianTime, "time_to_detect_median", kSeconds, true, true, false},
      {kP95Time, "time_to_detect_p95", kSeconds, true, true, false},
      {kMeanTimeWithMisses, "time_to_detect_mean_with_misses", kSeconds, true, true, false},
  };
  return kTable;
}

const MeasureInfo& info_of(GateMeasure measure) {
  const auto index = static_cast<std::size_t>(measure);
  BONESCAN_CHECK(gate_measures()[index].measure == measure);
  return gate_measures()[index];
}

}  // namespace bonescan
