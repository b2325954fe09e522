#include "model/workload/queue_control.h"

#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

namespace bonescan {

void QueueControl::switch_on(SwitchId id) {
  BONESCAN_CHECK(off_[id] > 0);
  --off_[id];
  ++version_;
}

std::uint64_t QueueControl::fingerprint() const {
  Fingerprint print;
  for (const std::uint16_t off : off_) {
    print.add(std::uint64_t{off});
  }
  return print.value();
}

}  // namespace bonescan
