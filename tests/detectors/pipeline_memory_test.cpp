// Thousands of short tasks: what is held must follow those that live, not those that ever lived.
#include "detectors/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <malloc.h>
#include <string>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kHosts = 4;
constexpr std::uint32_t kRails = 2;
constexpr std::uint32_t kEndpointsPerTask = kHosts * kRails;
constexpr std::uint32_t kPairsPerTask = kHosts * (kHosts - 1) * kRails;
constexpr std::size_t kLifeTurns = 12;

Time at_turn(std::size_t turn) {
  return kStartOfRun + static_cast<std::int64_t>(turn) * std::chrono::seconds(1);
}

std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A seam that keeps nothing but its directory; the test moves events and probes by hand.
class ChurnWorld final : public Probes,
                         public PathTracer,
                         public OverlayInspector,
                         public FlowTableSource,
                         public Throughput,
                         public Membership {
 public:
  /// So many endpoints will come: their room is no growth.
  explicit ChurnWorld(std::size_t endpoints) : directory_(endpoints) { directory_.resize(0); }

  Telemetry telemetry() {
    return {directory_, components_, *this, *this, *this, *this, *this, *this};
  }

  /// A task on the next four of 64 hosts.
  EndpointRange submit(std::vector<MembershipEvent>& events, Time at) {
    const EndpointRange range{EndpointId(static_cast<std::uint32_t>(directory_.size())),
                              kEndpointsPerTask};
    const std::string task = std::to_string(tasks_++);
    for (std::uint32_t i = 0; i < kEndpointsPerTask; ++i) {
      const std::uint32_t host = (kHosts * tasks_ + i / kRails) % 64;
      Endpoint endpoint;
      endpoint.name = std::to_string(directory_.size());
      endpoint.host = std::to_string(host);
      endpoint.task = task;
      endpoint.tor = std::to_string(host / 8);
      endpoint.rail = static_cast<std::uint16_t>(i % kRails);
      directory_.push_back(endpoint);
      events.push_back({at, range[i], MembershipKind::kSubmitted});
    }
    return range;
  }

  Expected<TracedPath> trace(const FlowKey& flow, Time /*now*/) override {
    const auto link = [&](EndpointId end) {
      return components_.intern(ComponentType::kLink, directory_[end].host);
    };
    const PathHop up{link(flow.source), LinkDirection::kUp};
    const PathHop down{link(flow.target), LinkDirection::kDown};
    return TracedPath{{up, down}, {down, up}};
  }

  void submit(std::span<const ProbeRequest> /*requests*/) override {}
  void collect(Time /*now*/, ProbeBatch& /*batch*/) override {}
  void collect(Time /*now*/, std::vector<ThroughputSample>& /*samples*/) override {}
  void collect(Time /*now*/, std::vector<MembershipEvent>& /*events*/) override {}

  Expected<OverlayWalk> walk(const FlowKey& /*flow*/, Time /*now*/) override {
    return fail(ErrorCode::kUnavailable, "no overlay");
  }

  Expected<FlowTableDump> dump(EndpointId /*at*/,
                               std::span<const FlowKey> /*flows*/,
                               Time /*now*/) override {
    return fail(ErrorCode::kUnavailable, "no tables");
  }

  Expected<FlowCounterDump> flow_counters(EndpointId /*at*/, Time /*now*/) override {
    return fail(ErrorCode::kUnavailable, "no tables");
  }

  AgentState alive(EndpointId /*endpoint*/, Time /*now*/) override { return AgentState::kAlive; }

 private:
  EndpointDirectory directory_;
  ComponentTable components_;
  std::uint32_t tasks_ = 0;
};

PipelineOptions quick_options() {
  PipelineOptions options;
  options.probing.probes_per_visit = 2;
  options.window.length = std::chrono::seconds(4);
  options.loss.pool_window = std::chrono::seconds(8);
  options.loss.base_loss_ratio = 0.01;  // some probes are lost, and nothing is wrong
  return options;
}

/// Tasks come a few a turn and live for twelve turns.
class Churn {
 public:
  explicit Churn(std::size_t turns)
      : world_(turns * kMostPerTurn * kEndpointsPerTask),
        pipeline_(quick_options(), world_.telemetry()) {}

  void turn(std::uint32_t arrivals) {
    const Time now = at_turn(turn_++);
    events_.clear();
    for (std::uint32_t i = 0; i < arrivals; ++i) {
      const EndpointRange task = world_.submit(events_, now);
      tell(now, task, MembershipKind::kReady);
      ending_.emplace_back(turn_ + kLifeTurns, task);
    }
    for (; !ending_.empty() && ending_.front().first == turn_; ending_.pop_front()) {
      tell(now, ending_.front().second, MembershipKind::kGone);
    }
    pipeline_.membership(events_);
    requests_.clear();
    pipeline_.plan(now, requests_);
    answer();
    const Time later = now + std::chrono::milliseconds(500);
    pipeline_.observe(later, batch_);
    pipeline_.poll(later);
    pipeline_.take_updates();
  }

