// Is it one switch, or RNIC, rather than several of its links?
//
// Intuition: a dead switch makes all of its links look dead.  To a search it is a link more that
// every path through it crosses: one fault that explains what would take many, while healthy pairs
// through the device speak against it.  Two bad cables of one switch leave the traffic between its
// other ports in health, so the device explains them worse than they do themselves.
//
// Definition: FaultSearch (fault_search.h) over paths that hold one hop more for each device that
// is asked about.  A device is accused if it explains the evidence better than anything else by
// more than tie_nats: where all traffic through it crosses one link, link and device tie, and
// nobody raises the one to the other.  It does so only if the evidence is explained better with
// devices than by links alone.
// Trials are pairs, not visits: a switch that drops a share of the five-tuples drops all visits of
// some pairs and none of others, which visits would take for so many independent draws.
// Invariants: 1. devices that were not asked about are never accused; 2. those of localizer.h.
// Thread-compatible.
#pragma once

#include "detectors/localize/device_table.h"
#include "detectors/localize/fault_search.h"

#include <span>
#include <vector>

namespace bonescan {

/// One fault: of a device, or else of a link.
struct DeviceAccusation {
  DeviceId device;        ///< invalid: a link's
  Accusation accusation;  ///< of a device: its suspect names no component
};

class DeviceSearch final {
 public:
  explicit DeviceSearch(const FaultSearchOptions& options)
      : tie_nats_(options.tie_nats), search_(options) {}

  /// Every fault, the surest first.  `asked` are devices of the table, ascending, without doubles.
  std::vector<DeviceAccusation> localize(std::span<const PathEvidence> evidence,
                                         std::span<const DeviceId> asked,
                                         const DeviceTable& devices);

 private:
  double tie_nats_;
  FaultSearch search_;
  std::vector<TracedPath> paths_;
  std::vector<PathEvidence> items_;
};

}  // namespace bonescan
