// Which switches' queues take part in congestion control: all, unless something switched it off.
//
// A queue that does not mark tells no sender to slow down; what then holds its senders is flow
// control.  Beside that: which links are held by a storm of pauses from their far end.  Their queue
// is not what the marks of a sender could shorten, so they do not count as marking.
// Thread-compatible.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>
#include <vector>

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

  /// The far end of `link` has its sender pause for that share of the time.  Nested: storms that
  /// meet are independent.
  void begin_storm(LinkId link, double paused);

  /// REQUIRES: one of that share has begun.
  void end_storm(LinkId link, double paused);

  /// Share of the time in which storms let the sender of `link` send.
  double storm_pass(LinkId link) const;

  /// Of how often each switch was switched off, and of storms.
  std::uint64_t fingerprint() const;

  /// Counts changes; not part of the state.
  std::uint64_t version() const { return version_; }

 private:
  struct Storm {
    LinkId link;
    double paused = 0.0;
  };

  IdVector<SwitchId, std::uint16_t> off_;
  std::vector<Storm> storms_;  ///< few
  std::uint64_t version_ = 0;
};

}  // namespace bonescan
