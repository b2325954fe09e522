// What every localizer is to the rest: traced paths with their good and bad trials in, accused
// links out.
//
// Invariants, which tests/conformance asks of every implementation: 1. the order of the evidence
// changes nothing; 2. evidence that was split over several items of one path counts as their sum;
// 3. no evidence accuses nobody, and untried paths (no trials) change nothing; 4. a link that no
// bad path crosses is never accused; 5. more bad trials of a faulty link never clear it while the
// others stay as they are; 6. buffers are kept from call to call.  Thread-compatible.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// What one traced pair says.  Trials are probes and bad ones are lost; or, for latency, trials are
/// windows and bad ones are late.  Paths that could not be traced are left out.
/// Invariants: 1. bad <= trials; 2. one item per pair and path.
struct PathEvidence {
  const TracedPath* path = nullptr;
  std::uint32_t trials = 0;
  std::uint32_t bad = 0;
  PairId pair;
};

/// One cable and the best reading of its evidence.
struct LinkScore {
  ComponentId link;
  LinkDirection direction = LinkDirection::kUp;
  bool both_directions = false;  ///< the evidence of both is the same, or explains more together
  double llr = 0.0;              ///< nats, against "every path is healthy"; or a count of votes
  std::uint32_t paths = 0;       ///< evidence that crosses it
  std::uint32_t bad_paths = 0;   ///< of these, with anything bad
  double rate = 0.0;             ///< bad share of the trials that cross it
};

/// One fault: what may have caused it, and the pairs that it explains.
struct Accusation {
  std::vector<LinkScore> suspects;  ///< the first is named; the others are as good within tie_nats
  std::vector<PairId> pairs;        ///< failing pairs that cross it, ascending, without doubles
  double posterior = 1.0;  ///< that one of the suspects is at fault; 1 where the method has none
};

class Localizer {
 public:
  virtual ~Localizer() = default;

  /// As in tables and on the command line: "bonescan", "007", "netbouncer".
  virtual std::string_view name() const = 0;

  /// Every fault that the evidence shows, the surest first.  Empty: nobody is accused.
  virtual std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                           Symptom symptom) = 0;
};

}  // namespace bonescan
