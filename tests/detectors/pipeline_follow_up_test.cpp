// Follow-up probes from end to end on the fake telemetry: what is asked, what becomes of it.
#include "detectors/schedule/probe_scheduler.h"
#include "tests/support/pipeline_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kBroken = 20;

bool planned(const PipelineBench& bench, const ProbeRequest& request) {
  return request.source_port == probe_source_port(bench.options.seed, request.ends) &&
         request.payload_bytes == bench.options.probing.payload_bytes &&
         request.dscp == bench.options.probing.dscp;
}

std::size_t follow_ups(const PipelineBench& bench) {
  return static_cast<std::size_t>(std::count_if(
      bench.world.requests.begin(), bench.world.requests.end(), [&](const ProbeRequest& request) {
        return !planned(bench, request);
      }));
}

/// The last line of the stage.
std::string found(const Incident& incident) {
  std::string text;
  for (const Evidence& line : incident.evidence) {
    text = line.stage == "follow-up" ? line.text : text;
  }
  return text;
}

TEST(PipelineFollowUp, AsksNothingWhereNothingIsWrong) {
  PipelineBench bench(4, 2);
  bench.run(120);
  EXPECT_EQ(follow_ups(bench), 0u);
}

// What fails on every pair of one RNIC, for one kind of packet only.
TEST(PipelineFollowUp, SaysWhichPacketsFail) {
  struct Case {
    const char* name;
    FakeEffect effect;
    std::uint16_t payload;
    std::vector<const char*> says;
  };
  const auto of_rnic_3 = [](FakeEffect effect) {
    effect.from = at_s(kBroken);
    effect.hits = to_endpoint(EndpointId(3));
    effect.lose_one_in = 1;
    return effect;
  };
  FakeEffect some_ports = of_rnic_3({});
  some_ports.hits = [](const FlowKey& flow) {
    const bool alternative = flow.source_port != probe_source_port(1, {flow.source, flow.target});
    return to_endpoint(EndpointId(3))(flow) && !(alternative && flow.source_port % 2 == 0);
  };
  const Case cases[] = {
      {"all packets", of_rnic_3({}), 64, {"fail alike"}},
      {"some five-tuples", some_ports, 64, {"five-tuple: "}},
      {"small packets", of_rnic_3({.most_bytes = 500}), 64, {"packet-size: ", " pass"}},
      {"large packets", of_rnic_3({.least_bytes = 1'399}), 2'048, {"packet-size: ", " fail"}},
      {"one class", of_rnic_3({.dscp = std::uint8_t{26}}), 64, {"dscp: DSCP 0 passes"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(4, 2);
    bench.options.probing.payload_bytes = c.payload;
    bench.world.effects.push_back(c.effect);
    bench.run(60);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    const Incident& incident = bench.incidents().front();
    EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.access_link(EndpointId(3))));
    for (const char* words : c.says) {
      EXPECT_THAT(found(incident), HasSubstr(words));
    }
  }
}

TEST(PipelineFollowUp, BracketsTheSizeThatFails) {
  PipelineBench bench(4, 2);
  bench.options.probing.payload_bytes = 2'048;
  bench.world.effects.push_back({.from = at_s(kBroken),
                                 .hits = to_endpoint(EndpointId(3)),
                                 .lose_one_in = 1,
                                 .least_bytes = 1'399});
  bench.run(90);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  int passes = 0;
  int fails = 0;
  const std::string text = found(bench.incidents().front());
  ASSERT_EQ(std::sscanf(text.c_str(),
                        "only some packets fail: packet-size: %d bytes of payload pass, %d fail",
                        &passes,
                        &fails),
            2)
      << text;
  EXPECT_LT(passes, 1'399);
  EXPECT_GE(fails, 1'399);
  EXPECT_LE(fails - passes, 64);
}

/// Every flow between the segments crosses the cables of both ToRs to agg-1, so no planned probe
/// tells these apart.  Odd ports take another cable up from the first ToR.
class TwoSuspects : public testing::Test {
 protected:
  TwoSuspects() {
    bench_.world.trace_script = [this](const FlowKey& flow, Time) -> Expected<TracedPath> {
      TracedPath path = bench_.world.healthy_path(flow);
      for (std::vector<PathHop>* way : {&path.request, &path.answer}) {
        for (PathHop& hop : *way) {
          if (hop.link == bench_.fabric_link("tor-1.0") && uses_other_cable(flow)) {
            hop.link = bench_.world.components.intern(ComponentType::kLink, "link(tor-1.0, agg-2)");
          }
        }
      }
      return path;
    };
    bench_.world.effects.push_back({.from = at_s(kBroken),
                                    .hits =
                                        [this](const FlowKey& flow) {
                                          const bool between = (flow.source < EndpointId(2)) !=
                                                               (flow.target < EndpointId(2));
                                          return between && !uses_other_cable(flow);
                                        },
                                    .lose_one_in = 1});
  }

  bool uses_other_cable(const FlowKey& flow) const {
    return flow.source_port != probe_source_port(bench_.options.seed, {flow.source, flow.target}) &&
           flow.source_port % 2 == 1;
  }

  PipelineBench bench_{4};
};

TEST_F(TwoSuspects, AreToldApartByAnotherPort) {
  bench_.run(60);
  SCOPED_TRACE(summary(bench_.incidents(), bench_.world.components));
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  const Incident& incident = bench_.incidents().front();
  EXPECT_THAT(bench_.candidates(incident), ElementsAre(bench_.fabric_link("tor-1.0")));
  EXPECT_THAT(found(incident),
              HasSubstr("cleared 1 of 2 suspects; the first that is left is link(tor-1"));
  EXPECT_DOUBLE_EQ(incident.confidence, 1.0);
}

TEST_F(TwoSuspects, StayWithoutFollowUps) {
  bench_.options.follow_up.probes_per_round = 0;
  bench_.run(60);
  ASSERT_THAT(bench_.incidents(), SizeIs(1));
  EXPECT_THAT(bench_.incidents().front().candidates, SizeIs(2));
  EXPECT_EQ(follow_ups(bench_), 0u);
}

TEST(PipelineFollowUp, KeepsToItsBudget) {
  PipelineBench bench(6, 2);
  bench.options.follow_up.probes_per_round = 20;
  for (const std::uint32_t rnic : {0u, 3u, 6u}) {
    bench.world.effects.push_back(
        {.from = at_s(kBroken), .hits = to_endpoint(EndpointId(rnic)), .lose_one_in = 1});
  }
  bench.run(120);
  std::map<std::int64_t, std::size_t> probes;
  for (const ProbeRequest& request : bench.world.requests) {
    if (!planned(bench, request)) {
      probes[nanoseconds(request.start) / 1'000'000'000] += request.count;
      const Time last = request.start + (request.count - 1) * request.spacing;
      EXPECT_EQ(nanoseconds(last) / 1'000'000'000, nanoseconds(request.start) / 1'000'000'000)
          << "it stays in its period, as planned visits do";
    }
  }
  EXPECT_FALSE(probes.empty());
  for (const auto& [second, count] : probes) {
    EXPECT_LE(count, 20u) << second;
  }
}

TEST(PipelineFollowUp, ThePapersConfigurationSendsNone) {
  PipelineBench bench(4, 2);
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.world.effects.push_back(
      {.from = at_s(kBroken), .hits = to_endpoint(EndpointId(3)), .lose_one_in = 1});
  bench.run(60);
  EXPECT_EQ(follow_ups(bench), 0u);
}

// The fault is over when the follow-ups are sent: nothing may be concluded from what passes.
TEST(PipelineFollowUp, ConcludesNothingFromWhatHasHealed) {
  PipelineBench bench(4);
  bench.world.effects.push_back({.from = at_s(kBroken),
                                 .to = at_s(kBroken + 6),
                                 .hits = between(EndpointId(0), EndpointId(2)),
                                 .lose_one_in = 1});
  bench.run(60);
  for (const Incident& incident : bench.incidents()) {
    EXPECT_THAT(found(incident), testing::Not(HasSubstr("only some packets")));
    EXPECT_THAT(found(incident), testing::Not(HasSubstr("cleared")));
  }
}

// Follow-ups of a pair count nowhere: windows and streaks are those of a run without them.
TEST(PipelineFollowUp, LeavesTheOrdinaryStatisticsAlone) {
  std::vector<std::vector<WindowRecord>> windows;
  for (const std::size_t probes : {std::size_t{0}, std::size_t{40}}) {
    PipelineBench bench(4, 2);
    bench.options.follow_up.probes_per_round = probes;
    bench.world.effects.push_back(
        {.from = at_s(kBroken), .hits = to_endpoint(EndpointId(3)), .lose_one_in = 1});
    bench.run(120);
    windows.push_back(bench.windows);
    EXPECT_EQ(bench.counts.unplanned, 0u);
    EXPECT_EQ(bench.counts.missing, 0u);
  }
  ASSERT_EQ(windows[0].size(), windows[1].size());
  for (std::size_t i = 0; i < windows[0].size(); ++i) {
    EXPECT_EQ(windows[0][i].probes, windows[1][i].probes) << i;
    EXPECT_EQ(windows[0][i].lost, windows[1][i].lost) << i;
  }
}

}  // namespace
}  // namespace bonescan::fakes
