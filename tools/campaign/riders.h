// Published detectors and localizers by name, as campaigns let them ride along.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/localize/localizer.h"
#include "detectors/telemetry/endpoint.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Null if there is no such detector.  `pairs` outlives it and may grow.
std::unique_ptr<Detector> make_rider_detector(std::string_view name, const PairTable& pairs);

/// Null if there is no such localizer.
std::unique_ptr<Localizer> make_rider_localizer(std::string_view name);

}  // namespace bonescan
