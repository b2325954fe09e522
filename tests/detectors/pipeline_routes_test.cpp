// Links that routing takes out of service: what is said when only the paths tell.
//
// Twelve hosts of one rail, two to a ToR; every ToR has a link to each of four aggregation switches
// and spreads its flows over those that are in service, each way by a hash of its own.
#include "tests/support/pipeline_bench.h"

#include <cmath>
#include <set>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kHosts = 12;
constexpr std::int64_t kFault = 60;

class PipelineRoutes : public testing::Test {
 protected:
  PipelineRoutes() {
    bench_.world.trace_script = [this](const FlowKey& flow, Time now) -> Expected<TracedPath> {
      if (now < trace_from_) {
        return fail(ErrorCode::kUnavailable, "not now");
      }
      TracedPath path{one_way(flow.source, flow.target, now), {}};
      if (symmetric_) {
        for (auto hop = path.request.rbegin(); hop != path.request.rend(); ++hop) {
          path.answer.push_back(
              {hop->link,
               hop->direction == LinkDirection::kUp ? LinkDirection::kDown : LinkDirection::kUp});
        }
      } else {
        path.answer = one_way(flow.target, flow.source, now);
      }
      return path;
    };
  }

  ComponentId link(const std::string& from, const std::string& to) {
    return bench_.world.components.intern(ComponentType::kLink, "link(" + from + ", " + to + ")");
  }

  ComponentId uplink(std::uint32_t endpoint, int agg) {
    return link(tor(EndpointId(endpoint)), "agg-" + std::to_string(agg));
  }

  std::string tor(EndpointId endpoint) const { return bench_.world.endpoints()[endpoint].tor; }

  bool in_service(EndpointId endpoint, std::uint32_t agg, Time now) {
    return now < at_s(kFault) || now >= back_ ||
           !out_.contains(uplink(endpoint.index(), static_cast<int>(agg)));
  }

  std::vector<PathHop> one_way(EndpointId from, EndpointId to, Time now) {
    const auto access = [&](EndpointId end) {
      return link(bench_.world.endpoints()[end].name, tor(end));
    };
    if (tor(from) == tor(to)) {
      return {{access(from), LinkDirection::kUp}, {access(to), LinkDirection::kDown}};
    }
    std::vector<std::uint32_t> ways;
    for (std::uint32_t agg = 0; agg < 4; ++agg) {
      const bool chosen = agg < 2 || tor(from) != polarized_ || now < at_s(kFault) || now >= back_;
      if (chosen && in_service(from, agg, now) && in_service(to, agg, now + head_start_)) {
        ways.push_back(agg);
      }
    }
    const std::uint32_t salt = now < at_s(kFault) ? 0 : salt_;
    std::uint32_t hash = (from.index() * 131 + to.index() * 31 + salt) * 2654435761U;
    hash ^= hash >> 15;
    const auto agg = static_cast<int>(ways[hash % ways.size()]);
    return {{access(from), LinkDirection::kUp},
            {uplink(from.index(), agg), LinkDirection::kUp},
            {uplink(to.index(), agg), LinkDirection::kDown},
            {access(to), LinkDirection::kDown}};
  }

  bool crosses_out(EndpointId from, EndpointId to, Time now) {
    const std::vector<PathHop> way = one_way(from, to, now);
    return std::any_of(
        way.begin(), way.end(), [this](const PathHop& hop) { return out_.contains(hop.link); });
  }

  std::vector<Incident> standing() const {
    std::vector<Incident> open;
    for (const Incident& incident : bench_.incidents()) {
      if (!incident.closed) {
        open.push_back(incident);
      }
    }
    return open;
  }

  PipelineBench bench_{kHosts};
  std::set<ComponentId> out_;  ///< links out of service since kFault
  Time back_ = kForever;
  Time trace_from_ = kStartOfRun;
  std::uint32_t salt_ = 0;
  bool symmetric_ = false;
  std::string polarized_;  ///< a ToR that uses two of its uplinks since kFault
  Duration head_start_{};  ///< what comes down a link leaves it so much later than what goes up
};

