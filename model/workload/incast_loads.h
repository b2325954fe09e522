// One incast on all links of its ways: where its bursts meet, and the ports that are paused then.
//
// Where bursts meet the queue rises and falls (congestion.h).  If flow control holds it, what is
// still to come waits in the ports that feed it, which drain at their part of the bottleneck's
// rate; if they hold more than XOFF for each port behind them, the rest waits further back, in the
// end at the senders.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/congestion.h"

#include <span>
#include <vector>

namespace bonescan {

/// What of a link matters here.
struct LinkColumns {
  const IdVector<LinkId, double>& rates;             ///< bytes per ns
  const IdVector<LinkId, std::uint8_t>& host_ports;  ///< is its sender an RNIC?
  const IdVector<LinkId, std::uint8_t>& controlled;  ///< does its queue mark?
};

struct IncastShape {
  double burst_bytes = 0.0;  ///< of each sender
  double period_ns = 0.0;
};

/// What an incast does at a link; one link may have two of them.
struct IncastAtLink {
  LinkId link;
  BurstWait wait{};
  double utilisation = 0.0;  ///< in the mean
  double mark_ratio = 0.0;
  double loss_ratio = 0.0;
  double pause_ratio = 0.0;
};

/// @param ways  of the senders
std::vector<IncastAtLink> incast_loads(const CongestionOptions& options,
                                       const IncastShape& shape,
                                       std::span<const LinkPath> ways,
                                       const LinkColumns& links);

}  // namespace bonescan
