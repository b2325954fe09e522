// Where an incident is placed that no single link explains: a switch, the ends of a pair, a path
// that has moved, tables that come and go.
#include "detectors/localize/path_book.h"
#include "detectors/schedule/probe_scheduler.h"
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

FakeEffect total_loss(FlowPredicate hits, std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s), .to = at_s(to_s), .hits = std::move(hits), .lose_one_in = 1};
}

bool in_segment(EndpointId endpoint, std::uint32_t segment) {
  return endpoint.index() / 2 == segment;
}

std::vector<Incident> standing(const PipelineBench& bench) {
  std::vector<Incident> open;
  for (const Incident& incident : bench.incidents()) {
    if (!incident.closed) {
      open.push_back(incident);
    }
  }
  return open;
}

TEST(PathBook, KeepsThePathThatAVisitTook) {
  FakeTelemetry world(fake_endpoints(4, 1));
  const FlowKey flow{EndpointId(0), EndpointId(2), 1};
  const auto way = [&](const char* name) {
    TracedPath path;
    path.request.push_back({world.components.intern(ComponentType::kLink, name)});
    return path;
  };
  world.trace_script = [&](const FlowKey&, Time now) -> Expected<TracedPath> {
    return now < at_s(10) ? way("link(a, b)") : now < at_s(20) ? way("link(a, c)") : way("x");
  };
  PathBook book(world.telemetry().paths);
  const auto name = [&](const TracedPath* path) {
    return world.components[path->request.front().link].name;
  };
  EXPECT_EQ(book.at(PairId(0), at_s(1)), nullptr);
  book.path(PairId(0), flow, at_s(1));
  book.retrace(PairId(0), flow, at_s(2));
  EXPECT_TRUE(book.former(PairId(0)).empty()) << "it has not moved";
  book.retrace(PairId(0), flow, at_s(12));
  book.retrace(PairId(0), flow, at_s(22));
  EXPECT_THAT(book.former(PairId(0)), SizeIs(2));
  EXPECT_EQ(name(book.at(PairId(0), at_s(12))), "link(a, b)");
  EXPECT_EQ(name(book.at(PairId(0), at_s(13))), "link(a, c)");
  EXPECT_EQ(name(book.at(PairId(0), at_s(23))), "x");
  book.release({PairId(0), 1});
  EXPECT_TRUE(book.former(PairId(0)).empty());
}

TEST(PathBook, TracesAPathAnewWhenItIsOld) {
  FakeTelemetry world(fake_endpoints(4, 1));
  const FlowKey flow{EndpointId(0), EndpointId(2), 1};
  std::vector<Time> asked;
  bool answers = true;
  world.trace_script = [&](const FlowKey& key, Time now) -> Expected<TracedPath> {
    asked.push_back(now);
    return answers ? Expected<TracedPath>(world.healthy_path(key))
                   : fail(ErrorCode::kPending, "on its way");
  };
  PathBook book(world.telemetry().paths);
  book.set_max_age(std::chrono::seconds(30));
  for (const std::int64_t s : {0, 11, 22, 33, 44}) {
    EXPECT_NE(book.path(PairId(0), flow, at_s(s)), nullptr);
  }
  EXPECT_THAT(asked, ElementsAre(at_s(0), at_s(33)));
  answers = false;
  EXPECT_NE(book.path(PairId(0), flow, at_s(66)), nullptr) << "the old one, until there is another";
  EXPECT_NE(book.path(PairId(0), flow, at_s(77)), nullptr);
  EXPECT_THAT(asked, ElementsAre(at_s(0), at_s(33), at_s(66), at_s(77)));
  EXPECT_NE(book.first(PairId(0), flow, at_s(500)), nullptr);
  EXPECT_THAT(asked, SizeIs(4)) << "however old";
  EXPECT_GT(book.use().over(book.known(PairId(0))->request.front().link), 0u);
  const ComponentId link = book.known(PairId(0))->request.front().link;
  book.release({PairId(0), 1});
  EXPECT_EQ(book.use().over(link), 0u);
}

