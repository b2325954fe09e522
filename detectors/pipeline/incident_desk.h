// Says of every incident that changed how urgent it is, whether it was planned, and what to do.
//
// The stages find failures; none of them needs to know what a failure means to jobs.  Once a turn,
// after all stages have spoken, the desk looks at what changed: pairs and tasks hit, the share of
// probes lost since it began, the largest latency factor of the verdicts of its pairs.
// Thread-compatible.
#pragma once

#include "detectors/incident/maintenance.h"
#include "detectors/incident/severity.h"
#include "detectors/pipeline/pipeline_state.h"

#include <map>

namespace bonescan {

class IncidentDesk final {
 public:
  /// REQUIRES: outlives it.
  explicit IncidentDesk(PipelineState& state);

  /// Rates what changed since somebody took the changes.
  void run(Time now);

 private:
  /// The strongest that was seen of an open incident.
  struct Peak {
    std::optional<double> loss_ratio;
    std::optional<double> latency_factor;
    std::uint64_t judged_at_age = 0;  ///< in visit periods; loss is counted at ages 1, 2, 4, 8, ...
  };

  void hear_verdicts(IncidentIndex index, Peak& peak) const;
  void count_loss(Time now, IncidentIndex index, Peak& peak) const;
  std::size_t tasks_hit(const Incident& incident) const;
  bool planned(const Incident& incident) const;

  PipelineState* state_;
  MaintenanceCalendar calendar_;
  std::map<IncidentIndex, Peak> peaks_;  ///< of incidents that are open
};

}  // namespace bonescan
