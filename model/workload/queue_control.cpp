#include "model/workload/queue_control.h"

#include "sim/base/check.h"

namespace bonescan {

void QueueControl::switch_on(SwitchId id) {
  BONESCAN_CHECK(off_[id] > 0);
  --off_[id];
  ++version_;
}

}  // namespace bonescan
