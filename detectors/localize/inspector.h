// Asks the overlay inspector and the flow-table source, within a budget per visit period.
//
// Walks are cheap, dumps slow the RNIC down; neither may grow with the number of failing pairs, so
// a period has a fixed allowance of each and the rest waits for the next period. Thread-compatible.
#pragma once

#include "detectors/localize/overlay_stage.h"
#include "detectors/localize/table_diff.h"
#include "detectors/pipeline/pipeline_options.h"
#include "detectors/telemetry/telemetry.h"

#include <array>
#include <cstddef>
#include <optional>

namespace bonescan {

/// What the tables at both ends of a flow say.
struct TableFinding {
  bool mismatch = false;
  bool available = false;  ///< at least one end was read, and no other is still to answer
  EndpointId at;           ///< the end whose tables disagree, if any
  ComponentId culprit;     ///< the RNIC, or the bridge where the flow is in software
  Pair ends;               ///< of the flow
  std::array<ComponentId, 2> bridges{};  ///< at its source and at its target, where these were read
  std::string text;
};

class Inspector final {
 public:
  Inspector(const LocalizeOptions& options, const Telemetry& telemetry)
      : options_(options), telemetry_(telemetry) {}

  /// A new visit period: full allowances.
  void refill() {
    walks_left_ = options_.walks_per_round;
    dumps_left_ = options_.dumps_per_round;
  }

  /// Both directions of the flow; nullopt if the allowance is used up.
  std::optional<OverlayFinding> overlay(const FlowKey& flow, Time now);

  /// Expected against actual at both ends; nullopt if the allowance is used up.
  std::optional<TableFinding> tables(const FlowKey& flow, Time now);

 private:
  LocalizeOptions options_;
  Telemetry telemetry_;
  std::size_t walks_left_ = 0;
  std::size_t dumps_left_ = 0;
};

}  // namespace bonescan
