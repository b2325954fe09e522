// Hosts' own reports: what each proves, and what it must not.
#include "detectors/localize/host_check.h"

#include "tests/support/pipeline_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace bonescan {
namespace {

using fakes::at_s;
using fakes::FakeTelemetry;
using fakes::PipelineBench;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// What spoils a healthy report.
using Change = std::function<void(HostReport&)>;

class HostCheck : public testing::Test {
 protected:
  HostReport healthy(std::uint32_t at) { return world_.healthy_report(EndpointId(at), at_s(100)); }

  FakeTelemetry world_{fakes::fake_endpoints(4, 2)};
};

TEST_F(HostCheck, FindsNothingInAHealthyFleet) {
  HostFleet fleet{HostRules{}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_THAT(check_host(healthy(i), fleet.reference(EndpointId(i)), {}), IsEmpty()) << i;
    fleet.put(EndpointId(i), healthy(i));
  }
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_THAT(check_host(healthy(i), fleet.reference(EndpointId(i)), {}), IsEmpty()) << i;
  }
}

TEST_F(HostCheck, FindsNothingWhereNothingCouldBeRead) {
  HostFleet fleet{HostRules{}};
  for (std::uint32_t i = 0; i < 6; ++i) {
    fleet.put(EndpointId(i), healthy(i));
  }
  HostReport bare;
  EXPECT_THAT(check_host(bare, fleet.reference(EndpointId(0)), {}), IsEmpty());
}

