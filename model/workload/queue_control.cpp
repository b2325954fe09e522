#include "model/workload/queue_control.h"

#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <algorithm>
#include <bit>

namespace bonescan {

void QueueControl::switch_on(SwitchId id) {
  BONESCAN_CHECK(off_[id] > 0);
  --off_[id];
  ++version_;
}

void QueueControl::begin_storm(LinkId link, double paused) {
  storms_.push_back({link, paused});
  ++version_;
}

void QueueControl::end_storm(LinkId link, double paused) {
  const auto found = std::find_if(storms_.begin(), storms_.end(), [&](const Storm& storm) {
    return storm.link == link && storm.paused == paused;
  });
  BONESCAN_CHECK(found != storms_.end());
  storms_.erase(found);
  ++version_;
}

double QueueControl::storm_pass(LinkId link) const {
  double pass = 1.0;
  for (const Storm& storm : storms_) {
    if (storm.link == link) {
      pass *= 1.0 - storm.paused;
    }
  }
  return pass;
}

std::uint64_t QueueControl::fingerprint() const {
  Fingerprint print;
  for (const std::uint16_t off : off_) {
    print.add(std::uint64_t{off});
  }
  for (const Storm& storm : storms_) {
    print.add(std::uint64_t{storm.link.index()});
    print.add(std::bit_cast<std::uint64_t>(storm.paused));
  }
  return print.value();
}

}  // namespace bonescan