TEST(PipelinePlacing, NamesASwitchAllOfWhoseLinksAreDead) {
  PipelineBench bench(12, 1);
  bench.world.effects.push_back(total_loss(
      [](const FlowKey& flow) { return in_segment(flow.source, 1) || in_segment(flow.target, 1); },
      60,
      200));
  bench.run(100);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  const std::vector<Incident> open = standing(bench);
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open.front().layer, Layer::kUnderlay);
  EXPECT_EQ(open.front().kind, "switch-down");
  const Component& named = bench.world.components[open.front().candidates.front().component];
  EXPECT_EQ(named.type, ComponentType::kSwitch);
  EXPECT_EQ(named.name, fake_endpoints(12, 1)[EndpointId(2)].tor);
}

TEST(PipelinePlacing, NamesTheLinkThatWasRoutedAround) {
  PipelineBench bench(12, 1);
  const auto leaves = [](const FlowKey& flow) {
    return in_segment(flow.source, 1) != in_segment(flow.target, 1);
  };
  bench.world.effects.push_back(total_loss(leaves, 60, 62));
  const std::string tor = fake_endpoints(12, 1)[EndpointId(2)].tor;
  const ComponentId dead = bench.fabric_link(tor);
  // Its flows go different ways around, as hashing has it.
  const auto around = [&](const FlowKey& flow) {
    const auto way = 2 + (flow.source.index() + flow.target.index()) % 4;
    return bench.world.components.intern(ComponentType::kLink,
                                         "link(" + tor + ", agg-" + std::to_string(way) + ")");
  };
  bench.world.trace_script = [&](const FlowKey& flow, Time now) -> Expected<TracedPath> {
    TracedPath path = bench.world.healthy_path(flow);
    for (auto* way : {&path.request, &path.answer}) {
      for (PathHop& hop : *way) {
        hop.link = hop.link == dead && now >= at_s(61) ? around(flow) : hop.link;
      }
    }
    return path;
  };
  bench.run(100);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  const std::vector<Incident> open = standing(bench);
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_THAT(bench.candidates(open.front()), ElementsAre(dead));
}

TEST(PipelinePlacing, BlamesTheEndsOfAPairThatFailsFromEveryPort) {
  PipelineBench bench(12, 1);
  for (const auto& [from, to] : {std::pair{2u, 7u}, std::pair{7u, 2u}}) {
    bench.world.effects.push_back(total_loss(between(EndpointId(from), EndpointId(to)), 60, 300));
  }
  bench.run(110);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  const std::vector<Incident> open = standing(bench);
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open.front().layer, Layer::kOverlay);
  EXPECT_EQ(open.front().kind, "pair-state");
  EXPECT_EQ(open.front().confidence, 0.5);
  EXPECT_THAT(bench.candidates(open.front()),
              testing::UnorderedElementsAre(bench.world.bridge(EndpointId(2)),
                                            bench.world.bridge(EndpointId(7))));
}

// No other port of the pair takes the way of its planned probes, so the first round tries none.
TEST(PipelinePlacing, AsksForOtherPortsOnceNoLinkExplainsThePair) {
  PipelineBench bench(12, 1);
  for (const auto& [from, to] : {std::pair{2u, 7u}, std::pair{7u, 2u}}) {
    bench.world.effects.push_back(total_loss(between(EndpointId(from), EndpointId(to)), 60, 300));
  }
  bench.world.trace_script = [&](const FlowKey& flow, Time) -> Expected<TracedPath> {
    TracedPath path = bench.world.healthy_path(flow);
    const bool planned =
        flow.source_port == probe_source_port(bench.options.seed, {flow.source, flow.target});
    for (auto* way : {&path.request, &path.answer}) {
      for (std::size_t i = 1; !planned && i + 1 < way->size(); ++i) {
        (*way)[i].link = bench.world.components.intern(
            ComponentType::kLink, bench.world.components[(*way)[i].link].name + " 2");
      }
    }
    return path;
  };
  bench.run(110);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(standing(bench), SizeIs(1));
  EXPECT_EQ(standing(bench).front().kind, "pair-state");
  for (const ProbeRequest& request : bench.world.requests) {
    const bool own = request.ends.source.index() + request.ends.target.index() == 9 &&
                     (request.ends.source.index() == 2 || request.ends.source.index() == 7);
    EXPECT_TRUE(own || request.payload_bytes == bench.options.probing.payload_bytes);
  }
}

