// Queues that come back at one link: what is said of a link that is full for a moment in every
// step.
//
// Twenty-four hosts of one rail, six to a ToR; every ToR has a link to each of four aggregation
// switches and chooses among them by a hash, each way of its own.  Every eight seconds some probes
// of a visit, four of ten, wait: no visit is late as a whole.
#include "detectors/localize/path_hops.h"
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kHosts = 24;
constexpr std::int64_t kFault = 600;
constexpr std::int64_t kStep = 8;

class PipelineQueues : public testing::Test {
 protected:
  PipelineQueues() {
    bench_.world.trace_script = [this](const FlowKey& flow, Time) -> Expected<TracedPath> {
      return TracedPath{one_way(flow.source, flow.target), one_way(flow.target, flow.source)};
    };
  }

  std::string tor(EndpointId endpoint) const { return bench_.world.endpoints()[endpoint].tor; }

  ComponentId uplink(int segment, std::uint32_t agg) {
    return bench_.world.components.intern(ComponentType::kLink,
                                          fmt::format("link(tor-{}.0, agg-{})", segment, agg));
  }

  std::vector<PathHop> one_way(EndpointId from, EndpointId to) {
    const auto access = [&](EndpointId end) {
      return bench_.world.components.intern(
          ComponentType::kLink,
          fmt::format("link({}, {})", bench_.world.endpoints()[end].name, tor(end)));
    };
    if (tor(from) == tor(to)) {
      return {{access(from), LinkDirection::kUp}, {access(to), LinkDirection::kDown}};
    }
    std::uint32_t hash = (from.index() * 131 + to.index() * 31) * 2654435761U;
    hash ^= hash >> 15;
    return {{access(from), LinkDirection::kUp},
            {uplink(segment(from), hash % 4), LinkDirection::kUp},
            {uplink(segment(to), hash % 4), LinkDirection::kDown},
            {access(to), LinkDirection::kDown}};
  }

  static int segment(EndpointId endpoint) { return static_cast<int>(endpoint.index() / 6) + 1; }

  FlowPredicate over(std::vector<PathHop> ways) {
    return [this, ways = std::move(ways)](const FlowKey& flow) {
      const TracedPath path{one_way(flow.source, flow.target), one_way(flow.target, flow.source)};
      return std::any_of(
          ways.begin(), ways.end(), [&](const PathHop& way) { return crosses(path, way); });
    };
  }

  /// The burst of a step: two seconds, in each of which four of ten probes wait.
  void burst(std::int64_t at, const FlowPredicate& hits) {
    for (const std::int64_t second : {at, at + 1}) {
      const Time from = at_s(second) + std::chrono::milliseconds(250);
      bench_.world.effects.push_back({.from = from,
                                      .to = from + std::chrono::milliseconds(400),
                                      .hits = hits,
                                      .extra = std::chrono::microseconds(40)});
    }
  }

  void bursts(std::int64_t from, std::int64_t to, const FlowPredicate& hits) {
    for (std::int64_t at = from; at < to; at += kStep) {
      burst(at, hits);
    }
  }

  /// Incidents that say that a queue comes back.
  std::ptrdiff_t queues() const {
    return std::count_if(
        bench_.incidents().begin(), bench_.incidents().end(), [](const Incident& incident) {
          return std::any_of(
              incident.evidence.begin(), incident.evidence.end(), [](const Evidence& line) {
                return line.text.find("a queue comes back") != std::string::npos;
              });
        });
  }

  PipelineBench bench_{fake_endpoints(kHosts, 1, 6)};
};

TEST_F(PipelineQueues, NameTheLinkAtTheThirdStep) {
  bursts(kFault, kFault + 60, over({{uplink(2, 1), LinkDirection::kUp}}));
  bench_.run(kFault + 60);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  const Incident& incident = bench_.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.symptom, Symptom::kLatency);
  EXPECT_EQ(incident.kind, "link-latency");
  EXPECT_THAT(bench_.candidates(incident), ElementsAre(uplink(2, 1)));
  EXPECT_GE(incident.opened, at_s(kFault + 2 * kStep));
  EXPECT_LE(incident.opened, at_s(kFault + 2 * kStep + 4));
  EXPECT_EQ(queues(), 1);
}

TEST_F(PipelineQueues, SayNothingBeforeTheThirdStep) {
  bursts(kFault, kFault + 2 * kStep, over({{uplink(2, 1), LinkDirection::kUp}}));
  bench_.run(kFault + 120);
  EXPECT_THAT(bench_.incidents(), IsEmpty());
}

TEST_F(PipelineQueues, AreNoFailureOfALinkWhenTheWholeJobWaits) {
  bursts(kFault, kFault + 60, every_flow());
  bench_.run(kFault + 60);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  EXPECT_EQ(queues(), 0);
}

TEST_F(PipelineQueues, AreNoFailureWhereTheyWereFromTheBeginning) {
  bursts(40, kFault, over({{uplink(2, 1), LinkDirection::kUp}}));
  bench_.run(kFault);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  EXPECT_THAT(bench_.incidents(), IsEmpty());
}

/// A ToR to which too much comes down, and one whose uplink to the same switch is paused for it.
struct Chain {
  int full;
  int waits;
  std::uint32_t agg;
};

class PipelineQueueChains : public PipelineQueues, public testing::WithParamInterface<Chain> {};

// Whoever goes up over the paused port waits as well, wherever he goes.
TEST_P(PipelineQueueChains, NameTheLinkForWhichOthersWait) {
  const auto [full, waits, agg] = GetParam();
  bursts(
      kFault,
      kFault + 60,
      over({{uplink(full, agg), LinkDirection::kDown}, {uplink(waits, agg), LinkDirection::kUp}}));
  bench_.run(kFault + 60);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  EXPECT_THAT(bench_.candidates(bench_.incidents().front()), ElementsAre(uplink(full, agg)));
}

INSTANTIATE_TEST_SUITE_P(Chains,
                         PipelineQueueChains,
                         testing::Values(Chain{2, 3, 1},
                                         Chain{3, 2, 1},
                                         Chain{1, 4, 2},
                                         Chain{4, 1, 2},
                                         Chain{2, 4, 0},
                                         Chain{4, 3, 3}));

TEST_F(PipelineQueues, AreNoPartOfThePapersConfiguration) {
  bench_.options.configuration = DetectionConfiguration::kPaper;
  bursts(kFault, kFault + 60, over({{uplink(2, 1), LinkDirection::kUp}}));
  bench_.run(kFault + 60);
  EXPECT_EQ(queues(), 0);
}

}  // namespace
}  // namespace bonescan::fakes
