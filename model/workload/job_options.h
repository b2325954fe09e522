// One training job: its shape, its rhythm, how it starts.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <string>

namespace bonescan {

struct JobOptions {
  std::string name = "job";
  std::uint32_t gpus = 0;  ///< = tp * pp * dp
  std::uint32_t tp =
      1;  ///< tensor parallel degree; fills a host when it equals the number of rails
  std::uint32_t pp = 1;  ///< pipeline stages
  std::uint32_t dp = 1;  ///< data-parallel replicas
  Duration step_time = std::chrono::seconds(8);
  double step_jitter = 0.03;        ///< coefficient of variation
  std::uint32_t microbatches = 16;  ///< pipeline sends per step and direction
  double burst_share = 0.2;         ///< share of a step in which gradients are synchronized
  Duration stage_offset =
      std::chrono::milliseconds(500);  ///< burst of stage s starts s offsets later
  Duration start{};
  Duration ready_spread = std::chrono::minutes(2);  ///< containers become ready over this time
};

}  // namespace bonescan
