// Who waits because of whom: links that are offered more than they carry, and ports behind them.
//
// Load is a fluid that follows its ways.  A link passes on at most its rate, so what comes behind a
// bottleneck is no bottleneck of its own.  If a bottleneck pauses the ports that feed it, each of
// them passes only the fraction s of everything it is offered, also of what goes elsewhere; its own
// queue fills, and it pauses the ports behind it, up to the senders.
// Complexity: linear in the links and their inputs, times a logarithm.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/congestion.h"

#include <span>
#include <vector>

namespace bonescan {

/// A link and what feeds it.
struct FedLink {
  struct Input {
    LinkId link;  ///< invalid: the source itself
    double bytes_per_ns = 0.0;
  };

  LinkId link;
  double rate = 0.0;       ///< bytes per ns
  bool host_port = false;  ///< its sender is an RNIC, which has a queue for every flow
  bool marks = true;       ///< takes part in congestion control
  std::vector<Input> inputs;
};

struct CongestedLink {
  LinkId link;
  BurstWait wait{};
  double mark_ratio = 0.0;
  double pause_ratio = 0.0;  ///< share of time in which its sender is paused
  double loss_ratio = 0.0;
};

/// @param links  upstream before downstream; with every link that feeds one of them
/// @returns those where anything waits for more than chance, by link
std::vector<CongestedLink> congested_links(const CongestionOptions& options,
                                           std::span<const FedLink> links);

}  // namespace bonescan
