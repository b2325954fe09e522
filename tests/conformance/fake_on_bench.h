// The fake world on the bench: four hosts, losses, local errors, a broken rule, an offload entry
// gone.  Where the directory grows, one task comes later and another comes and crashes at once.
#pragma once

#include "tests/conformance/telemetry_battery.h"
#include "tests/support/fake_telemetry.h"

#include <memory>

namespace bonescan::conformance {

class FakeOnBench final : public BackendOnBench {
 public:
  enum class Answers {
    kPrompt,
    kPending
  };

  enum class Directory {
    kFixed,
    kGrows
  };

  explicit FakeOnBench(Answers answers = Answers::kPrompt, Directory directory = Directory::kFixed)
      : world_(fakes::fake_endpoints(4, 2)) {
    world_.answers_pend = answers == Answers::kPending;
    world_.all_ready(fakes::at_ms(700));
    world_.events.push_back({fakes::at_s(4), EndpointId(7), MembershipKind::kStopping});
    world_.events.push_back({fakes::at_s(5), EndpointId(7), MembershipKind::kGone});
    if (directory == Directory::kGrows) {
      later_ = world_.submit(fakes::at_ms(1500), fakes::fake_task("later", 4, 2, 2));
      world_.announce(fakes::at_ms(2300), later_, MembershipKind::kReady);
      const EndpointRange crash =
          world_.submit(fakes::at_ms(2500), fakes::fake_task("crash", 6, 2, 1));
      world_.announce(fakes::at_ms(3500), crash, MembershipKind::kGone);
    }
    world_.agents[EndpointId(6)] = AgentState::kDead;
    for (int second = 1; second <= kTurns; ++second) {
      for (std::uint32_t i = 0; i < world_.endpoints().size(); ++i) {
        world_.samples.push_back({fakes::at_s(second), EndpointId(i), 1'000'000ull * i});
      }
    }
    world_.effects.push_back(
        {.hits = fakes::between(EndpointId(0), EndpointId(2)), .lose_one_in = 4});
    world_.effects.push_back(
        {.from = fakes::at_s(4), .hits = fakes::to_endpoint(EndpointId(5)), .lose_one_in = 1});
    world_.effects.push_back({.from = fakes::at_s(3),
                              .to = fakes::at_s(4),
                              .hits = fakes::between(EndpointId(1), EndpointId(3)),
                              .local_error = true});
    world_.walk_script = [this](const FlowKey& flow, Time) -> Expected<OverlayWalk> {
      return flow.target == EndpointId(4) ? world_.broken_walk(flow) : world_.healthy_walk(flow);
    };
    world_.dump_script = [this](EndpointId at, std::span<const FlowKey> flows, Time) {
      return at == EndpointId(0) ? world_.missing_entries(at, flows)
                                 : world_.healthy_dump(at, flows);
    };
    world_.trace_script = [this](const FlowKey& flow, Time) -> Expected<TracedPath> {
      if (flow.source == EndpointId(2)) {
        return fail(ErrorCode::kUnavailable, "the routers do not answer");
      }
      return world_.healthy_path(flow);
    };
  }

  Telemetry telemetry() override { return world_.telemetry(); }

  Time ready_at() const override { return fakes::at_s(1); }

  /// All same-rail pairs of the start.
  PairTable pairs() const override {
    PairTable pairs;
    for (std::uint32_t source = 0; source < kCount; ++source) {
      for (std::uint32_t target = source % 2; target < kCount; target += 2) {
        if (source != target) {
          pairs.push_back({EndpointId(source), EndpointId(target)});
        }
      }
    }
    return pairs;
  }

  PairTable later_pairs() const override {
    PairTable pairs;
    for (std::uint32_t i = 0; i < later_.count; ++i) {
      pairs.push_back({later_[i], later_[(i + 2) % 4]});
    }
    return pairs;
  }

  Time later_ready_at() const override { return fakes::at_s(3); }

  fakes::FakeTelemetry& world() { return world_; }

 private:
  static constexpr std::uint32_t kCount = 8;

  EndpointRange later_;  ///< two hosts with two RNICs
  fakes::FakeTelemetry world_;
};

}  // namespace bonescan::conformance
