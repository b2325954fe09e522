// A gate: one figure of a campaign, and what it must be.
//
// Either an absolute bound (recall at least 99.3 %), or a comparison with a baseline on the same
// worlds: no more than a margin worse, or no loss that a test proves.
#pragma once

#include "scenarios/schema/source_error.h"
#include "tools/gates/strata.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class GateMeasure : std::uint8_t {
  kPrecision,
  kPrecisionRestated,
  kRecall,
  kRecallVisible,
  kRecallHostVisible,
  kLocalization,
  kFalseAlarms,
  kMeanTime,
  kMedianTime,
  kP95Time,
  kMeanTimeWithMisses,
};

enum class GateUnit : std::uint8_t {
  kRatio,
  kPerFleetDay,
  kSeconds
};

/// What may be asked of a measure.
struct MeasureInfo {
  GateMeasure measure;
  std::string_view name;  ///< in the file
  GateUnit unit = GateUnit::kRatio;
  bool has_strata = false;  ///< false alarms belong to no kind of fault
  bool has_margin = false;
  bool has_test = false;
};

/// All measures, in the order of the enumeration.
const std::vector<MeasureInfo>& gate_measures();
const MeasureInfo& info_of(GateMeasure measure);

/// More of it is better: it has lower limits.
constexpr bool is_ratio(GateUnit unit) {
  return unit == GateUnit::kRatio;
}

/// Which faults.  "all", "kind crc-error", "each symptom", ...
struct GateScope {
  std::optional<StratifyBy> by{};     ///< absent: all faults at once
  std::optional<std::string> name{};  ///< one stratum; absent: each of them
};

enum class GateRule : std::uint8_t {
  kAtLeast,
  kAtMost,
  kMargin,  ///< against a baseline: at most so much worse
  kTest,    ///< against a baseline: no loss that is significant at this level
};

enum class DecidedBy : std::uint8_t {
  kBound,
  kPoint
};

struct Gate {
  std::string name;
  GateMeasure measure = GateMeasure::kRecall;
  std::string scheme;
  std::string baseline_scheme;
  std::string on = "all";  ///< as written
  GateScope scope{};
  GateRule rule = GateRule::kAtLeast;
  double limit = 0.0;  ///< ratio, seconds, or per fleet-day
  DecidedBy decided_by = DecidedBy::kBound;
  double unknown_at_most = 0.0;
  Position at{};       ///< of the gate in its file
  std::string path{};  ///< "gates[2]"

  bool is_paired() const { return rule == GateRule::kMargin || rule == GateRule::kTest; }
};

struct GateFile {
  std::string file;
  SeedChoice seeds = SeedChoice::kAll;
  StrataOptions options{};
  std::vector<Gate> gates;
};

}  // namespace bonescan
