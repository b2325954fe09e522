// Levels that creep away to incidents, on the fake telemetry.
//
// Twelve hosts of one rail: 132 pairs, of which 120 cross ToRs and 40 cross that of the first two.
// Periods of a minute stand for half hours, an hour for the first day.  Two microseconds are 12 %:
// nothing for the short-term rules.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::int64_t kFault = 5400;

class DriftBench : public PipelineBench {
 public:
  DriftBench() : PipelineBench(12) {
    options.long_term.period = std::chrono::minutes(1);
    options.long_term.reference = std::chrono::hours(1);
    options.long_term.least_reference = std::chrono::minutes(30);
  }

  void slow(FlowPredicate hits, std::int64_t to_s) {
    world.effects.push_back({.from = at_s(kFault),
                             .to = at_s(to_s),
                             .hits = std::move(hits),
                             .extra = std::chrono::microseconds(2)});
  }
};

bool crosses_first_tor(const FlowKey& flow) {
  return (flow.source < EndpointId(2)) != (flow.target < EndpointId(2));
}

TEST(PipelineDrift, NamesTheLinkThatItsPairsDriftOverUntilTheyAreBack) {
  DriftBench bench;
  bench.slow(crosses_first_tor, kFault + 1200);
  bench.run(kFault + 1500);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.kind, "latency-drift");
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.symptom, Symptom::kLatency);
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.fabric_link("tor-1.0")));
  EXPECT_THAT(incident.pairs, SizeIs(40));
  EXPECT_GE(incident.opened, at_s(kFault + 60));
  EXPECT_LE(incident.opened, at_s(kFault + 600));
  EXPECT_NE(PipelineBench::line(incident, "long-term"), nullptr);
  // It lives from period to period, and no longer than its cause and some windows.
  ASSERT_TRUE(incident.closed.has_value());
  EXPECT_GE(*incident.closed, at_s(kFault + 1200));
  EXPECT_LE(*incident.closed, at_s(kFault + 1400));
  for (const Verdict& verdict : bench.verdicts) {
    // Visit by visit it is seen as well, but too small a step is no incident there.
    EXPECT_THAT(verdict.rule, AnyOf(VerdictRule::kDrift, VerdictRule::kShift));
  }
}

TEST(PipelineDrift, OpensNothingWhereNothingDrifts) {
  DriftBench bench;
  bench.run(kFault + 600);
  EXPECT_THAT(bench.incidents(), SizeIs(0)) << summary(bench.incidents(), bench.world.components);
  EXPECT_THAT(bench.verdicts, SizeIs(0));
}

TEST(PipelineDrift, AsksTheTablesOfAPairThatDriftsAlone) {
  for (const bool broken : {true, false}) {
    SCOPED_TRACE(broken ? "tables disagree" : "tables agree");
    DriftBench bench;
    bench.slow(between(EndpointId(0), EndpointId(2)), kFault + 3000);
    bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
      return broken && at == EndpointId(0) ? bench.world.missing_entries(at, flows)
                                           : bench.world.healthy_dump(at, flows);
    };
    bench.run(kFault + 900);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    const Incident& incident = bench.incidents().front();
    EXPECT_EQ(incident.layer, broken ? Layer::kRnic : Layer::kUndetermined);
    EXPECT_EQ(incident.kind, broken ? "table-mismatch" : "latency-drift");
    EXPECT_FALSE(incident.closed.has_value());
  }
}

// As published: seen while the fit of before is one of the lags away, and never again.
TEST(PipelineDrift, ThePapersConfigurationHasThePublishedTest) {
  DriftBench bench;
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.slow(crosses_first_tor, kFault + 3000);
  bench.run(kFault + 900);
  Time first = kForever;
  Time last = kStartOfRun;
  for (const Verdict& verdict : bench.verdicts) {
    if (verdict.rule == VerdictRule::kLongTermZ) {
      first = std::min(first, verdict.at);
      last = std::max(last, verdict.at);
    }
  }
  EXPECT_EQ(first, at_s(kFault + 60));
  EXPECT_EQ(last, at_s(kFault + 240));
}

