// Late visits to incidents, on the fake telemetry.
//
// Twenty-four hosts of one rail: 552 pairs and a sweep of 23 s.  After 400 s every pair has been
// judged often enough for a threshold.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::int64_t kFault = 400;
constexpr int kHosts = 24;

FakeEffect slow(FlowPredicate hits, Duration extra, std::int64_t from_s, Time to = kForever) {
  return {.from = at_s(from_s), .to = to, .hits = std::move(hits), .extra = extra};
}

FlowPredicate either_way(std::uint32_t a, std::uint32_t b) {
  return [a, b](const FlowKey& flow) {
    const auto low = std::min(flow.source, flow.target);
    const auto high = std::max(flow.source, flow.target);
    return low == EndpointId(a) && high == EndpointId(b);
  };
}

bool crosses_first_tor(const FlowKey& flow) {
  return (flow.source < EndpointId(2)) != (flow.target < EndpointId(2));
}

/// Start of the turn in which a late visit was first told.
Time first_shift(const PipelineBench& bench) {
  for (const Verdict& verdict : bench.verdicts) {
    if (verdict.rule == VerdictRule::kShift) {
      return verdict.at;
    }
  }
  return kForever;
}

TEST(PipelineVisits, ReportsALonePairAtItsFirstLateVisit) {
  PipelineBench bench(kHosts);
  bench.world.effects.push_back(slow(either_way(0, 5), std::chrono::microseconds(104), kFault));
  bench.run(kFault + 100);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1)) << "both directions are one incident";
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.kind, "slow-pair");
  EXPECT_EQ(incident.symptom, Symptom::kLatency);
  EXPECT_THAT(incident.pairs, ElementsAre(bench.pair(0, 5), bench.pair(5, 0)));
  EXPECT_EQ(incident.opened, first_shift(bench));
  EXPECT_LE(incident.opened, at_s(kFault + kHosts + 1));
  ASSERT_NE(PipelineBench::line(incident, "visit-shift"), nullptr);
  EXPECT_TRUE(PipelineBench::line(incident, "flow-table-diff")->clear);
  EXPECT_FALSE(incident.closed.has_value());
}

TEST(PipelineVisits, NamesTheLinkWithinSecondsAndRefinesIt) {
  PipelineBench bench(kHosts);
  bench.world.effects.push_back(slow(crosses_first_tor, std::chrono::microseconds(20), kFault));
  bench.run(kFault + 100);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.kind, "link-latency");
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.fabric_link("tor-1.0")));
  EXPECT_THAT(incident.pairs, SizeIs(2 * 2 * (kHosts - 2)));
  EXPECT_LE(incident.opened, at_s(kFault + 4));
}

TEST(PipelineVisits, AsksTheTablesBeforeALinkOrAPairIsBlamed) {
  PipelineBench bench(kHosts);
  bench.world.effects.push_back(
      slow(to_endpoint(EndpointId(3)), std::chrono::microseconds(104), kFault));
  bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time now) {
    return at == EndpointId(3) && now >= at_s(kFault) ? bench.world.missing_entries(at, flows)
                                                      : bench.world.healthy_dump(at, flows);
  };
  bench.run(kFault + 100);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kRnic);
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.rnic(EndpointId(3))));
  EXPECT_EQ(incident.opened, first_shift(bench));
}

TEST(PipelineVisits, RefinesALonePairWhenItGetsCompany) {
  PipelineBench bench(kHosts);
  // One pair of the link fails first, everything else that crosses it half a minute later.
  bench.world.effects.push_back(slow(either_way(0, 5), std::chrono::microseconds(104), kFault));
  bench.world.effects.push_back(
      slow([](const FlowKey& flow) { return crosses_first_tor(flow) && !either_way(0, 5)(flow); },
           std::chrono::microseconds(104),
           kFault + 30));
  bench.run(kFault + 120);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_FALSE(bench.incidents().empty());
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.fabric_link("tor-1.0")));
  EXPECT_LE(incident.opened, at_s(kFault + kHosts + 1));
  EXPECT_FALSE(incident.closed.has_value());
  // What others that fail later open for themselves goes on in the first.
  for (std::size_t i = 1; i < bench.incidents().size(); ++i) {
    EXPECT_TRUE(bench.incidents()[i].closed.has_value());
    EXPECT_EQ(bench.candidates(bench.incidents()[i]), bench.candidates(incident));
  }
}

