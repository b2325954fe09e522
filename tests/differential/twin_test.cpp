// A run beside its fault-free twin: what a fault changes, and that it changes nothing else.
//
// Equal seeds give equal noise, so a record that differs differs because of a fault.  The footprint
// of a fault is computed here from its mechanism, not taken from the truth.  Both directions of a
// pair count as one: they share four megaflows, so what one direction does to them the other meets.
#include "tests/support/simulated_run.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ProbeRecords;
using test::VisitRecord;

/// The truth looks every half second until it sees a difference.
constexpr Duration kTruthInterval = milliseconds(500);
/// After the end of a fault: a sweep until megaflows follow the rules, convergence of ECMP groups.
constexpr Duration kAftermath = seconds(1);

bool crosses(const LinkPath& path, CableId cable) {
  const auto links = path.span();
  return std::any_of(
      links.begin(), links.end(), [cable](LinkId link) { return Fabric::cable_of(link) == cable; });
}

/// Can this fault change what probes of this pair meet?
bool touches(const EffectSpec& effect, const World& healthy, const VisitRecord& visit) {
  const Fabric& fabric = healthy.fabric();
  const bool at_an_end =
      visit.source.index() == effect.on.index || visit.target.index() == effect.on.index;
  switch (effect.kind) {
    case EffectKind::kLinkLoss:
    case EffectKind::kLinkDelay:
    case EffectKind::kLinkRate:
    case EffectKind::kLinkBer: {
      const ProbePath path = resolve_path(
          healthy,
          {.source = visit.source, .target = visit.target, .source_port = visit.source_port});
      return crosses(path.request, effect.on.cable()) || crosses(path.answer, effect.on.cable());
    }
    case EffectKind::kPortDown:
    case EffectKind::kPortFlap: {
      if (fabric.is_access(effect.on.cable())) {
        return at_an_end;
      }
      // A smaller ECMP group moves flows that never crossed the dead cable.
      const SwitchId tor = fabric.tor_end(effect.on.cable());
      const SwitchId from = fabric.tor_of(visit.source);
      const SwitchId to = fabric.tor_of(visit.target);
      return from != to && (from == tor || to == tor);
    }
    case EffectKind::kRuleRemove:
    case EffectKind::kRuleAlter:
      if (effect.rule == RuleRole::kEncap) {
        const RnicId peer = *effect.peer;
        return at_an_end && (visit.source == peer || visit.target == peer);
      }
      return at_an_end;
    case EffectKind::kTunnelNeighbour:
    case EffectKind::kTunnelRoute: {
      const HostId host = fabric.host_of(effect.on.rnic());
      const RnicId peer = *effect.peer;
      return (fabric.host_of(visit.source) == host && visit.target == peer) ||
             (fabric.host_of(visit.target) == host && visit.source == peer);
    }
    case EffectKind::kOffloadRemove:
    case EffectKind::kCountersFreeze:
    case EffectKind::kCountersSet:
    case EffectKind::kFlowEdit:
    case EffectKind::kTunnelVni:
    case EffectKind::kTunnelMtu:
    case EffectKind::kTunnelChecksum:
    case EffectKind::kSpoofDrop:
    case EffectKind::kEswitchCapacity:
    case EffectKind::kRulePriority:
    case EffectKind::kGidReregister:
    case EffectKind::kGidSparse:
    case EffectKind::kGidMissing:
    case EffectKind::kPcieWidth:
    case EffectKind::kRnicFail:
    case EffectKind::kRnicStall:
    case EffectKind::kOffloadRefuse:
    case EffectKind::kOffloadChurn:
    case EffectKind::kGpuDirectOff:
    case EffectKind::kRdmaBypass:
      return at_an_end;
    case EffectKind::kContainerCrash: {
      const HostId host = fabric.host_of(effect.on.rnic());
      return fabric.host_of(visit.source) == host || fabric.host_of(visit.target) == host;
    }
    case EffectKind::kBoardError:
      return false;  // No probe stays within a host.
    case EffectKind::kSwitchDown:
      return true;  // Smaller ECMP groups move flows that never crossed it.
    case EffectKind::kHugepages:
    case EffectKind::kProcessStop:
    case EffectKind::kFlowLimit:
      return fabric.host_of(visit.source).index() == effect.on.index ||
             fabric.host_of(visit.target).index() == effect.on.index;
    case EffectKind::kSwitchLoss:
    case EffectKind::kPauseStorm:
    case EffectKind::kHashChange:
    case EffectKind::kCableSwap:
    case EffectKind::kControlOff:
      return true;  // A pause spreads to whoever shares a port.
  }
  return false;
}

/// Is this a sum of lookups on the software path and of upcalls, some more and some fewer?
bool is_lookups(std::int64_t difference_ns, const OverlayOptions& overlay) {
  for (std::int64_t upcalls = -4; upcalls <= 4; ++upcalls) {
    const std::int64_t rest = difference_ns - upcalls * overlay.upcall.count();
    const std::int64_t lookups = rest / overlay.slow_path.count();
    if (std::abs(rest - lookups * overlay.slow_path.count()) <= 1 && std::abs(lookups) <= 4) {
      return true;
    }
  }
  return false;
}

