// Times to detect of a set of faults, kept by seed so that seeds can be drawn anew.
#pragma once

#include "tools/gates/strata.h"

#include <cstdint>
#include <map>
#include <vector>

namespace bonescan {

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