/// When verdicts of the rule came, first and last; nothing if none did.
struct Heard {
  std::optional<Time> first;
  Time last = kStartOfRun;
};

Heard heard(const DriftBench& bench, VerdictRule rule) {
  Heard found;
  for (const Verdict& verdict : bench.verdicts) {
    if (verdict.rule == rule) {
      found.first = std::min(found.first.value_or(kForever), verdict.at);
      found.last = std::max(found.last, verdict.at);
    }
  }
  return found;
}

TEST(PipelineDrift, DoesWhatItsOptionsSay) {
  struct Case {
    const char* name;
    void (*change)(LongTermOptions&);
    bool found;
  };

  const Case cases[] = {
      {"as it is", [](LongTermOptions&) {}, true},
      {"switched off", [](LongTermOptions& o) { o.enabled = false; }, false},
      {"a larger effect is asked for",
       [](LongTermOptions& o) {
         o.least_factor = 1.5;
         o.least_shift = std::chrono::microseconds(10);
       },
       false},
      {"an absolute one is enough", [](LongTermOptions& o) { o.least_factor = 1.5; }, true},
      {"nobody has a reference yet",
       [](LongTermOptions& o) {
         o.reference = std::chrono::hours(2);
         o.least_reference = std::chrono::hours(2);
       },
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    DriftBench bench;
    c.change(bench.options.long_term);
    bench.slow(crosses_first_tor, kFault + 3000);
    bench.run(kFault + 600);
    EXPECT_EQ(heard(bench, VerdictRule::kDrift).first.has_value(), c.found);
  }
}

TEST(PipelineDrift, ASmallerBudgetOfFalseAlarmsWaitsLonger) {
  Time before = kStartOfRun;
  for (const double budget : {1000.0, 0.048, 1e-9}) {
    DriftBench bench;
    bench.options.long_term.false_alarms_per_day = budget;
    bench.options.long_term.least_shift = std::chrono::nanoseconds(50);
    bench.world.effects.push_back({.from = at_s(kFault),
                                   .to = at_s(kFault + 3000),
                                   .hits = crosses_first_tor,
                                   .extra = std::chrono::nanoseconds(100)});
    bench.run(kFault + 900);
    const auto found = heard(bench, VerdictRule::kDrift).first;
    ASSERT_TRUE(found.has_value()) << budget;
    EXPECT_GT(*found, before) << budget;
    before = *found;
  }
}

TEST(PipelineDrift, ThePublishedTestHasTheLagsAndTheSignificanceItIsTold) {
  struct Case {
    const char* name;
    void (*change)(LongTermOptions&);
    std::int64_t last;  ///< seconds after the fault; 0: never heard
  };

  const Case cases[] = {
      {"switched off", [](LongTermOptions& o) { o.enabled = false; }, 0},
      {"one lag of eight periods",
       [](LongTermOptions& o) {
         o.lags = {8, 0, 0};
       },
       480},
      {"one lag of two",
       [](LongTermOptions& o) {
         o.lags = {0, 2, 0};
       },
       120},
      {"periods that nobody fills", [](LongTermOptions& o) { o.lags.least_samples = 1'000; }, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    DriftBench bench;
    bench.options.configuration = DetectionConfiguration::kPaper;
    c.change(bench.options.long_term);
    bench.slow(crosses_first_tor, kFault + 3000);
    bench.run(kFault + 900);
    const Heard found = heard(bench, VerdictRule::kLongTermZ);
    EXPECT_EQ(found.first.has_value(), c.last > 0);
    if (c.last > 0) {
      EXPECT_EQ(found.last, at_s(kFault + c.last));
    }
  }
}

}  // namespace
}  // namespace bonescan::fakes