TEST_F(PipelineRoutes, NamesALinkOnWhichNobodyLostAnything) {
  out_ = {uplink(2, 1)};
  bench_.run(kFault + 52);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  const Incident& incident = bench_.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.kind, "link-withdrawn");
  EXPECT_THAT(bench_.candidates(incident), ElementsAre(uplink(2, 1)));
  EXPECT_GE(incident.pairs.size(), 2u);
  for (const PairId pair : incident.pairs) {
    const Pair& ends = bench_.pipeline().pairs()[pair];
    EXPECT_TRUE(tor(ends.source) == tor(EndpointId(2)) || tor(ends.target) == tor(EndpointId(2)));
  }
  ASSERT_NE(PipelineBench::line(incident, "path-trace"), nullptr);
  EXPECT_FALSE(incident.closed.has_value()) << "it is out of service";
}

TEST_F(PipelineRoutes, LastsUntilTheLinkIsUsedAgain) {
  out_ = {uplink(2, 1)};
  back_ = at_s(300);
  bench_.run(500);
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  ASSERT_TRUE(bench_.incidents().front().closed.has_value());
  EXPECT_GE(*bench_.incidents().front().closed, at_s(300));
}

class PipelineRoutesHashed : public PipelineRoutes,
                             public testing::WithParamInterface<std::uint32_t> {};

