// Bars that overlap in time go to lanes that do not.
#pragma once

#include <cstddef>
#include <vector>

namespace bonescan {

/// First fit: bars given by rising start use as few lanes as possible.  O(lanes) a bar.
class LanePacker {
 public:
  /// The lane of the bar [from, to].
  std::size_t place(double from, double to) {
    for (std::size_t lane = 0; lane < ends_.size(); ++lane) {
      if (ends_[lane] <= from) {
        ends_[lane] = to;
        return lane;
      }
    }
    ends_.push_back(to);
    return ends_.size() - 1;
  }

  std::size_t lane_count() const { return ends_.size(); }

 private:
  std::vector<double> ends_;
};

}  // namespace bonescan
