// Incidents in the file, kept equal to the pipeline's table by writing differences.
//
// An incident is refined many times while it is open, and most of it stays: its pairs grow, its
// evidence is appended to.  So the last stored form is kept, and only what differs is written.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/run_log/database.h"

#include <cstddef>
#include <map>
#include <span>

namespace bonescan::run_log {

class IncidentStore final {
 public:
  static Expected<IncidentStore> prepare(const Database& database);

  /// Notes the state of the incident at `number` in the pipeline's table.
  void change(std::size_t number, const Incident& incident) { changed_[number] = incident; }

  /// Writes what has changed.  REQUIRES: inside a transaction, and no further call after an error.
  Expected<void> write();

 private:
  IncidentStore() = default;

  Expected<void> write_candidates(std::int64_t number, const Incident& incident);
  Expected<void> write_pairs(std::int64_t number,
                             std::span<const PairId> before,
                             std::span<const PairId> after);
  Expected<void> write_evidence(std::int64_t number,
                                std::span<const Evidence> before,
                                std::span<const Evidence> after);

  Statement upsert_;
  Statement delete_candidates_;
  Statement insert_candidate_;
  Statement delete_pair_;
  Statement insert_pair_;
  Statement delete_evidence_;
  Statement insert_evidence_;
  std::map<std::size_t, Incident> changed_;
  std::map<std::size_t, Incident> stored_;
};

}  // namespace bonescan::run_log
