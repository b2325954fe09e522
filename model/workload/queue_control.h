// Which switches' queues take part in congestion control: all, unless something switched it off.
//
// A queue that does not mark tells no sender to slow down; what then holds its senders is flow
// control.  Thread-compatible.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>

namespace bonescan {

class QueueControl final {
 public:
  explicit QueueControl(const Fabric& fabric) : off_(fabric.switch_count()) {}

  bool marks(SwitchId id) const { return off_[id] == 0; }

  /// Nested.
  void switch_off(SwitchId id) {
    ++off_[id];
    ++version_;
  }

  /// REQUIRES: it is off.
  void switch_on(SwitchId id);

  /// Of how often each switch was switched off.
  std::uint64_t fingerprint() const;

  /// Counts changes; not part of the state.
  std::uint64_t version() const { return version_; }

 private:
  IdVector<SwitchId, std::uint16_t> off_;
  std::uint64_t version_ = 0;
};

}  // namespace bonescan
