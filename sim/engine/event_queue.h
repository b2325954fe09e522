// The pending events of a run, in one total order.
//
// Why this shape: an event's key is (time, priority, sequence number), packed with the number of
// its slot into 128 bits.  Keys move through a heap; actions stay where they are, in the slots.
// Cancelling frees the slot at once and leaves the key behind; a key is alive if and only if its
// slot still carries it, and no key is ever used twice, so a stale handle can never hit a newer
// event.  Dead keys are dropped when they surface, and swept out when they outnumber the living.
// Events for the current instant go to the now-lane, one FIFO per priority: they need no heap.
//
// Invariants: 1. events leave in the order (time, priority, sequence number), the sequence number
// being the order in which they were pushed; 2. time never runs backwards; 3. the keys held are at
// most twice the living events plus a constant; 4. the first key of the heap, and of each lane, is
// alive; 5. the keys of a lane all have the current time.
// Limits, both checked: 8 million pending events at a time, 5.5e11 events in a run.
// Thread-compatible.
#pragma once

#include "sim/base/units.h"
#include "sim/engine/key_heap.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

/// What happens first among the events of one instant.  Part of every fingerprint.
enum class EventPriority : std::uint8_t {
  kFault,
  kState,
  kProbe,
  kAnalysis
};

/// A call that is due later.  `subject` is not owned, and must live until the event has run or was
/// cancelled.
struct EventAction {
  void (*run)(void* subject, std::uint64_t argument) = nullptr;
  void* subject = nullptr;
  std::uint64_t argument = 0;
};

/// Names one pushed event for ever: it is never reused.  A default-made handle names none.
class EventHandle {
 public:
  constexpr EventHandle() = default;

  constexpr auto operator<=>(const EventHandle&) const = default;

 private:
  friend class EventQueue;

  constexpr explicit EventHandle(std::uint64_t order) : order_(order) {}

  std::uint64_t order_ = 0;
};

struct Event {
  Time at;
  EventPriority priority = EventPriority::kFault;
  EventAction action;
};

class EventQueue final {
 public:
  bool empty() const { return alive_count_ == 0; }

  /// Events that are pending: neither popped nor cancelled.
  std::size_t size() const { return alive_count_; }

  /// Keys in memory, dead ones included; bounded by invariant 3.
  std::size_t held_count() const { return alive_count_ + dead_count_; }

  /// The time of the last event popped, or the last advance_to().
  Time now() const { return now_; }

  /// When the next event is due; none if nothing is pending.
  std::optional<Time> next_time() const;

  bool pending(EventHandle handle) const {
    return slots_.size() > slot_of(handle.order_) &&
           slots_[slot_of(handle.order_)].order == handle.order_ && handle.order_ != kFree;
  }

  /// REQUIRES: at >= now().
  /// @complexity O(1) if `at` is now(), else O(log n)
  EventHandle push(Time at, EventPriority priority, EventAction action);

  /// Takes a pending event out; false if it has run or was cancelled before.
  /// @complexity O(1) amortised, O(log n) for the earliest event
  bool cancel(EventHandle handle);

  /// Removes and returns the first event, and moves now() to its time.  REQUIRES: !empty().
  /// @complexity O(1) from the now-lane, else O(log n)
  Event pop();

  /// Moves now() without an event.  REQUIRES: now() <= to, and no event is due before `to`.
  void advance_to(Time to);

 private:
  /// The low half of a key: priority (2 bits), sequence number (39), slot (23).  Sequence numbers
  /// start at 1, so no event has the order kFree.
  static constexpr int kSlotBits = 23;
  static constexpr int kSequenceBits = 39;
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint32_t kNoSlot = (std::uint32_t{1} << kSlotBits) - 1;

  struct alignas(32) Slot {
    EventAction action;  ///< while the slot is free, `argument` is the next free slot
    std::uint64_t order = kFree;
  };

  /// The orders of events that are due at now_, all of one priority.
  struct Lane {
    std::vector<std::uint64_t> orders;
    std::size_t first = 0;

    bool empty() const { return first == orders.size(); }

    std::uint64_t front() const { return orders[first]; }

    void push(std::uint64_t order);
    void pop();
  };

  static constexpr std::uint32_t slot_of(std::uint64_t order) {
    return static_cast<std::uint32_t>(order) & kNoSlot;
  }

  bool alive(std::uint64_t order) const { return slots_[slot_of(order)].order == order; }

  std::uint32_t take_slot();
  void release(std::uint32_t slot);
  Lane* first_lane();
  void drop_dead_fronts();
  void sweep();

  KeyHeap heap_;
  std::array<Lane, 4> lanes_;
  std::vector<Slot> slots_;
  Time now_ = kStartOfRun;
  std::uint64_t last_sequence_ = 0;
  std::size_t alive_count_ = 0;
  std::size_t dead_count_ = 0;
  std::size_t lane_count_ = 0;  ///< keys in all lanes, dead ones included
  std::uint32_t first_free_ = kNoSlot;
};

}  // namespace bonescan
