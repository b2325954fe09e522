#include "sim/engine/event_queue.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Below this many dead keys a sweep is not worth its visit.
constexpr std::size_t kDeadTolerated = 64;

Key128 key_of(Time at, std::uint64_t order) {
  return static_cast<Key128>(static_cast<std::uint64_t>(nanoseconds(at))) << 64 | order;
}

Time time_of(Key128 key) {
  return Time(Duration(static_cast<std::int64_t>(static_cast<std::uint64_t>(key >> 64))));
}

std::uint64_t order_of(Key128 key) {
  return static_cast<std::uint64_t>(key);
}

}  // namespace

void EventQueue::Lane::push(std::uint64_t order) {
  if (orders.size() == orders.capacity() && first > orders.size() / 2) {
    orders.erase(orders.begin(), orders.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
  orders.push_back(order);
}

void EventQueue::Lane::pop() {
  if (++first == orders.size()) {
    orders.clear();
    first = 0;
  }
}

std::optional<Time> EventQueue::next_time() const {
  if (empty()) {
    return std::nullopt;
  }
  // A living event in a lane is due now, and nothing is due before now.
  return lane_count_ != 0 ? now_ : time_of(heap_.top());
}

EventHandle EventQueue::push(Time at, EventPriority priority, EventAction action) {
  BONESCAN_CHECK(at >= now_);
  const std::uint32_t slot = take_slot();
  ++last_sequence_;
  BONESCAN_CHECK(last_sequence_ < std::uint64_t{1} << kSequenceBits);
  const std::uint64_t order = static_cast<std::uint64_t>(priority) << (kSequenceBits + kSlotBits) |
                              last_sequence_ << kSlotBits | slot;
  slots_[slot].action = action;
  slots_[slot].order = order;
  ++alive_count_;
  if (at == now_) {
    lanes_[static_cast<std::size_t>(priority)].push(order);
    ++lane_count_;
  } else {
    heap_.push(key_of(at, order));
  }
  return EventHandle(order);
}

bool EventQueue::cancel(EventHandle handle) {
  if (!pending(handle)) {
    return false;
  }
  release(slot_of(handle.order_));
  --alive_count_;
  ++dead_count_;
  if (dead_count_ > alive_count_ + kDeadTolerated) {
    sweep();
  } else {
    drop_dead_fronts();
  }
  return true;
}

Event EventQueue::pop() {
  BONESCAN_CHECK(!empty());
  std::uint64_t order = 0;
  Lane* const lane = lane_count_ == 0 ? nullptr : first_lane();
  if (lane != nullptr && (heap_.empty() || key_of(now_, lane->front()) < heap_.top())) {
    order = lane->front();
    lane->pop();
    --lane_count_;
  } else {
    now_ = time_of(heap_.top());
    order = order_of(heap_.top());
    heap_.pop();
    if (!heap_.empty()) {
      // The next event's slot is somewhere else; ask for it while this event runs.
      __builtin_prefetch(&slots_[slot_of(order_of(heap_.top()))]);
    }
  }
  const std::uint32_t slot = slot_of(order);
  const Event event{
      now_, static_cast<EventPriority>(order >> (kSequenceBits + kSlotBits)), slots_[slot].action};
  release(slot);
  --alive_count_;
  if (dead_count_ != 0) {
    drop_dead_fronts();
  }
  return event;
}

void EventQueue::advance_to(Time to) {
  BONESCAN_CHECK(to >= now_);
  BONESCAN_CHECK(empty() || *next_time() >= to);
  now_ = to;
}

std::uint32_t EventQueue::take_slot() {
  if (first_free_ == kNoSlot) {
    BONESCAN_CHECK(slots_.size() < kNoSlot);
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = first_free_;
  first_free_ = static_cast<std::uint32_t>(slots_[slot].action.argument);
  return slot;
}

void EventQueue::release(std::uint32_t slot) {
  slots_[slot].action.argument = first_free_;
  slots_[slot].order = kFree;
  first_free_ = slot;
}

EventQueue::Lane* EventQueue::first_lane() {
  return std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.empty(); });
}

void EventQueue::drop_dead_fronts() {
  while (!heap_.empty() && !alive(order_of(heap_.top()))) {
    heap_.pop();
    --dead_count_;
  }
  if (lane_count_ == 0) {
    return;
  }
  for (Lane& lane : lanes_) {
    while (!lane.empty() && !alive(lane.front())) {
      lane.pop();
      --lane_count_;
      --dead_count_;
    }
  }
}

void EventQueue::sweep() {
  heap_.erase_if([this](Key128 key) { return !alive(order_of(key)); });
  lane_count_ = 0;
  for (Lane& lane : lanes_) {
    lane.orders.erase(lane.orders.begin(),
                      lane.orders.begin() + static_cast<std::ptrdiff_t>(lane.first));
    lane.first = 0;
    std::erase_if(lane.orders, [this](std::uint64_t order) { return !alive(order); });
    lane_count_ += lane.orders.size();
  }
  dead_count_ = 0;
}

}  // namespace bonescan
