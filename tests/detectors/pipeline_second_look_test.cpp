// What a lossy visit sets off: more visits of its pair and of those that share its links.
#include "detectors/schedule/probe_scheduler.h"
#include "tests/support/pipeline_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace bonescan::fakes {
namespace {

using testing::SizeIs;

constexpr std::int64_t kAt = 70;

/// One probe of ten is lost in [kAt, kAt + seconds) by what goes from one RNIC to another.
FakeEffect thin(FlowPredicate hits, std::int64_t seconds) {
  return {.from = at_s(kAt),
          .to = at_s(kAt + seconds),
          .hits = std::move(hits),
          .lose_one_in = 10,
          .least_bytes = 0};
}

/// Sizes tell a second look from a planned visit and from a control.
std::vector<ProbeRequest> looks(const PipelineBench& bench) {
  std::vector<ProbeRequest> found;
  for (const ProbeRequest& request : bench.world.requests) {
    if (request.payload_bytes == bench.options.probing.payload_bytes + 8) {
      found.push_back(request);
    }
  }
  return found;
}

std::size_t probes_in(const std::vector<ProbeRequest>& requests, std::int64_t second) {
  std::size_t probes = 0;
  for (const ProbeRequest& request : requests) {
    probes += request.start >= at_s(second) && request.start < at_s(second + 1) ? request.count : 0;
  }
  return probes;
}

TEST(PipelineSecondLook, IsNotTakenWhereNothingIsLost) {
  PipelineBench bench(6, 2);
  bench.run(120);
  EXPECT_THAT(looks(bench), SizeIs(0));
}

// The one visit of 0 -> 3 in these five seconds loses a probe, and no other.
TEST(PipelineSecondLook, EndsWhenWhatItTriesIsClean) {
  PipelineBench bench(6);
  FakeEffect once = thin(between(EndpointId(0), EndpointId(3)), 5);
  once.most_bytes = 64;  // Second looks are larger, and pass.
  bench.world.effects.push_back(once);
  bench.run(120);
  EXPECT_THAT(bench.incidents(), SizeIs(0));
  const std::vector<ProbeRequest> asked = looks(bench);
  ASSERT_FALSE(asked.empty());
  std::map<Pair, std::size_t> visits;
  for (const ProbeRequest& request : asked) {
    ++visits[request.ends];
    // 1.5 s: the visit that lost something was complete, and the next period began.
    EXPECT_GE(request.start, at_s(kAt));
    EXPECT_LE(request.start, at_s(kAt + 5 + 2 + 8));
    const bool both_cross =
        (request.ends.source.index() / 2 == 0) != (request.ends.target.index() / 2 == 0);
    const bool far_end =
        (request.ends.source.index() / 2 == 1) != (request.ends.target.index() / 2 == 1);
    EXPECT_TRUE(both_cross || far_end) << "crosses nothing that the lossy visit crossed";
  }
  const Pair own{EndpointId(0), EndpointId(3)};
  EXPECT_GE(visits[own], asked.size() / 5);
  EXPECT_LT(visits[own], asked.size());
  EXPECT_LE(asked.size(), 32u);
}

TEST(PipelineSecondLook, StaysWithinTheBudgetOfFollowUps) {
  for (const std::size_t budget :
       {std::size_t{0}, std::size_t{9}, std::size_t{20}, std::size_t{40}}) {
    SCOPED_TRACE(budget);
    PipelineBench bench(12, 2);
    bench.options.follow_up.probes_per_round = budget;
    bench.world.effects.push_back(thin([](const FlowKey&) { return true; }, 20));
    bench.run(110);
    std::vector<ProbeRequest> extra;
    for (const ProbeRequest& request : bench.world.requests) {
      if (request.payload_bytes != bench.options.probing.payload_bytes ||
          request.source_port != probe_source_port(bench.options.seed, request.ends)) {
        extra.push_back(request);
      }
    }
    EXPECT_EQ(extra.empty(), budget == 0);
    for (std::int64_t second = kAt; second < 110; ++second) {
      EXPECT_LE(probes_in(extra, second), budget) << second;
    }
  }
}

TEST(PipelineSecondLook, IsNotThePapers) {
  PipelineBench bench(6);
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.world.effects.push_back(thin(to_endpoint(EndpointId(3)), 5));
  bench.run(110);
  EXPECT_THAT(looks(bench), SizeIs(0));
}

// Windows hold what was planned, whatever else is asked.
TEST(PipelineSecondLook, ReachesNoWindow) {
  const auto windows = [](std::size_t budget) {
    PipelineBench bench(6);
    bench.options.follow_up.probes_per_round = budget;
    FakeEffect once = thin(between(EndpointId(0), EndpointId(3)), 5);
    once.most_bytes = 64;
    bench.world.effects.push_back(once);
    bench.run(120);
    EXPECT_EQ(looks(bench).empty(), budget == 0);
    std::vector<std::uint64_t> probes;
    for (const WindowRecord& window : bench.windows) {
      probes.push_back(window.probes);
      probes.push_back(window.lost);
    }
    return probes;
  };
  EXPECT_EQ(windows(40), windows(0));
}

// Visits of one pair are a sweep of 15 s apart; four of them must have lost something.
TEST(PipelineSecondLook, FindsGrayLossOfFewPairsSooner) {
  const auto opened = [](std::size_t budget) {
    PipelineBench bench(16);
    bench.options.follow_up.probes_per_round = budget;
    bench.world.effects.push_back(
        {.from = at_s(kAt), .hits = between(EndpointId(0), EndpointId(3)), .lose_one_in = 9});
    bench.run(300);
    return bench.opened(1);
  };
  const Duration without = opened(0) - at_s(kAt);
  EXPECT_GT(without, std::chrono::seconds(20));
  EXPECT_LT(without, std::chrono::seconds(60));
  EXPECT_LT(opened(40) - at_s(kAt), without - std::chrono::seconds(15));
}

}  // namespace
}  // namespace bonescan::fakes
