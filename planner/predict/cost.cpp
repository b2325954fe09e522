#include "planner/predict/cost.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kBitsPerByte = 8.0;

/// From here to there, and from there to here.
constexpr double kEntriesPerDestination = 2.0;

}  // namespace

Duration longest_gap(const PlannedSchedule& schedule) {
  if (!schedule.counter_phase) {
    return schedule.sweep();  // The two visits may fall together.
  }
  return static_cast<std::int64_t>((schedule.list_length + 1) / 2) * schedule.visit;
}

PlanCost estimate_cost(const PlannedSchedule& schedule, const CostConstants& constants) {
  BONESCAN_CHECK(schedule.visit > Duration::zero());
  BONESCAN_CHECK(constants.rnics_per_host > 0);
  const auto rnics = static_cast<double>(schedule.rnics);
  const double hosts = rnics / constants.rnics_per_host;
  const double list = schedule.list_length;
  const double visits_of_an_rnic = 1.0 / seconds(schedule.visit);
  const double probes_of_an_rnic = visits_of_an_rnic * schedule.probes_per_visit;

  PlanCost cost;
  cost.probes_sent_per_s = probes_of_an_rnic * constants.rnics_per_host;
  cost.probes_answered_per_s = cost.probes_sent_per_s;  // Lists are symmetric.
  cost.agent_cores = cost.probes_sent_per_s * constants.agent_us_per_probe * kMicro;
  cost.agent_bytes =
      constants.agent_bytes + list * constants.rnics_per_host * constants.agent_bytes_per_pair;

  const double packet_bits = (schedule.payload_bytes + kProbeOverheadBytes) * kBitsPerByte;
  cost.wire_bits_per_s = 2.0 * probes_of_an_rnic * packet_bits;
  cost.queue_pairs = constants.queue_pairs;
  // Either end's visits keep the entries of both.
  const double gap_s = seconds(longest_gap(schedule));
  const double idle_s = seconds(schedule.max_idle);
  cost.measures_own_upcalls = gap_s > idle_s;
  cost.eswitch_entries = kEntriesPerDestination * list * std::min(1.0, idle_s / gap_s);

  cost.visits_per_s = rnics * visits_of_an_rnic;
  cost.controller_messages_per_s = 2.0 * hosts * visits_of_an_rnic;
  cost.analyzer_cores = cost.visits_per_s * constants.analyzer_us_per_visit * kMicro;
  cost.analyzer_bytes =
      rnics * (constants.analyzer_bytes_per_rnic + list * constants.analyzer_bytes_per_pair);
  cost.log_bytes_per_s =
      cost.visits_per_s *
      (constants.log_bytes_per_visit + schedule.probes_per_visit * constants.log_bytes_per_probe);
  return cost;
}

}  // namespace bonescan
