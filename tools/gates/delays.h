// Times to detect of a set of faults, kept by seed so that seeds can be drawn anew.
#pragma once

#include "tools/gates/strata.h"

#include <cstdint>
#include <map>
#include <vector>

namespace bonescan {

/// Counts in the overall time to detect: neither gray nor seen by its host alone, whose rounds are
/// slow.  Strata take every fault.
bool is_abrupt(const CampaignFault& fault);

class ClusteredDelays final {
 public:
  /// REQUIRES: the fault is decided.
  void add(const CampaignFault& fault);

  DelayFigures figures(const StrataOptions& options) const;

 private:
  struct Cluster {
    std::vector<double> found_s;
    std::vector<double> with_misses_s;
  };

  std::map<std::uint64_t, Cluster> by_seed_;
};

}  // namespace bonescan