struct Both {
  ProbeRecords run;
  ProbeRecords twin;
  std::vector<TruthRow> truth;
};

class Twins : public testing::TestWithParam<std::string> {
 protected:
  Twins()
      : scenario_(GetParam() == "stale" ? test::smoke_scenario("stale-flow-counters",
                                                               {"faults[0].at=60s",
                                                                "faults[0].for=3min",
                                                                "duration=7min",
                                                                "jobs[0].start.ready_spread=20s"})
                                        : test::busy_scenario({"seed=" + GetParam()})),
        healthy_(scenario_, {.without_faults = true}) {
    // Whoever finds something asks on, and that is another schedule.
    scenario_.pipeline.follow_up.probes_per_round = 0;
    Pipeline twin_pipeline(scenario_.pipeline, healthy_.backend().telemetry());
    both_.twin = test::run(healthy_, scenario_, twin_pipeline);
    Simulation simulation(scenario_, {});
    Pipeline pipeline(scenario_.pipeline, simulation.backend().telemetry());
    simulation.learn_paths(pipeline.pairs());
    both_.run = test::run(simulation, scenario_, pipeline);
    both_.truth = simulation.truth_rows(pipeline);
  }

  /// The one fault that can have changed this pair.
  const FaultSpec* fault_of(const VisitRecord& visit) {
    const FaultSpec* found = nullptr;
    for (const FaultSpec& fault : scenario_.faults) {
      if (touches(fault.effects.front(), healthy_.world(), visit)) {
        EXPECT_EQ(found, nullptr) << "the scenario must keep faults on different pairs";
        found = &fault;
      }
    }
    return found;
  }

  Scenario scenario_;
  Simulation healthy_;
  Both both_;
};

/// Loss stops with its fault; what stays is where the megaflows are.
void expect_only_lookups_differ(std::uint32_t is,
                                std::uint32_t was,
                                const OverlayOptions& overlay) {
  ASSERT_TRUE(answered(is) && answered(was)) << is << " and " << was;
  EXPECT_TRUE(is_lookups(static_cast<std::int64_t>(is) - static_cast<std::int64_t>(was), overlay))
      << is << " and " << was;
}

TEST_P(Twins, DifferOnlyWhereAndWhenAFaultIs) {
  ASSERT_EQ(both_.run.visits, both_.twin.visits) << "faults do not move the probing";
  std::map<std::string, Time> first_difference;
  std::size_t differing = 0;
  for (const VisitRecord& visit : both_.run.visits) {
    for (std::uint32_t probe = 0; probe < visit.count; ++probe) {
      const std::uint32_t is = both_.run.rtt_ns[visit.first + probe];
      const std::uint32_t was = both_.twin.rtt_ns[visit.first + probe];
      if (is == was) {
        continue;
      }
      ++differing;
      const Time sent = both_.run.sent(visit, probe);
      SCOPED_TRACE(fmt::format("{} -> {} at {:.3f} s: {} ns, the twin {} ns",
                               visit.source.index(),
                               visit.target.index(),
                               bonescan::seconds(sent),
                               is,
                               was));
      const FaultSpec* fault = fault_of(visit);
      ASSERT_NE(fault, nullptr);
      first_difference.try_emplace(fault->name, sent);
      ASSERT_GE(sent, fault->at);
      if (sent > fault->at + fault->duration + kAftermath) {
        expect_only_lookups_differ(is, was, scenario_.overlay);
      }
      if (HasFailure()) {
        return;
      }
    }
  }
  EXPECT_GT(differing, 100u);
  ASSERT_EQ(both_.truth.size(), scenario_.faults.size());
  for (const TruthRow& row : both_.truth) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(row.time_zero.has_value());
    const auto first = first_difference.find(row.name);
    if (first == first_difference.end()) {
      EXPECT_FALSE(row.visible) << "a visible fault shows";
      continue;
    }
    EXPECT_GE(first->second, *row.time_zero - kTruthInterval);
    if (*row.time_zero == row.injected) {
      EXPECT_GE(first->second, *row.time_zero);
    }
    // Two sweeps over the seven peers, or over the one.
    EXPECT_LE(first->second, *row.time_zero + seconds(14));
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Twins, testing::Values("1", "3", "5", "stale"));

/// Two runs without faults are one run.
TEST(TwinsWithoutFaults, AreEqual) {
  const Scenario scenario = test::smoke_scenario("healthy", {"duration=2min"});
  const ProbeRecords run = test::records_of(scenario, {});
  const ProbeRecords twin = test::records_of(scenario, {.without_faults = true});
  EXPECT_TRUE(run == twin) << test::first_difference(run, twin);
}

}  // namespace
}  // namespace bonescan