TEST_F(HostCheck, SaysWhatIsWrong) {
  struct Case {
    const char* name;
    Change change;
    HostFindingKind kind;
    const char* says;
    bool of_host;
  };
  const Case cases[] = {
      {"a hole",
       [](HostReport& r) { r.gids->erase(r.gids->begin() + 1); },
       HostFindingKind::kGidSparse,
       "between index 0 and 2",
       false},
      {"v1 only",
       [](HostReport& r) {
         for (GidRow& row : *r.gids) {
           row.type = "RoCE v1";
         }
       },
       HostFindingKind::kGidType,
       "none of the 4 GIDs",
       false},
      {"link-local only",
       [](HostReport& r) { r.gids->resize(2); },
       HostFindingKind::kGidType,
       "the 1 GIDs of type RoCE v2 are link-local",
       false},
      {"moved",
       [](HostReport& r) {
         for (GidRow& row : *r.gids) {
           row.index += 4;
         }
       },
       HostFindingKind::kGidChanged,
       "from index 0 to 4",
       false},
      {"fewer pages than asked for",
       [](HostReport& r) { r.hugepages[0].pages = 1'000; },
       HostFindingKind::kHugepages,
       "1000 huge pages of 2097152 bytes, its configuration",
       true},
      {"fewer pages than others",
       [](HostReport& r) {
         r.hugepages[0] = {2'097'152, 100, 0, 0};
       },
       HostFindingKind::kHugepages,
       "most hosts have 1024",
       true},
      {"one leg",
       [](HostReport& r) { r.bond[1].up = false; },
       HostFindingKind::kBondDegraded,
       "1 of 2 members",
       false},
      {"TCP",
       [](HostReport& r) {
         r.counts[1] = {r.counts[1].at, 1'000, 1'000};
       },
       HostFindingKind::kRdmaUnused,
       "does not use RDMA",
       false},
      {"lanes",
       [](HostReport& r) { r.pcie->width = 8; },
       HostFindingKind::kPcieWidth,
       "8 of 16 lanes",
       false},
      {"generation",
       [](HostReport& r) { r.pcie->speed_gts = 16.0; },
       HostFindingKind::kPcieSpeed,
       "16.0 of 32.0 GT/s",
       false},
      {"port down",
       [](HostReport& r) { r.port->state = "DOWN"; },
       HostFindingKind::kPortState,
       "the port is DOWN",
       false},
      {"port slow",
       [](HostReport& r) { r.port->speed = BitsPerSecond(200'000'000'000); },
       HostFindingKind::kPortSpeed,
       "200 of 400 Gbit/s",
       false},
  };
  HostFleet fleet{HostRules{}};
  for (std::uint32_t i = 0; i < 6; ++i) {
    fleet.put(EndpointId(i), healthy(i));
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    HostReport report = healthy(0);
    c.change(report);
    const auto findings = check_host(report, fleet.reference(EndpointId(0)), {});
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& finding) {
      return finding.kind == c.kind;
    });
    ASSERT_NE(found, findings.end());
    EXPECT_THAT(found->text, HasSubstr(c.says));
    EXPECT_EQ(found->at, c.of_host ? report.host : report.rnic);
  }
}

TEST_F(HostCheck, HasNoMajorityOfTwoNorOfTwoHalves) {
  HostReport few = healthy(0);
  few.hugepages[0] = {2'097'152, 100, 0, 0};
  for (const std::uint32_t others : {0u, 1u, 2u, 3u}) {
    HostFleet fleet{HostRules{}};
    for (std::uint32_t i = 1; i <= others; ++i) {
      fleet.put(EndpointId(i), healthy(i));
    }
    EXPECT_THAT(check_host(few, fleet.reference(EndpointId(0)), {}), SizeIs(others < 3 ? 0 : 1))
        << others;
  }
  HostFleet halves{HostRules{}};
  for (std::uint32_t i = 1; i <= 4; ++i) {
    HostReport report = healthy(i);
    report.hugepages[0].pages += i % 2;
    halves.put(EndpointId(i), report);
  }
  EXPECT_FALSE(halves.reference(EndpointId(0)).hugepages.has_value());
}

// A job that rests rests everywhere: no RNIC is blamed for it.
TEST_F(HostCheck, CountersThatStandStillEverywhereAreNoFinding) {
  HostFleet fleet{HostRules{}};
  HostReport idle = healthy(0);
  idle.counts[1] = {idle.counts[1].at, 0, 0};
  for (std::uint32_t i = 1; i <= 5; ++i) {
    fleet.put(EndpointId(i), idle);
  }
  EXPECT_THAT(check_host(idle, fleet.reference(EndpointId(0)), {}), IsEmpty());
}

TEST_F(HostCheck, CountsNeedTheirTimeAndMayNotGoBack) {
  HostReport report = healthy(0);
  EXPECT_NEAR(rdma_rate(report, {}).value_or(0.0), 2e9, 1.0);
  EXPECT_FALSE(rdma_rate(report, {.flat_after = std::chrono::seconds(101)}).has_value());
  std::swap(report.counts[0].sent_bytes, report.counts[1].sent_bytes);
  EXPECT_FALSE(rdma_rate(report, {}).has_value());
}

/// Reports of `host` are spoiled from `from` on.
void spoil(PipelineBench& bench, std::uint32_t endpoint, std::int64_t from, Change change) {
  bench.world.host_script = [&bench, endpoint, from, change](EndpointId at, Time now) {
    HostReport report = bench.world.healthy_report(at, now);
    if (at == EndpointId(endpoint) && now >= at_s(from)) {
      change(report);
    }
    return Expected<HostReport>(report);
  };
}

TEST(PipelineHostCheck, OpensAnIncidentOfTheHostForWhatProbesCannotSee) {
  PipelineBench bench(4, 2);
  bench.options.host_check.round_periods = 2;
  spoil(bench, 3, 60, [](HostReport& report) { report.pcie->width = 8; });
  bench.run(300);
  SCOPED_TRACE(fakes::summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kHost);
  EXPECT_EQ(incident.kind, "pcie-width");
  EXPECT_EQ(incident.candidates.front().component, bench.world.rnic(EndpointId(3)));
  EXPECT_FALSE(incident.closed.has_value()) << "it is still so";
  ASSERT_NE(PipelineBench::line(incident, "host-check"), nullptr);
  EXPECT_THAT(PipelineBench::line(incident, "host-check")->text, HasSubstr("8 of 16 lanes"));
  // Eight endpoints, one every two seconds.
  EXPECT_LE(incident.opened, at_s(60 + 17));
}

TEST(PipelineHostCheck, ClosesWhenAReportIsFreeOfIt) {
  PipelineBench bench(4, 2);
  bench.options.host_check.round_periods = 2;
  bool broken = true;
  bench.world.host_script = [&](EndpointId at, Time now) {
    HostReport report = bench.world.healthy_report(at, now);
    report.bond[0].up = !broken || at != EndpointId(1);
    return Expected<HostReport>(report);
  };
  bench.at(100, [&] { broken = false; });
  bench.run(400);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().kind, "bond-degraded");
  EXPECT_TRUE(bench.incidents().front().closed.has_value());
}

