// One battery for every detector (detectors/detect/detector.h).
//
// A check plays a script of visits to fresh instances and answers with what is wrong, or nothing;
// detector_battery_test.cpp runs each with every entry of the registry, and with detectors that are
// broken on purpose.  The script is a small fleet: all ordered pairs of twelve endpoints under
// three ToRs, a visit of ten probes each sweep of eleven seconds, log-normal round trips.
#pragma once

#include "detectors/detect/detector.h"
#include "tools/study/detection/detector_registry.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bonescan::conformance {

enum class Delivery : std::uint8_t {
  kPlanned,   ///< one call a turn, in order
  kReversed,  ///< one call a turn, the last first
  kSingle,    ///< one call a visit
};

struct ScriptFault {
  int from_s = 500;
  int until_s = 700;
  double factor = 1.0;  ///< of round trips
  double loss = 0.0;
  bool of_one_rnic = false;  ///< all pairs of endpoint 0; else the pair 0 -> 1
  bool silent = false;       ///< no visits at all
  bool only_errors = false;  ///< visits hold local errors alone
};

/// Everything that was said, and how often memory was asked for after `warm_s`.
struct Answer {
  std::vector<Verdict> verdicts;
  std::uint64_t allocations = 0;
};

struct ScriptPlan {
  ScriptFault fault;
  Delivery delivery = Delivery::kPlanned;
  int until_s = 700;
  int warm_s = 400;          ///< allocations are counted from here on
  int released_s = 1 << 30;  ///< all pairs of endpoint 0 are released then
};

/// Allocations so far; defined where operator new is.
std::uint64_t allocation_count();

Answer play(const DetectorEntry& entry, const ScriptPlan& plan);

/// Is pair 0 -> 1 (or, for an RNIC's fault, any pair of endpoint 0) accused from `from_s` on?
bool accused(const Answer& answer, const ScriptPlan& plan);

// Each returns what is wrong, or an empty text.
std::string form_complaint(const DetectorEntry& entry);
std::string order_complaint(const DetectorEntry& entry);
std::string batch_complaint(const DetectorEntry& entry);
std::string equality_complaint(const DetectorEntry& entry);
std::string missing_complaint(const DetectorEntry& entry);
std::string severity_complaint(const DetectorEntry& entry);
std::string allocation_complaint(const DetectorEntry& entry);
std::string release_complaint(const DetectorEntry& entry);
std::string purpose_complaint(const DetectorEntry& entry);

}  // namespace bonescan::conformance