TEST(PipelinePlacing, StaysOnLinksWithoutFollowUps) {
  PipelineBench bench(12, 1);
  bench.options.follow_up.probes_per_round = 0;
  for (const auto& [from, to] : {std::pair{2u, 7u}, std::pair{7u, 2u}}) {
    bench.world.effects.push_back(total_loss(between(EndpointId(from), EndpointId(to)), 60, 300));
  }
  bench.run(110);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(standing(bench), SizeIs(1));
  EXPECT_EQ(standing(bench).front().layer, Layer::kUnderlay);
}

TEST(PipelinePlacing, ReadsTablesAgainWhileVisitsGoOnBeingLate) {
  PipelineBench bench(8, 1);
  bench.world.effects.push_back({.from = at_s(200),
                                 .to = at_s(400),
                                 .hits = to_endpoint(EndpointId(3)),
                                 .extra = std::chrono::microseconds(100)});
  bench.world.dump_script =
      [&](EndpointId at, std::span<const FlowKey> flows, Time now) -> Expected<FlowTableDump> {
    return at == EndpointId(3) && now >= at_s(212) ? bench.world.missing_entries(at, flows)
                                                   : bench.world.healthy_dump(at, flows);
  };
  bench.run(260);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  const std::vector<Incident> open = standing(bench);
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open.front().layer, Layer::kRnic);
  EXPECT_THAT(bench.candidates(open.front()), ElementsAre(bench.world.rnic(EndpointId(3))));
}

// Entries that are away for half a second every three: no visit is late as a whole.
class PipelinePartlyLate : public testing::Test {
 protected:
  static constexpr std::int64_t kFault = 400;

  void come_and_go(FlowPredicate hits) {
    for (std::int64_t ms = 0; ms < 60'000; ms += 3'000) {
      const Time from = at_ms(kFault * 1'000 + ms);
      bench_.world.effects.push_back({.from = from,
                                      .to = from + std::chrono::milliseconds(450),
                                      .hits = hits,
                                      .extra = std::chrono::microseconds(100)});
    }
  }

  /// The fake's clock ticks in whole seconds, at which a turn reads.
  void missing_at(EndpointId rnic) {
    bench_.world.dump_script = [this, rnic](
                                   EndpointId at, std::span<const FlowKey> flows, Time now) {
      ++reads_;
      return at == rnic && now >= at_s(kFault) && nanoseconds(now) / 1'000'000'000 % 3 == 1
                 ? bench_.world.missing_entries(at, flows)
                 : bench_.world.healthy_dump(at, flows);
    };
  }

  PipelineBench bench_{24};  // Enough pairs for a threshold by then.
  int reads_ = 0;
};

TEST_F(PipelinePartlyLate, NamesTheRnicWhoseEntriesComeAndGo) {
  come_and_go(to_endpoint(EndpointId(3)));
  missing_at(EndpointId(3));
  bench_.run(kFault + 52);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  const Incident& incident = bench_.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kRnic);
  EXPECT_EQ(incident.kind, "table-mismatch");
  EXPECT_THAT(bench_.candidates(incident), ElementsAre(bench_.world.rnic(EndpointId(3))));
  EXPECT_FALSE(incident.closed.has_value());
}

TEST_F(PipelinePartlyLate, SaysNothingWhileTheTablesAgree) {
  come_and_go(to_endpoint(EndpointId(3)));
  missing_at(EndpointId(4));
  bench_.run(kFault + 300);
  EXPECT_TRUE(bench_.incidents().empty()) << summary(bench_.incidents(), bench_.world.components);
  EXPECT_GT(reads_, 10);
  EXPECT_LE(reads_, 2 * 60) << "both ends, and then the RNIC is left alone";
}

TEST_F(PipelinePartlyLate, ReadsNothingForAPairAlone) {
  come_and_go([](const FlowKey& flow) {
    return std::min(flow.source, flow.target) == EndpointId(3) &&
           std::max(flow.source, flow.target) == EndpointId(7);
  });
  missing_at(EndpointId(3));
  bench_.run(kFault + 100);
  EXPECT_TRUE(bench_.incidents().empty()) << summary(bench_.incidents(), bench_.world.components);
  EXPECT_EQ(reads_, 0);
}

}  // namespace
}  // namespace bonescan::fakes
