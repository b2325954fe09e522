#include "sim/engine/event_queue.h"

#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;

constexpr EventPriority kFault = EventPriority::kFault;
constexpr EventPriority kState = EventPriority::kState;
constexpr EventPriority kProbe = EventPriority::kProbe;
constexpr EventPriority kAnalysis = EventPriority::kAnalysis;

Time at(std::int64_t time_ns) {
  return Time(Duration(time_ns));
}

EventAction tagged(std::uint64_t tag) {
  return {nullptr, nullptr, tag};
}

std::vector<std::uint64_t> drain(EventQueue& queue) {
  std::vector<std::uint64_t> tags;
  while (!queue.empty()) {
    tags.push_back(queue.pop().action.argument);
  }
  return tags;
}

TEST(EventQueue, PopsByTimeThenPriorityThenOrderOfPushing) {
  EventQueue queue;
  queue.push(at(20), kFault, tagged(6));
  queue.push(at(10), kAnalysis, tagged(5));
  queue.push(at(10), kState, tagged(2));
  queue.push(at(10), kProbe, tagged(4));
  queue.push(at(10), kState, tagged(3));
  queue.push(at(10), kFault, tagged(1));
  EXPECT_THAT(drain(queue), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(EventQueue, PopReturnsWhatWasPushed) {
  EventQueue queue;
  int subject = 0;
  queue.push(at(7), kProbe, {nullptr, &subject, 99});
  EXPECT_EQ(queue.next_time(), at(7));
  const Event event = queue.pop();
  EXPECT_EQ(event.at, at(7));
  EXPECT_EQ(event.priority, kProbe);
  EXPECT_EQ(event.action.subject, &subject);
  EXPECT_EQ(event.action.argument, 99u);
  EXPECT_EQ(queue.now(), at(7));
  EXPECT_EQ(queue.next_time(), std::nullopt);
}

TEST(EventQueue, TakesTimesUpToTheEndOfTime) {
  EventQueue queue;
  queue.push(Time::max(), kState, tagged(2));
  queue.push(at(0), kState, tagged(1));
  EXPECT_THAT(drain(queue), ElementsAre(1, 2));
  EXPECT_EQ(queue.now(), Time::max());
}

TEST(EventQueue, CancelTakesOutOnceAndOnlyThatEvent) {
  EventQueue queue;
  const EventHandle first = queue.push(at(1), kState, tagged(1));
  const EventHandle second = queue.push(at(2), kState, tagged(2));
  queue.push(at(3), kState, tagged(3));
  EXPECT_TRUE(queue.pending(second));
  EXPECT_TRUE(queue.cancel(second));
  EXPECT_FALSE(queue.pending(second));
  EXPECT_FALSE(queue.cancel(second));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.pop().action.argument, 1u);
  EXPECT_FALSE(queue.cancel(first)) << "it has run";
  EXPECT_THAT(drain(queue), ElementsAre(3));
}

TEST(EventQueue, CancellingTheEarliestRevealsTheNext) {
  EventQueue queue;
  const EventHandle first = queue.push(at(1), kState, tagged(1));
  const EventHandle second = queue.push(at(2), kState, tagged(2));
  queue.push(at(3), kState, tagged(3));
  queue.cancel(second);
  queue.cancel(first);
  EXPECT_EQ(queue.next_time(), at(3));
  EXPECT_THAT(drain(queue), ElementsAre(3));
}

TEST(EventQueue, DefaultHandleNamesNothing) {
  EventQueue queue;
  EXPECT_FALSE(queue.cancel(EventHandle()));
  queue.cancel(queue.push(at(1), kState, {}));
  EXPECT_FALSE(queue.cancel(EventHandle())) << "a free slot is not an event either";
  EXPECT_EQ(queue.size(), 0u);
}

// The slot of a dead event is used again at once; the old handle must not reach the new event.
TEST(EventQueue, StaleHandleDoesNotReachTheNextUserOfItsSlot) {
  EventQueue queue;
  const EventHandle stale = queue.push(at(1), kState, tagged(1));
  queue.cancel(stale);
  const EventHandle fresh = queue.push(at(1), kState, tagged(2));
  EXPECT_NE(stale, fresh);
  EXPECT_FALSE(queue.cancel(stale));
  EXPECT_THAT(drain(queue), ElementsAre(2));
}

TEST(EventQueue, NowLaneKeepsTheTotalOrder) {
  EventQueue queue;
  queue.push(at(5), kFault, tagged(0));
  queue.push(at(5), kState, tagged(2));
  queue.push(at(5), kAnalysis, tagged(6));
  queue.push(at(6), kFault, tagged(9));
  EXPECT_EQ(queue.pop().action.argument, 0u);
  // Pushed at the current time: behind what was pushed before with the same priority.
  queue.push(at(5), kAnalysis, tagged(7));
  queue.push(at(5), kProbe, tagged(4));
  queue.push(at(5), kState, tagged(3));
  queue.push(at(5), kFault, tagged(1));
  queue.push(at(5), kProbe, tagged(5));
  queue.push(at(5), kAnalysis, tagged(8));
  EXPECT_EQ(queue.next_time(), at(5));
  EXPECT_THAT(drain(queue), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(EventQueue, LowerPriorityNumberPushedNowComesNext) {
  EventQueue queue;
  queue.push(at(5), kAnalysis, tagged(1));
  queue.push(at(5), kAnalysis, tagged(3));
  EXPECT_EQ(queue.pop().action.argument, 1u);
  queue.push(at(5), kFault, tagged(2));
  EXPECT_THAT(drain(queue), ElementsAre(2, 3));
}

TEST(EventQueue, CancelReachesIntoTheNowLane) {
  EventQueue queue;
  queue.push(at(0), kState, tagged(1));
  const EventHandle second = queue.push(at(0), kState, tagged(2));
  const EventHandle third = queue.push(at(0), kState, tagged(3));
  queue.push(at(4), kState, tagged(4));
  EXPECT_TRUE(queue.cancel(third));
  EXPECT_EQ(queue.pop().action.argument, 1u);
  EXPECT_TRUE(queue.cancel(second));
  EXPECT_EQ(queue.next_time(), at(4));
  EXPECT_THAT(drain(queue), ElementsAre(4));
}

TEST(EventQueue, AdvanceToMovesTheCurrentInstant) {
  EventQueue queue;
  queue.push(at(10), kState, tagged(1));
  queue.advance_to(at(10));
  EXPECT_EQ(queue.now(), at(10));
  queue.push(at(10), kState, tagged(2));
  EXPECT_THAT(drain(queue), ElementsAre(1, 2));
}

TEST(EventQueue, CancelledEventsDoNotAccumulate) {
  for (const std::int64_t delay_ns : {0, 1'000}) {
    SCOPED_TRACE(delay_ns);
    EventQueue queue;
    for (int i = 0; i < 100; ++i) {
      queue.push(at(1), kState, tagged(0));
    }
    for (int i = 0; i < 100'000; ++i) {
      queue.cancel(queue.push(at(delay_ns), kProbe, tagged(1)));
      ASSERT_LE(queue.held_count(), 2 * queue.size() + 65);
      ASSERT_EQ(queue.next_time(), at(1));
    }
    EXPECT_EQ(drain(queue), std::vector<std::uint64_t>(100, 0));
    EXPECT_EQ(queue.held_count(), 0u);
  }
}

TEST(EventQueueDeathTest, RefusesThePast) {
  EventQueue queue;
  queue.push(at(5), kState, {});
  queue.push(at(6), kState, {});
  queue.pop();
  EXPECT_DEATH(queue.push(at(4), kState, {}), "check failed: at >= now_");
  EXPECT_DEATH(queue.advance_to(at(4)), "check failed: to >= now_");
  EXPECT_DEATH(queue.advance_to(at(7)), "check failed: .*next_time");
  queue.pop();
  EXPECT_DEATH(queue.pop(), "check failed: !empty");
}

/// The same contract, obvious rather than fast: a vector, searched for its minimum.
class NaiveQueue {
 public:
  struct Entry {
    Time at;
    EventPriority priority;
    std::uint64_t tag;

    auto operator<=>(const Entry&) const = default;
  };

  void push(Entry entry) { entries_.push_back(entry); }

  bool cancel(std::uint64_t tag) {
    return std::erase_if(entries_, [tag](const Entry& e) { return e.tag == tag; }) != 0;
  }

  Entry pop() {
    const auto first = std::min_element(entries_.begin(), entries_.end());
    const Entry entry = *first;
    entries_.erase(first);
    return entry;
  }

  std::size_t size() const { return entries_.size(); }

  std::optional<Time> next_time() const {
    if (entries_.empty()) {
      return std::nullopt;
    }
    return std::min_element(entries_.begin(), entries_.end())->at;
  }

 private:
  std::vector<Entry> entries_;
};

struct Mix {
  const char* name;
  std::uint64_t push_percent;
  std::uint64_t cancel_percent;
  std::uint64_t delay_span_ns;  ///< small spans make equal times common
  bool sweeps;
};

void compare_with_naive(const Mix& mix, std::uint64_t seed) {
  const RngStream stream(seed, Purpose::kTest, 0);
  EventQueue queue;
  NaiveQueue naive;
  std::vector<EventHandle> handles;
  bool swept = false;
  for (std::uint64_t i = 0; i < 4'000; ++i) {
    const PhiloxCounter dice = stream.block(i);
    // Odd waves cancel what the even ones have pushed: that is what makes the queue sweep.
    const std::uint64_t kind = i / 500 % 2 == 0 ? dice[0] % 100 : 40 + dice[0] % 60;
    const std::size_t held_before = queue.held_count();
    if (kind < mix.push_percent) {
      const Time due =
          queue.now() + Duration(static_cast<std::int64_t>(dice[1] % mix.delay_span_ns));
      const auto priority = static_cast<EventPriority>(dice[2] % 4);
      const std::uint64_t tag = handles.size();
      handles.push_back(queue.push(due, priority, tagged(tag)));
      naive.push({due, priority, tag});
    } else if (kind < mix.push_percent + mix.cancel_percent) {
      if (!handles.empty()) {
        const std::uint64_t tag =
            handles.size() - 1 - dice[1] % std::min<std::size_t>(handles.size(), 500);
        ASSERT_EQ(queue.cancel(handles[tag]), naive.cancel(tag));
      }
    } else if (!queue.empty()) {
      const Event got = queue.pop();
      const NaiveQueue::Entry want = naive.pop();
      ASSERT_EQ(std::tuple(got.at, got.priority, got.action.argument),
                std::tuple(want.at, want.priority, want.tag));
    }
    swept = swept || queue.held_count() + 64 < held_before;
    ASSERT_EQ(queue.size(), naive.size());
    ASSERT_EQ(queue.next_time(), naive.next_time());
    ASSERT_LE(queue.held_count(), 2 * queue.size() + 65);
  }
  while (naive.size() != 0) {
    ASSERT_EQ(queue.pop().action.argument, naive.pop().tag);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(swept, mix.sweeps);
}

TEST(EventQueue, EqualsANaiveQueueOnRandomSequences) {
  constexpr Mix kMixes[] = {
      {"growing, mostly distinct times", 60, 10, 1'000'000, false},
      {"steady, many equal times", 50, 5, 8, false},
      {"everything now", 50, 10, 1, false},
      {"everything now, cancelled in waves", 60, 39, 1, true},
      {"now or soon", 50, 10, 3, false},
      {"cancelled in waves", 60, 39, 100, true},
      {"shrinking", 40, 10, 1'000, false},
  };
  for (const Mix& mix : kMixes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(mix.name);
      SCOPED_TRACE("seed=" + std::to_string(seed));
      compare_with_naive(mix, seed);
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
