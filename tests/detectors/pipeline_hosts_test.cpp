// A host all of whose packets are late, and what must not be taken for one, on the fake telemetry.
//
// Windows: eight hosts with four RNICs, a sweep of 7 s, ten healthy windows first.  Visits: sixteen
// hosts with four, a sweep of 15 s; after 400 s every pair has been judged often enough.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int kRails = 4;
constexpr std::int64_t kFault = 400;

FlowPredicate of_host(std::uint32_t host, std::uint32_t rails = kRails) {
  return [=](const FlowKey& flow) {
    const auto here = [&](EndpointId end) {
      return end.index() / kRails == host && end.index() % kRails < rails;
    };
    return here(flow.source) || here(flow.target);
  };
}

FakeEffect slow(FlowPredicate hits, std::int64_t from_s) {
  return {.from = at_s(from_s), .hits = std::move(hits), .extra = std::chrono::microseconds(900)};
}

std::unique_ptr<PipelineBench> bench_of(bool windows) {
  auto bench = std::make_unique<PipelineBench>(fake_endpoints(windows ? 8 : 16, kRails, 4));
  if (windows) {
    bench->options.shift.evaluation = LatencyEvaluation::kWindows;
  }
  return bench;
}

class PipelineHosts : public testing::TestWithParam<bool> {};

TEST_P(PipelineHosts, BlameTheBridgeForAllRnicsAtOnce) {
  const auto bench = bench_of(GetParam());
  bench->world.effects.push_back(slow(of_host(2), kFault));
  bench->run(kFault + 120);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(1));
  const Incident& incident = bench->incidents().front();
  EXPECT_EQ(incident.layer, Layer::kOverlay);
  EXPECT_EQ(incident.symptom, Symptom::kLatency);
  EXPECT_EQ(incident.kind, "bridge-latency");
  EXPECT_THAT(bench->candidates(incident),
              ElementsAre(bench->world.bridge(EndpointId(2 * kRails))));
  EXPECT_TRUE(PipelineBench::line(incident, "overlay-walk")->clear);
  EXPECT_TRUE(PipelineBench::line(incident, "flow-table-diff")->clear);
  EXPECT_THAT(PipelineBench::line(incident, "shared-host")->text, HasSubstr("share no link"));
  EXPECT_FALSE(incident.closed.has_value());
  EXPECT_THAT(incident.action, HasSubstr("flow limit"));
}

TEST_P(PipelineHosts, LeaveOneRnicToItsLink) {
  const auto bench = bench_of(GetParam());
  bench->world.effects.push_back(slow(of_host(2, 1), kFault));
  bench->run(kFault + 120);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(1));
  EXPECT_THAT(bench->candidates(bench->incidents().front()),
              ElementsAre(bench->world.access_link(EndpointId(2 * kRails))));
}

TEST_P(PipelineHosts, LeaveRnicsWhoseTablesDisagreeToTheirTables) {
  const auto bench = bench_of(GetParam());
  bench->world.effects.push_back(slow(of_host(2), kFault));
  bench->world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time now) {
    return at.index() / kRails == 2 && now >= at_s(kFault) ? bench->world.missing_entries(at, flows)
                                                           : bench->world.healthy_dump(at, flows);
  };
  bench->run(kFault + 120);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(kRails));
  for (const Incident& incident : bench->incidents()) {
    EXPECT_EQ(incident.layer, Layer::kRnic);
  }
}

// The first RNIC's link is named while the others are well; when they follow, it was not the link.
TEST_P(PipelineHosts, TurnTheIncidentOfTheFirstRnicIntoTheHosts) {
  const auto bench = bench_of(GetParam());
  bench->world.effects.push_back(slow(of_host(2, 1), kFault));
  bench->world.effects.push_back(slow(of_host(2), kFault + 51));
  std::uint64_t first_id = 0;
  bench->at(kFault + 50, [&] {
    ASSERT_THAT(bench->incidents(), SizeIs(1));
    EXPECT_THAT(bench->candidates(bench->incidents().front()),
                ElementsAre(bench->world.access_link(EndpointId(2 * kRails))));
    first_id = bench->incidents().front().id;
  });
  bench->run(kFault + 170);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(1));
  EXPECT_EQ(bench->incidents().front().id, first_id);
  EXPECT_THAT(bench->candidates(bench->incidents().front()),
              ElementsAre(bench->world.bridge(EndpointId(2 * kRails))));
}

TEST(PipelineHostsUnread, BlameLinksWhereNoDumpNamesABridge) {
  const auto bench = bench_of(false);
  bench->world.effects.push_back(slow(of_host(2), kFault));
  bench->world.dump_script =
      [](EndpointId, std::span<const FlowKey>, Time) -> Expected<FlowTableDump> {
    return fail(ErrorCode::kUnavailable, "no tables here");
  };
  bench->run(kFault + 120);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  EXPECT_THAT(bench->incidents(), testing::Not(SizeIs(0)));
  for (const Incident& incident : bench->incidents()) {
    EXPECT_EQ(incident.kind, "link-latency");
  }
}

INSTANTIATE_TEST_SUITE_P(All, PipelineHosts, testing::Bool(), [](const auto& windows) {
  return windows.param ? "by_window" : "by_visit";
});

}  // namespace
}  // namespace bonescan::fakes
