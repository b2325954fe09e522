// What one event costs: our queue beside std::priority_queue and Boost's d-ary heap.
//
// The hold model (Jones 1986): with n events pending, take the earliest and push it back later; the
// increments are exponential with a mean of one second, so n stays, and time moves.  An iteration
// is one hold, and the "Time" column is what it costs.  The rivals carry 16-byte events and can
// neither cancel nor say what to run; ours carries a 24-byte action and a handle.
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"
#include "sim/engine/engine.h"
#include "sim/engine/event_queue.h"

#include <benchmark/benchmark.h>
#include <boost/heap/d_ary_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace bonescan {
namespace {

/// A table small enough to stay in the first-level caches, read round and round.
class Increments {
 public:
  Increments() {
    const RngStream stream(1, Purpose::kTest, 0);
    for (std::size_t i = 0; i < kCount; ++i) {
      table_.push_back(from_seconds(exponential_quantile(stream.open01_at(i), 1.0)));
    }
  }

  Duration next() { return table_[next_++ % kCount]; }

 private:
  static constexpr std::size_t kCount = 4096;
  std::vector<Duration> table_;
  std::size_t next_ = 0;
};

/// The least an event of a deterministic simulator needs: when, in which order, for whom.
struct SmallEvent {
  std::int64_t at_ns;
  std::uint32_t sequence;
  std::uint32_t entity;

  friend bool operator>(const SmallEvent& a, const SmallEvent& b) {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.sequence > b.sequence;
  }
};

template <class Queue>
void hold_rival(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  Increments increments;
  Queue queue;
  std::uint32_t sequence = 0;
  for (; sequence < count; ++sequence) {
    queue.push({increments.next().count(), sequence, sequence});
  }
  const auto hold = [&] {
    SmallEvent event = queue.top();
    queue.pop();
    event.at_ns += increments.next().count();
    event.sequence = sequence++;
    queue.push(event);
  };
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    hold();
  }
  for (auto _ : state) {
    hold();
  }
  benchmark::DoNotOptimize(queue.top());
}

void hold_ours(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  Increments increments;
  EventQueue queue;
  for (std::uint64_t i = 0; i < count; ++i) {
    queue.push(kStartOfRun + increments.next(), EventPriority::kState, {nullptr, nullptr, i});
  }
  const auto hold = [&] {
    const Event event = queue.pop();
    queue.push(event.at + increments.next(), event.priority, event.action);
  };
  for (std::uint64_t i = 0; i < 2 * count; ++i) {
    hold();
  }
  for (auto _ : state) {
    hold();
  }
  benchmark::DoNotOptimize(queue.now());
}

/// The same through the engine: every event is an indirect call that schedules itself again.
class Holder {
 public:
  explicit Holder(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      again(i);
    }
  }

  void again(std::uint64_t entity) {
    engine_.schedule(engine_.now() + increments_.next(),
                     EventPriority::kState,
                     action<&Holder::again>(*this, entity));
  }

  void step() { engine_.step(); }

 private:
  Increments increments_;
  Engine engine_;
};

void hold_engine(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  Holder holder(count);
  for (std::uint64_t i = 0; i < 2 * count; ++i) {
    holder.step();
  }
  for (auto _ : state) {
    holder.step();
  }
}

/// An event for the current instant, while others are pending: the now-lane.
void now_lane(benchmark::State& state) {
  Increments increments;
  EventQueue queue;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(kStartOfRun + increments.next(), EventPriority::kState, {});
  }
  for (auto _ : state) {
    queue.push(queue.now(), EventPriority::kState, {});
    benchmark::DoNotOptimize(queue.pop());
  }
}

/// A timeout that never fires: pushed, then cancelled, while others are pending.
void push_and_cancel(benchmark::State& state) {
  Increments increments;
  EventQueue queue;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(kStartOfRun + increments.next(), EventPriority::kState, {});
  }
  for (auto _ : state) {
    queue.cancel(queue.push(queue.now() + increments.next(), EventPriority::kState, {}));
  }
}

using StdQueue = std::priority_queue<SmallEvent, std::vector<SmallEvent>, std::greater<SmallEvent>>;
using BoostQueue = boost::heap::
    d_ary_heap<SmallEvent, boost::heap::arity<4>, boost::heap::compare<std::greater<SmallEvent>>>;

void pending_counts(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t count : {1'000, 32'768, 100'000, 1'000'000}) {
    bench->Arg(count);
  }
}

BENCHMARK(hold_ours)->Name("hold/bonescan::EventQueue")->Apply(pending_counts);
BENCHMARK_TEMPLATE(hold_rival, StdQueue)->Name("hold/std::priority_queue")->Apply(pending_counts);
BENCHMARK_TEMPLATE(hold_rival, BoostQueue)
    ->Name("hold/boost::heap::d_ary_heap<4>")
    ->Apply(pending_counts);
BENCHMARK(hold_engine)->Name("hold/bonescan::Engine")->Apply(pending_counts);
BENCHMARK(now_lane)->Name("now_lane/bonescan::EventQueue")->Arg(32'768);
BENCHMARK(push_and_cancel)->Name("push_and_cancel/bonescan::EventQueue")->Arg(32'768);

}  // namespace
}  // namespace bonescan