TEST(PipelineHostCheck, AHealthyFleetHasNoIncidentAndAskedAll) {
  for (const bool pend : {false, true}) {
    PipelineBench bench(4, 2);
    bench.world.answers_pend = pend;
    bench.options.host_check.round_periods = 1;
    bench.run(120);
    EXPECT_THAT(bench.incidents(), IsEmpty());
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_THAT(bench.world.inspected, testing::Contains(EndpointId(i)));
    }
  }
}

TEST(PipelineHostCheck, ThePapersConfigurationAsksNobody) {
  PipelineBench bench(4, 2);
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.run(120);
  EXPECT_THAT(bench.world.inspected, IsEmpty());
}

// A cable, a port and an address that nobody routes look alike to probes: the host tells.
TEST(PipelineHostCheck, SaysWhyAnEndIsSilentInTheIncidentOfItsCable) {
  struct Case {
    const char* name;
    Change change;
    const char* says;
    Layer layer;
  };

  // Where the port is up and the addresses are not where they were, it is no cable.
  const Case cases[] = {
      {"moved",
       [](HostReport& report) {
         for (GidRow& row : *report.gids) {
           row.index += 4;
         }
       },
       "moved from index 0 to 4",
       Layer::kHost},
      {"link-local",
       [](HostReport& report) { report.gids->resize(2); },
       "none is routed",
       Layer::kHost},
      {"nothing", [](HostReport&) {}, "nothing wrong", Layer::kUnderlay},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(6);
    bench.options.host_check.round_periods = 2;
    const auto of_the_end = [](const FlowKey& flow) {
      return flow.source == EndpointId(1) || flow.target == EndpointId(1);
    };
    bench.world.effects.push_back({.from = at_s(20), .hits = of_the_end, .lose_one_in = 1});
    spoil(bench, 1, 20, c.change);
    bench.run(60);
    SCOPED_TRACE(fakes::summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), Not(IsEmpty()));
    for (std::size_t i = 1; i < bench.incidents().size(); ++i) {
      // What opened in the turn in which the host spoke has gone on in the first.
      ASSERT_NE(PipelineBench::line(bench.incidents()[i], "incident"), nullptr);
      EXPECT_THAT(PipelineBench::line(bench.incidents()[i], "incident")->text,
                  HasSubstr("goes on there"));
    }
    EXPECT_EQ(bench.incidents().front().layer, c.layer);
    bool said = false;
    for (const Evidence& line : bench.incidents().front().evidence) {
      said = said || (line.stage == "host-check" && line.text.find(c.says) != std::string::npos);
    }
    EXPECT_TRUE(said);
  }
}

// Many tables always had a gap: it explains nothing that begins later.
TEST(PipelineHostCheck, LeavesADeadCableWhereItIsIfTheGapWasThereBefore) {
  PipelineBench bench(6);
  bench.options.host_check.round_periods = 2;
  const auto of_the_end = [](const FlowKey& flow) {
    return flow.source == EndpointId(1) || flow.target == EndpointId(1);
  };
  bench.world.effects.push_back({.from = at_s(60), .hits = of_the_end, .lose_one_in = 1});
  spoil(bench, 1, 2, [](HostReport& report) { report.gids->back().index += 3; });
  bench.run(100);
  SCOPED_TRACE(fakes::summary(bench.incidents(), bench.world.components));
  const auto silent = std::find_if(
      bench.incidents().begin(), bench.incidents().end(), [](const Incident& incident) {
        return incident.symptom == Symptom::kUnreachable;
      });
  ASSERT_NE(silent, bench.incidents().end());
  EXPECT_EQ(silent->layer, Layer::kUnderlay);
}

// The lone dead pair is placed by elimination; the host says why.
TEST(PipelineHostCheck, GivesEvidenceBeforeTheSearchEnds) {
  PipelineBench bench(4);
  bench.options.host_check.round_periods = 1'000;
  bench.world.effects.push_back(
      {.from = at_s(20), .hits = fakes::between(EndpointId(0), EndpointId(1)), .lose_one_in = 1});
  spoil(bench, 1, 0, [](HostReport& report) { report.port->state = "DOWN"; });
  bench.run(60);
  SCOPED_TRACE(fakes::summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Evidence* line = PipelineBench::line(bench.incidents().front(), "host-check");
  ASSERT_NE(line, nullptr);
  EXPECT_THAT(line->text, HasSubstr("the port is DOWN"));
}

}  // namespace
}  // namespace bonescan
