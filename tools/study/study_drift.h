// How soon the drift guard sees a change, and how often it is wrong.
#pragma once

#include "tools/study/study_case.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class DriftChange : std::uint8_t {
  kIdle,        ///< an RNIC sends nothing any more
  kStraggler,   ///< a container is late by a quarter of a step
  kStopped,     ///< nobody sends
  kMoreStages,  ///< the same RNICs with twice the stages
  kNoStages,    ///< the same RNICs in one stage
};

std::string_view to_string(DriftChange change);

/// One kind of change at one step time.
struct DriftDelay {
  DriftChange change = DriftChange::kIdle;
  double step_s = 0.0;
  double snr_db = 0.0;
  std::uint32_t runs = 0;
  std::uint32_t in_time = 0;  ///< within three steps
  double steps_mean = 0.0;    ///< of those that were seen within six
  std::uint32_t seen = 0;
};

/// Alarms while nothing changes, a new guard after each.
struct DriftAlarms {
  StudyNoise noise = StudyNoise::kWhite;
  double snr_db = 0.0;
  double hours = 0.0;        ///< of all tasks together
  double price_hours = 0.0;  ///< one alarm a task is allowed in this time
  std::uint32_t alarms = 0;
};

DriftDelay measure_delay(DriftChange change,
                         double step_s,
                         double snr_db,
                         const std::vector<std::uint64_t>& seeds);

DriftAlarms measure_alarms(StudyNoise noise,
                           double snr_db,
                           const std::vector<std::uint64_t>& seeds);

}  // namespace bonescan