  PipelineMemory memory() const { return pipeline_.memory(); }

  std::size_t requests() const { return requests_.size(); }

  const std::vector<Incident>& incidents() const { return pipeline_.incidents(); }

  static constexpr std::uint32_t kMostPerTurn = 8;

 private:
  void tell(Time at, EndpointRange task, MembershipKind kind) {
    for (std::uint32_t i = 0; i < task.count; ++i) {
      events_.push_back({at, task[i], kind});
    }
  }

  void answer() {
    batch_.clear();
    for (const ProbeRequest& request : requests_) {
      batch_.visits.push_back({.pair = request.pair,
                               .start = request.start,
                               .first = static_cast<std::uint32_t>(batch_.rtt_ns.size()),
                               .source_port = request.source_port,
                               .count = request.count});
      for (std::uint32_t i = 0; i < request.count; ++i) {
        const std::uint32_t noise = (7 * request.pair.index() + 13 * draws_++) % 499;
        batch_.rtt_ns.push_back(noise == 1 ? kLostRtt : 16'000 + noise);
        batch_.sent_after_ns.push_back(static_cast<std::uint32_t>(request.spacing.count()) * i);
      }
    }
  }

  ChurnWorld world_;
  Pipeline pipeline_;
  std::size_t turn_ = 0;
  std::uint32_t draws_ = 0;
  std::deque<std::pair<std::size_t, EndpointRange>> ending_;
  std::vector<MembershipEvent> events_;
  std::vector<ProbeRequest> requests_;
  ProbeBatch batch_;
};

TEST(PipelineMemory, FollowsTheTasksThatLive) {
  constexpr std::size_t kTurns = 1000;
  Churn churn(kTurns);
  for (std::size_t i = 0; i < kTurns / 2; ++i) {
    churn.turn(Churn::kMostPerTurn);
  }
  const PipelineMemory early = churn.memory();
  [[maybe_unused]] const std::size_t early_bytes = bytes_in_use();
  EXPECT_EQ(early.tasks, kLifeTurns * Churn::kMostPerTurn);
  EXPECT_EQ(early.sources, early.tasks * kEndpointsPerTask);
  EXPECT_EQ(early.pairs, kTurns / 2 * Churn::kMostPerTurn * kPairsPerTask);
  std::size_t highest = 0;
  for (std::size_t i = kTurns / 2; i < kTurns; ++i) {
    churn.turn(Churn::kMostPerTurn);
    highest = std::max(highest, churn.memory().held_bytes);
  }
  EXPECT_EQ(churn.requests(), early.sources);
  const PipelineMemory late = churn.memory();
  EXPECT_LT(highest, early.held_bytes + early.held_bytes / 20);
  EXPECT_TRUE(churn.incidents().empty());
  EXPECT_EQ(late.tasks, early.tasks);
  EXPECT_EQ(late.sources, early.sources);
  const std::size_t ended_pairs = late.pairs - early.pairs;
  EXPECT_EQ(ended_pairs, 96'000U);
  EXPECT_LT(late.kept_bytes - early.kept_bytes, 14 * ended_pairs);
#ifndef __SANITIZE_ADDRESS__
  // What the columns say of themselves, and the heap: a pair that is held costs half a kilobyte.
  const std::size_t late_bytes = bytes_in_use();
  EXPECT_LT(late_bytes, early_bytes + 40 * ended_pairs);
#endif
  RecordProperty("held_bytes", static_cast<int>(late.held_bytes));
  RecordProperty("kept_bytes_per_pair_x100", static_cast<int>(100 * late.kept_bytes / late.pairs));
}

TEST(PipelineMemory, NothingIsHeldWhenEveryTaskHasEnded) {
  constexpr std::size_t kTurns = 64;  // a whole number of pages of every column
  Churn churn(kTurns + 60);
  for (std::size_t i = 0; i < kTurns; ++i) {
    churn.turn(1);
  }
  EXPECT_GT(churn.memory().held_bytes, 0U);
  for (std::size_t i = 0; i < 60; ++i) {
    churn.turn(0);
  }
  const PipelineMemory memory = churn.memory();
  EXPECT_EQ(memory.tasks, 0U);
  EXPECT_EQ(memory.sources, 0U);
  EXPECT_EQ(memory.held_bytes, 0U);
  EXPECT_EQ(memory.pairs, kTurns * kPairsPerTask);
}

}  // namespace
}  // namespace bonescan
