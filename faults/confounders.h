// Makes the things that are no failures happen: ordinary changes of the world, placed by seed.
//
// They are never part of the truth, and nothing that detects is told of them, but for planned work,
// which its owner declares (`maintenance`).
// Thread-compatible.
#pragma once

#include "faults/confounder_plan.h"
#include "model/world.h"

#include <vector>

namespace bonescan {

class Confounders final {
 public:
  explicit Confounders(World& world) : world_(&world) {}

  /// Everything over [0, run) that the world's seed says, but for what its jobs already have
  /// (confounded_jobs()) and for late starts.  REQUIRES: called once, before the run.
  void schedule(const ConfounderOptions& options, Duration run);

 private:
  struct Congestion {
    CongestionBurst burst;
    ImpairmentId active;
  };

  void schedule_counted(const ConfounderOptions& options, Duration run);
  void schedule_outage(const AgentOutage& outage);
  void schedule_congestion(const CongestionBurst& burst);
  void begin_outage(std::uint64_t host);
  void end_outage(std::uint64_t host);
  void begin_congestion(std::uint64_t index);
  void end_congestion(std::uint64_t index);
  void rehash(std::uint64_t index);
  void begin_work(std::uint64_t index);
  void end_work(std::uint64_t index);
  std::vector<CableId> cables_of_work(const PlannedWork& work) const;

  World* world_;
  std::vector<Congestion> congestions_;
  std::vector<Rehash> rehashes_;
  std::vector<PlannedWork> work_;
};

}  // namespace bonescan
