#include "tools/study/detection/null_check.h"

namespace bonescan {

bool NullCheck::holds() const {
  if (world != NoiseWorld::kWellSpecified) {
    return ratio() <= most_factor;
  }
  return ratio() <= most_factor && ratio() * most_factor >= 1.0;
}

std::vector<NullCheck> run_null_checks(DetectionSize /*size*/, std::uint32_t /*threads*/) {
  return {};
}

}  // namespace bonescan
