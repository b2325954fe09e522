// What hosts' findings have in common, and what they say of a link that is accused.
#include "tests/support/pipeline_bench.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Reports of the endpoints for which `hits` are spoiled from `from` on.
void spoil(PipelineBench& bench,
           std::vector<std::uint32_t> endpoints,
           std::int64_t from,
           std::function<void(HostReport&, EndpointId)> change) {
  bench.world.host_script = [&bench, endpoints, from, change](EndpointId at, Time now) {
    HostReport report = bench.world.healthy_report(at, now);
    report.bond = {{bench.world.endpoints()[at].name, true}, {"port-1", true}};
    if (now >= at_s(from) && std::count(endpoints.begin(), endpoints.end(), at.index()) > 0) {
      change(report, at);
    }
    return Expected<HostReport>(report);
  };
}

std::string named(const PipelineBench& bench, const Incident& incident) {
  return bench.world.components[incident.candidates.front().component].name;
}

// Eight endpoints on four hosts: 2 and 3 are one host's.
TEST(PipelineHostParts, TwoSlowSlotsOfAHostAreItsBoards) {
  PipelineBench bench(4, 2);
  spoil(bench, {2, 3}, 60, [](HostReport& report, EndpointId) { report.pcie->speed_gts = 16.0; });
  bench.run(200);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().kind, "pcie-speed");
  EXPECT_EQ(named(bench, bench.incidents().front()), bench.world.endpoints()[EndpointId(2)].host);
}

TEST(PipelineHostParts, SlowSlotsOfTwoHostsAreTwo) {
  PipelineBench bench(4, 2);
  spoil(bench, {2, 4}, 60, [](HostReport& report, EndpointId) { report.pcie->speed_gts = 16.0; });
  bench.run(200);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  EXPECT_THAT(bench.incidents(), SizeIs(2));
}

TEST(PipelineHostParts, ALegThatABondHasLostIsNamedByItsLink) {
  PipelineBench bench(4, 2);
  spoil(bench, {2}, 60, [](HostReport& report, EndpointId) { report.bond[0].up = false; });
  bench.run(200);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_THAT(bench.candidates(bench.incidents().front()),
              ElementsAre(bench.world.access_link(EndpointId(2))));
}

// Probes have moved to the leg that is left before anybody asks what was lost on which.
TEST(PipelineHostParts, ALostLegTakesOverWhatTheOtherIsAccusedOf) {
  PipelineBench bench(8, 1);
  const ComponentId down = bench.world.access_link(EndpointId(2));
  const Endpoint& bonded = bench.world.endpoints()[EndpointId(2)];
  const ComponentId left = bench.world.components.intern(
      ComponentType::kLink, "link(" + bonded.name + "/port-1, " + bonded.tor + ")");
  bench.world.trace_script = [&](const FlowKey& flow, Time) -> Expected<TracedPath> {
    TracedPath path = bench.world.healthy_path(flow);
    for (auto* way : {&path.request, &path.answer}) {
      for (PathHop& hop : *way) {
        hop.link = hop.link == down ? left : hop.link;
      }
    }
    return path;
  };
  bench.world.effects.push_back(
      {.from = at_s(60), .to = at_s(64), .hits = to_endpoint(EndpointId(2)), .lose_one_in = 4});
  spoil(bench, {2}, 70, [](HostReport& report, EndpointId) { report.bond[0].up = false; });
  ComponentId before;
  bench.at(69, [&] { before = bench.incidents().at(0).candidates.front().component; });
  bench.run(120);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  EXPECT_EQ(before, left);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_THAT(bench.candidates(bench.incidents().front()), ElementsAre(down));
}

// 0 and 2 are on two hosts of one segment, so on one ToR; 4 is on another.
TEST(PipelineHostParts, BondsThatLostALegToOneSwitchAreThatSwitchs) {
  for (const std::uint32_t other : {2U, 4U}) {
    SCOPED_TRACE(other);
    PipelineBench bench(4, 2);
    spoil(bench, {0, other}, 60, [](HostReport& report, EndpointId) { report.bond[0].up = false; });
    bench.run(200);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    if (other == 4U) {
      EXPECT_THAT(bench.incidents(), SizeIs(2));
      continue;
    }
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    EXPECT_EQ(bench.incidents().front().layer, Layer::kHost);
    EXPECT_EQ(named(bench, bench.incidents().front()), bench.world.endpoints()[EndpointId(0)].tor);
  }
}

// Probes blame the link of a late RNIC; its slot says why.
TEST(PipelineHostParts, ASlotTakesOverWhatItsLinkIsAccusedOf) {
  constexpr std::int64_t kFault = 420;
  PipelineBench bench(fake_endpoints(16, 1, 4));
  bench.world.effects.push_back({.from = at_s(kFault),
                                 .hits =
                                     [](const FlowKey& flow) {
                                       return flow.source == EndpointId(5) ||
                                              flow.target == EndpointId(5);
                                     },
                                 .extra = std::chrono::microseconds(900)});
  bench.options.host_check.round_periods = 1'000;
  spoil(bench, {5}, kFault, [](HostReport& report, EndpointId) { report.pcie->width = 8; });
  bench.run(kFault + 60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kHost);
  EXPECT_EQ(incident.kind, "pcie-width");
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.rnic(EndpointId(5))));
  EXPECT_THAT(PipelineBench::line(incident, "host-check")->text, HasSubstr("8 of 16 lanes"));
}

// Too little for a slow pair, but the path says what happened.
TEST(PipelineCables, APathOverAnotherRnicsCableIsProof) {
  constexpr std::int64_t kFault = 420;
  for (const bool swapped : {false, true}) {
    SCOPED_TRACE(swapped);
    PipelineBench bench(fake_endpoints(16, 2, 4));
    const auto hits = [](const FlowKey& flow) {
      return flow.source == EndpointId(4) && flow.target == EndpointId(6);
    };
    bench.world.effects.push_back(
        {.from = at_s(kFault), .hits = hits, .extra = std::chrono::nanoseconds(3'000)});
    bench.world.trace_script = [&bench, hits, swapped, from = at_s(kFault)](const FlowKey& flow,
                                                                            Time now) {
      TracedPath path = bench.world.healthy_path(flow);
      if (swapped && now >= from && hits(flow)) {
        path.request.front().link = bench.world.access_link(EndpointId(5));
        path.answer.back().link = path.request.front().link;
      }
      return Expected<TracedPath>(path);
    };
    bench.run(kFault + 60);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    if (!swapped) {
      for (const Incident& incident : bench.incidents()) {
        EXPECT_NE(incident.kind, "miscabled");
      }
      continue;
    }
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    const Incident& incident = bench.incidents().front();
    EXPECT_EQ(incident.kind, "miscabled");
    EXPECT_EQ(incident.layer, Layer::kUnderlay);
    EXPECT_THAT(bench.candidates(incident),
                ElementsAre(bench.world.access_link(EndpointId(4)),
                            bench.world.access_link(EndpointId(5))));
    ASSERT_NE(PipelineBench::line(incident, "path-trace"), nullptr);
  }
}

}  // namespace
}  // namespace bonescan::fakes
