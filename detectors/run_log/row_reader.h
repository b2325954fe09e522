// Tables of a run log back to values, checked.
//
// Each function appends every row that makes sense and then returns the first thing that did not:
// callers that must be sure look at the error, callers that want what is left do not.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/records/updates.h"
#include "detectors/run_log/database.h"
#include "detectors/run_log/rows.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"

#include <cstddef>
#include <vector>

namespace bonescan::run_log {

/// A membership event and the time at which the pipeline was told.
struct HandedEvent {
  Time handed;
  MembershipEvent event;
};

struct IdLimits {
  std::size_t pair_count = 0;
  std::size_t component_count = 0;
};

/// @errors of all: kInvalid (a word, id or blob that cannot be), kIo
Expected<void> read_endpoints(const Database& database, EndpointDirectory& rows);
Expected<void> read_components(const Database& database, ComponentTable& rows);
Expected<void> read_pairs(const Database& database, std::size_t endpoint_count, PairTable& rows);
Expected<void> read_windows(const Database& database, std::vector<WindowRecord>& rows);
Expected<void> read_skeletons(const Database& database, std::vector<SkeletonRecord>& rows);
Expected<void> read_verdicts(const Database& database,
                             std::size_t pair_count,
                             std::vector<Verdict>& rows);
Expected<void> read_incidents(const Database& database,
                              IdLimits limits,
                              std::vector<Incident>& rows);
Expected<void> read_truth(const Database& database,
                          std::size_t endpoint_count,
                          std::vector<TruthRow>& rows);
Expected<void> read_membership(const Database& database,
                               std::size_t endpoint_count,
                               std::vector<HandedEvent>& rows);

/// How many endpoints were there at the start: the later ones were submitted, in the order of ids.
/// @errors kInvalid: they were not
Expected<std::size_t> initial_endpoint_count(const std::vector<HandedEvent>& membership,
                                             std::size_t endpoint_count);

Expected<void> verify_blocks(const Database& database,
                             std::size_t pair_count,
                             std::size_t endpoint_count);
Expected<void> verify_inquiries(const Database& database, std::size_t component_count);

}  // namespace bonescan::run_log
