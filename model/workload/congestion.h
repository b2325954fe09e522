// Queues of links that are offered more than they carry, as a fluid.
//
// While more comes in than goes out a queue grows in a straight line, until something holds it:
//   congestion control   marks between Kmin and Kmax slow the senders down; a burst gets as far as
//                        it does within the reaction time of the control loop
//   flow control (PFC)   every port that feeds the queue is paused at XOFF and let go at XON
//   neither              the buffer is full, and what comes then is lost
// Then it stands or, at the end of a burst, falls in a straight line.  A probe that comes at a
// random moment sees a uniform wait on straight lines and a fixed one where the queue stands.
//
// A paused port serves nobody: who shares it with the traffic that is paused waits as well (head of
// line), and its queue pauses the ports behind it in turn.  With the fraction s of the traffic
// getting through, a port that is offered the share a of its rate is paused for 1 - s * a of the
// time, for (XOFF - XON) / (s * a * rate) each time.
//
// Thresholds are those of the packet mode, and ours like them: no source gives those of the
// networks in question.  Where the queue stands under congestion control is not derived from
// DCQCN's parameters: it is taken as anywhere between Kmin and Kmax.
#pragma once

#include "model/latency/path_load.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class CongestionControl : std::uint8_t {
  kOff,
  kDcqcn,
};

enum class FlowControl : std::uint8_t {
  kOff,  ///< a full buffer loses packets
  kPfc,
};

struct CongestionOptions {
  CongestionControl control = CongestionControl::kDcqcn;
  FlowControl flow_control = FlowControl::kPfc;
  double ecn_min_bytes = 400'000;    ///< Kmin: never marked up to here
  double ecn_max_bytes = 1'600'000;  ///< Kmax: always marked beyond
  double ecn_max_ratio = 0.2;        ///< Pmax: probability just below Kmax
  /// From a mark until the queue feels it.  @ours a CNP every 50 us (DCQCN) and a round trip
  Duration reaction = std::chrono::microseconds(60);
  double xoff_bytes = 300'000;  ///< by the bytes that came in over one link
  double xon_bytes = 200'000;
  double buffer_bytes = 4'000'000;  ///< of one queue without flow control
};

/// Share of packets that a queue of this length marks.
double mark_ratio(const CongestionOptions& options, double queue_bytes);

/// A link whose queue does not empty.
struct StandingQueue {
  double low_bytes = 0.0;  ///< anywhere between these
  double high_bytes = 0.0;
  double mark_ratio = 0.0;
  double loss_ratio = 0.0;
  bool pauses = false;  ///< the ports that feed it
};

/// @param offered  load over rate
/// @param inputs   links that feed it and can be paused
/// REQUIRES: offered > 1
StandingQueue standing_queue(const CongestionOptions& options,
                             double offered,
                             std::uint32_t inputs);

/// Bursts that meet at a link, once a period.
struct MeetingBursts {
  double total_bytes = 0.0;
  double longest_input_bytes = 0.0;  ///< what the busiest of the inputs brings
  double rate = 0.0;                 ///< bytes per ns
  double input_rate = 0.0;           ///< of one input
  std::uint32_t inputs = 0;
  double period_ns = 0.0;
};

/// What they do.
struct BurstQueue {
  BurstWait wait{};
  double peak_bytes = 0.0;
  double mark_ratio = 0.0;      ///< of all packets of the bursts
  double loss_ratio = 0.0;      ///< of a probe at a random moment of the period
  double held_ratio = 0.0;      ///< of the period: flow control holds it at its peak
  double pause_ratio = 0.0;     ///< of the period, for each port that feeds it
  double upstream_bytes = 0.0;  ///< what then waits at those ports together
};

/// REQUIRES: total_bytes / rate <= period_ns
/// Without a limit it is the incast of queueing.h.
BurstQueue burst_queue(const CongestionOptions& options, const MeetingBursts& bursts);

/// A pause of a port: how long and how much of the time.
struct PortPause {
  double ratio = 0.0;
  double length_ns = 0.0;
};

/// @param offered_bytes  per ns, to the port
/// @param passing        share of it that gets through
PortPause port_pause(const CongestionOptions& options,
                     double rate,
                     double offered_bytes,
                     double passing);

}  // namespace bonescan
