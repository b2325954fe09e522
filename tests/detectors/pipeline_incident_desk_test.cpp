// What the pipeline says of its incidents as a whole: urgency, planned work, what to do, episodes.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

const EndpointId kBroken(3);  // host-1.02/rnic-1 of PipelineBench(4, 2)

FakeEffect dead(std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s), .to = at_s(to_s), .hits = to_endpoint(kBroken), .lose_one_in = 1};
}

MaintenanceWindow host_window(std::int64_t from_s, std::int64_t to_s) {
  MaintenanceWindow window{.from = seconds(from_s), .to = seconds(to_s)};
  window.host = "host-1.02";
  return window;
}

TEST(IncidentDesk, CallsADeadPortUrgentAndSaysWhatToDo) {
  PipelineBench bench(4, 2);
  bench.world.effects.push_back(dead(20, 60));
  bench.run(70);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.severity, Severity::kP0);
  EXPECT_EQ(incident.episodes, 1u);
  EXPECT_FALSE(incident.planned);
  EXPECT_THAT(incident.action, HasSubstr(bench.name(incident.candidates.front().component)));
}

TEST(IncidentDesk, MeasuresLossOverHealthyVisitsToo) {
  struct Case {
    const char* name;
    std::uint32_t lose_one_in;
    Severity severity;
  };
  for (const Case& c : {Case{"5 %", 20, Severity::kP1}, Case{"half", 2, Severity::kP0}}) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(4, 2);
    bench.world.effects.push_back(
        {.from = at_s(20), .hits = to_endpoint(kBroken), .lose_one_in = c.lose_one_in});
    bench.run(120);
    ASSERT_FALSE(bench.incidents().empty());
    EXPECT_EQ(bench.incidents().front().severity, c.severity);
  }
}

TEST(IncidentDesk, CallsLatencyUrgentByItsFactor) {
  PipelineBench bench(6, 1);
  bench.world.effects.push_back(
      {.from = at_s(400), .hits = to_endpoint(EndpointId(3)), .extra = milliseconds(1)});
  bench.run(520);
  ASSERT_FALSE(bench.incidents().empty());
  EXPECT_EQ(bench.incidents().front().symptom, Symptom::kLatency);
  EXPECT_EQ(bench.incidents().front().severity, Severity::kP1);
}

TEST(IncidentDesk, KeepsAFlappingPortOneIncident) {
  PipelineBench bench(8, 2);
  for (std::int64_t at = 30; at < 120; at += 20) {
    bench.world.effects.push_back(dead(at, at + 6));
  }
  bench.run(200);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().episodes, 5u);
}

TEST(IncidentDesk, OpensTheOldIncidentWhereTheRepairDidNotHold) {
  struct Case {
    const char* name;
    std::int64_t again_s;
    std::size_t incidents;
  };
  for (const Case& c : {Case{"five minutes later", 340, 1}, Case{"eleven minutes later", 700, 2}}) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(16, 2);
    bench.world.effects.push_back(dead(20, 40));
    bench.world.effects.push_back(dead(c.again_s, c.again_s + 20));
    bench.run(c.again_s + 30);
    ASSERT_THAT(bench.incidents(), SizeIs(c.incidents));
    const Incident& first = bench.incidents().front();
    EXPECT_EQ(first.episodes, c.incidents == 1 ? 2u : 1u);
    EXPECT_EQ(first.closed.has_value(), c.incidents == 2);
    EXPECT_LT(first.opened, at_s(24));
  }
}

TEST(IncidentDesk, OpensNothingAgainAsPublished) {
  PipelineBench bench(4, 2);
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.world.effects.push_back(dead(20, 40));
  bench.world.effects.push_back(dead(340, 360));
  bench.run(370);
  EXPECT_GT(bench.incidents().size(), 1u);
  EXPECT_TRUE(bench.incidents().front().closed.has_value());
}

TEST(IncidentDesk, KnowsPlannedWork) {
  struct Case {
    const char* name;
    std::vector<MaintenanceWindow> windows;
    std::int64_t broken_until_s;
    bool planned;
  };
  for (const Case& c : {Case{"none", {}, 60, false},
                        Case{"inside", {host_window(15, 65)}, 60, true},
                        Case{"begins too late", {host_window(30, 65)}, 60, false},
                        Case{"the failure outlives it", {host_window(15, 65)}, 130, false}}) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(4, 2);
    bench.options.maintenance = c.windows;
    bench.world.effects.push_back(dead(20, c.broken_until_s));
    bench.run(140);
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    EXPECT_EQ(bench.incidents().front().planned, c.planned);
  }
}

TEST(IncidentDesk, TakesTheFailureAfterPlannedWorkForANewOne) {
  PipelineBench bench(4, 2);
  bench.options.maintenance = {host_window(15, 65)};
  bench.world.effects.push_back(dead(20, 60));
  bench.world.effects.push_back(dead(200, 220));
  bench.run(230);
  ASSERT_THAT(bench.incidents(), SizeIs(2));
  EXPECT_TRUE(bench.incidents()[0].planned);
  EXPECT_FALSE(bench.incidents()[1].planned);
}

}  // namespace
}  // namespace bonescan::fakes