TEST(PipelineVisits, ClosesWhenThePairIsBack) {
  PipelineBench bench(kHosts);
  bench.world.effects.push_back(
      slow(either_way(0, 5), std::chrono::microseconds(104), kFault, at_s(kFault + 60)));
  bench.run(kFault + 260);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  ASSERT_TRUE(bench.incidents().front().closed.has_value());
  EXPECT_LE(*bench.incidents().front().closed, at_s(kFault + 60 + 90 + 30));
}

TEST(PipelineVisits, SmallStepsAreVerdictsAndNoIncidents) {
  PipelineBench bench(kHosts);
  bench.world.effects.push_back(slow(either_way(0, 5), std::chrono::microseconds(3), kFault));
  bench.run(kFault + 100);
  EXPECT_NE(first_shift(bench), kForever);
  EXPECT_THAT(bench.incidents(), SizeIs(0));
}

TEST(PipelineVisits, WaitForWindowsWhereTheyAreSwitchedOff) {
  for (const bool paper : {false, true}) {
    SCOPED_TRACE(paper ? "paper" : "bonescan");
    PipelineBench bench(kHosts);
    bench.options.shift.evaluation =
        paper ? LatencyEvaluation::kSliding : LatencyEvaluation::kWindows;
    if (paper) {
      bench.options.configuration = DetectionConfiguration::kPaper;
    }
    bench.world.effects.push_back(
        slow(crosses_first_tor, std::chrono::microseconds(104), kFault + 5));
    bench.run(kFault + 100);
    EXPECT_EQ(first_shift(bench), kForever);
    EXPECT_THAT(bench.incidents(), testing::Not(SizeIs(0)));
  }
}

/// Times from a step of 7.5 on one pair to its incident, one disjoint pair after the other.
std::vector<double> delays_s(int hosts, std::uint64_t seed) {
  PipelineBench bench(hosts);
  bench.options.seed = seed;
  const std::int64_t first_s = 8000 / hosts + 10 * hosts;
  std::vector<Time> onsets;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(hosts) / 2; ++i) {
    // Onsets fall anywhere in a turn.
    onsets.push_back(at_s(first_s) + std::chrono::milliseconds(71'370) * i);
    bench.world.effects.push_back({.from = onsets.back(),
                                   .to = onsets.back() + std::chrono::seconds(40),
                                   .hits = either_way(i, i + static_cast<std::uint32_t>(hosts) / 2),
                                   .extra = std::chrono::microseconds(104)});
  }
  bench.run(first_s + 72 * hosts / 2 + 60);
  std::vector<double> delays;
  EXPECT_THAT(bench.incidents(), SizeIs(onsets.size()))
      << summary(bench.incidents(), bench.world.components);
  for (std::size_t i = 0; i < std::min(onsets.size(), bench.incidents().size()); ++i) {
    delays.push_back(seconds(bench.incidents()[i].opened - onsets[i]));
  }
  return delays;
}

// At the paper's sweeps; every pair is probed from both ends.
TEST(PipelineVisits, FindAStepOfOnePairWithinHalfASweep) {
  for (const int sweep_s : {9, 17, 25}) {
    SCOPED_TRACE(sweep_s);
    double total_s = 0.0;
    double count = 0.0;
    for (const std::uint64_t seed : {2U, 4U}) {
      for (const double delay_s : delays_s(sweep_s + 1, seed)) {
        EXPECT_GE(delay_s, 0.0);
        total_s += delay_s;
        count += 1.0;
      }
    }
    RecordProperty(fmt::format("mean_s_at_sweep_{}", sweep_s),
                   fmt::format("{:.2f}", total_s / count));
    EXPECT_LE(total_s / count, sweep_s / 2.0 + 2.0);
  }
}

}  // namespace
}  // namespace bonescan::fakes
