// What probing costs: agents, wires, RNICs, controller, analyzer and log, in closed form.
//
// Intuition: every RNIC makes one visit a period, whatever it visits, so what is sent, answered,
// reported and analyzed is a multiple of RNICs over the period; what has to be remembered is a
// multiple of RNICs times the list.  Ten million RNICs cost no more to plan than ten.
// Constants that were measured name their source; those of one machine are no promise for another.
// Pure.
#pragma once

#include "planner/predict/schedule.h"

#include <cstdint>

namespace bonescan {

/// Fixed figures of the estimate.  @units as named
struct CostConstants {
  /// Processor time of a probe that is sent and one that is answered, system calls included:
  /// 0.50 % of a core for 80 probes a second.  @source results/README.md, agent_cost, fake devices
  double agent_us_per_probe = 62.5;
  /// Resident memory of an agent.  @source results/README.md, agent_cost, 8 RNICs
  double agent_bytes = 6.4e6;
  /// ... and what each destination adds to it: address, name, epoch, counters. @ours
  double agent_bytes_per_pair = 256.0;
  /// Processor time of the analyzer for a visit, the simulated network included: 0.19 s for 61,440
  /// visits, so an upper bound.  @source tools/campaign/README.md, "Cost"
  double analyzer_us_per_visit = 3.1;
  /// What the analyzer remembers of a directed pair: sliding test 176, windows 376, drift 88
  /// (METHODS.md of shortterm, longterm/drift_detector.h), path of eight hops 112, schedule, intake
  /// and the rest 100.  @ours  the sum of sizes in headers
  double analyzer_bytes_per_pair = 852.0;
  double analyzer_bytes_per_rnic = 1'024.0;  ///< names, lists, tests of links @ours
  /// A visit in the log but for its round trips, and a round trip.  @source run_log/SCHEMA.md
  double log_bytes_per_visit = 27.0;
  double log_bytes_per_probe = 4.0;
  std::uint32_t queue_pairs = 8;  ///< UD, of an RNIC.  @source backend_verbs/endpoint_agent.h
  std::uint32_t rnics_per_host = 8;
};

/// Layers around the payload of a probe: tunnel (outer IPv4, UDP, VXLAN, inner Ethernet: 50), inner
/// IPv4, UDP, BTH, DETH, ICRC (52), outer Ethernet with its check sequence (18), preamble and gap
/// (20).  @paper RFC 7348, IBTA annex A17
constexpr std::uint32_t kProbeOverheadBytes = 50 + 52 + 18 + 20;

struct PlanCost {
  // One agent, which probes for all RNICs of its host.
  double probes_sent_per_s = 0.0;
  double probes_answered_per_s = 0.0;
  double agent_cores = 0.0;
  double agent_bytes = 0.0;

  // One RNIC.
  double wire_bits_per_s = 0.0;  ///< each way: its requests and its answers out, as much in
  std::uint32_t queue_pairs = 0;
  double eswitch_entries =
      0.0;  ///< mean number held by probing: two a destination while it is warm
  /// The two ends visit a pair more than max-idle apart: its flows are evicted in between, and the
  /// first probe of every visit measures its own upcall.
  bool measures_own_upcalls = false;

  // All of it.
  double visits_per_s = 0.0;
  double controller_messages_per_s =
      0.0;  ///< requests to hosts and their reports, one each a period
  double analyzer_cores = 0.0;
  double analyzer_bytes = 0.0;
  double log_bytes_per_s = 0.0;
};

/// REQUIRES: schedule.visit > 0; constants.rnics_per_host > 0
PlanCost estimate_cost(const PlannedSchedule& schedule, const CostConstants& constants = {});

/// The longest time between two visits of a pair, from either end, without reports that are late.
Duration longest_gap(const PlannedSchedule& schedule);

}  // namespace bonescan