TEST_P(PipelineRoutesHashed, IsNoFailure) {
  salt_ = GetParam();
  bench_.run(kFault + 120);
  EXPECT_THAT(bench_.incidents(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Salts, PipelineRoutesHashed, testing::Values(1U, 77U, 4711U, 90001U));

TEST_F(PipelineRoutes, NamesASwitchThatNobodyGoesThroughAnyMore) {
  for (std::uint32_t endpoint = 0; endpoint < kHosts; endpoint += 2) {
    out_.insert(uplink(endpoint, 3));
  }
  bench_.run(kFault + 52);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(standing(), SizeIs(1));
  const Incident incident = standing().front();
  const Component& named = bench_.world.components[incident.candidates.front().component];
  EXPECT_EQ(named.type, ComponentType::kSwitch);
  EXPECT_EQ(named.name, "agg-3");
}

TEST_F(PipelineRoutes, PlacesWhatWasLostBeforeThePathsMoved) {
  out_ = {uplink(2, 1)};
  // Lost on the way over the link, for as long as routing took; the paths are found elsewhere.
  bench_.world.effects.push_back({.from = at_s(kFault) - std::chrono::milliseconds(900),
                                  .to = at_s(kFault),
                                  .hits =
                                      [this](const FlowKey& flow) {
                                        const Time before = at_s(kFault - 1);
                                        return crosses_out(flow.source, flow.target, before) ||
                                               crosses_out(flow.target, flow.source, before);
                                      },
                                  .lose_one_in = 1});
  bench_.run(kFault + 20);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(standing(), SizeIs(1));
  EXPECT_THAT(bench_.candidates(standing().front()), ElementsAre(uplink(2, 1)));
  EXPECT_LE(standing().front().opened, at_s(kFault + 3));
}

// By elimination it could be any link that only this pair crosses.
TEST_F(PipelineRoutes, PlacesTheLossOfOnePairOnTheLinkThatWasLeft) {
  symmetric_ = true;  // Too few choices for an incident without a loss.
  out_ = {uplink(2, 1)};
  EndpointId other(4);
  while (!crosses_out(EndpointId(2), other, kStartOfRun)) {
    other = EndpointId(other.index() + 1);
    ASSERT_LT(other.index(), static_cast<std::uint32_t>(kHosts));
  }
  bench_.options.follow_up.probes_per_round = 0;
  bench_.world.effects.push_back({.from = at_s(kFault) - std::chrono::seconds(12),
                                  .to = at_s(kFault),
                                  .hits =
                                      [other](const FlowKey& flow) {
                                        return std::minmax(flow.source, flow.target) ==
                                               std::minmax(EndpointId(2), other);
                                      },
                                  .lose_one_in = 1});
  bench_.run(kFault + 40);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(standing(), SizeIs(1));
  EXPECT_LT(standing().front().opened, at_s(kFault + 2));
  EXPECT_THAT(bench_.candidates(standing().front()), ElementsAre(uplink(2, 1)));
}

// The link stays out of service for hours; what its pairs lose meanwhile has other reasons.
TEST_F(PipelineRoutes, ExplainsNothingThatItsPairsLoseElsewhere) {
  out_ = {uplink(2, 1)};
  bench_.world.effects.push_back(
      {.from = at_s(200), .hits = to_endpoint(EndpointId(7)), .lose_one_in = 1});
  bench_.run(260);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(standing(), SizeIs(2));
  const Incident second = standing()[1];
  EXPECT_THAT(bench_.candidates(second),
              ElementsAre(link(bench_.world.endpoints()[EndpointId(7)].name, tor(EndpointId(7)))));
  EXPECT_LE(second.opened, at_s(203));
  EXPECT_THAT(second.pairs, SizeIs(2 * (kHosts - 1)));
}

TEST_F(PipelineRoutes, NeedsMoreThanHalfAsManyChoicesWhereAnswersComeBackTheSameWay) {
  // Two RNICs of a ToR have 20 pairs either way over four links: 40 choices there and 40 back, or
  // 40 in all, which chance leaves one link out of with probability e^-11.5.
  symmetric_ = true;
  out_ = {uplink(2, 1)};
  bench_.run(kFault + 90);
  EXPECT_THAT(bench_.incidents(), IsEmpty());
}

// Two of its four uplinks get nothing, of 40 choices: 2^-40 times the six ways to take two of four.
TEST_F(PipelineRoutes, NamesASwitchThatLeavesUplinksIdle) {
  polarized_ = tor(EndpointId(2));
  bench_.run(kFault + 52);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  const Incident& incident = bench_.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.kind, "uplinks-idle");
  EXPECT_EQ(bench_.name(incident.candidates.front().component), polarized_);
  EXPECT_NEAR(incident.candidates.front().score, 40.0 * std::log(2.0) - std::log(6.0), 1e-9);
  for (const PairId pair : incident.pairs) {
    const Pair& ends = bench_.pipeline().pairs()[pair];
    EXPECT_TRUE(tor(ends.source) == polarized_ || tor(ends.target) == polarized_);
  }
  EXPECT_FALSE(incident.closed.has_value()) << "it still hashes so";
}

TEST_F(PipelineRoutes, LastsUntilTheSwitchUsesItsUplinksAgain) {
  polarized_ = tor(EndpointId(2));
  back_ = at_s(300);
  bench_.run(500);
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  ASSERT_TRUE(bench_.incidents().front().closed.has_value());
  EXPECT_GE(*bench_.incidents().front().closed, at_s(300));
}

// Links that are left at one end first are no matter of hashing.
TEST_F(PipelineRoutes, WaitsUntilBothEndsHaveLeftALink) {
  out_ = {uplink(2, 1), uplink(2, 3)};
  head_start_ = std::chrono::seconds(-10);
  bench_.run(kFault + 90);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  EXPECT_THAT(bench_.incidents(), Not(IsEmpty()));
  for (const Incident& incident : bench_.incidents()) {
    EXPECT_EQ(incident.kind, "link-withdrawn");
  }
}

// Another failure at the ToR is another incident.
TEST_F(PipelineRoutes, ExplainsNoDelayOfAnRnicBelowTheSwitch) {
  polarized_ = tor(EndpointId(2));
  bench_.options.shift.least_history = 5;
  bench_.world.effects.push_back({.from = at_s(500),
                                  .hits = to_endpoint(EndpointId(3)),
                                  .extra = std::chrono::microseconds(60)});
  bench_.run(560);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  EXPECT_TRUE(std::any_of(
      bench_.incidents().begin(), bench_.incidents().end(), [](const Incident& incident) {
        return incident.kind != "uplinks-idle" && incident.symptom == Symptom::kLatency;
      }));
}

TEST_F(PipelineRoutes, SaysNothingWhileNobodyCanTrace) {
  out_ = {uplink(2, 1)};
  trace_from_ = at_s(kFault + 10);
  bench_.run(kFault + 90);
  EXPECT_THAT(bench_.incidents(), IsEmpty()) << "nobody knows that it was ever in use";
}

TEST_F(PipelineRoutes, IsNoPartOfThePapersConfiguration) {
  bench_.options.configuration = DetectionConfiguration::kPaper;
  polarized_ = tor(EndpointId(4));
  out_ = {uplink(2, 1)};
  bench_.run(kFault + 90);
  EXPECT_THAT(bench_.incidents(), IsEmpty());
}

}  // namespace
}  // namespace bonescan::fakes
