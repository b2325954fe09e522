// Evidence of loss per component: closed forms first, then delays and false alarms by simulation.
#include "detectors/loss/component_evidence.h"
#include "tests/support/dice.h"

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using test::Dice;

constexpr std::size_t kTests = ComponentEvidence::kTests;
constexpr std::uint8_t kProbes = 10;
constexpr double kBase = 1e-5;

std::vector<PathHop> over(std::uint32_t link, LinkDirection way = LinkDirection::kUp) {
  return {{ComponentId(link), way}};
}

VisitTrial trial(std::uint32_t pair, std::uint8_t lost, std::uint8_t probes = kProbes) {
  return {.pair = PairId(pair), .both_ways = {}, .probes = probes, .lost = lost};
}

/// A visit whose probes are lost independently.
std::uint8_t lost_at(Dice& dice, double rate) {
  const double draw = dice.uniform(0, 1);
  if (draw < 1 - kProbes * rate || draw < std::pow(1 - rate, kProbes)) {
    return 0;
  }
  std::uint8_t lost = 0;
  while (lost == 0) {
    for (int probe = 0; probe < kProbes; ++probe) {
      lost = static_cast<std::uint8_t>(lost + (dice.uniform(0, 1) < rate ? 1 : 0));
    }
  }
  return lost;
}

double visit_ratio(double per_probe) {
  return -std::expm1(kProbes * std::log1p(-per_probe));
}

TEST(ComponentEvidence, WeighsAVisitAsTheClosedFormSays) {
  const ComponentEvidence evidence({});
  constexpr std::size_t kOnePercent = 2;
  ASSERT_DOUBLE_EQ(ComponentEvidence::kRates[kOnePercent], 0.01);
  EXPECT_NEAR(evidence.increments(10, 0)[kOnePercent], 10 * std::log(0.99 / (1 - 1e-5)), 1e-12);
  const double base = 1 - std::pow(1 - 1e-5, 10);
  const double partly = (1 - std::pow(0.99, 10) - 0.001) / (base * 0.999);
  EXPECT_NEAR(evidence.increments(10, 1)[kOnePercent], std::log(partly), 1e-9);
  EXPECT_NEAR(evidence.increments(10, 10)[kOnePercent], std::log(0.001 / (base * 0.001)), 1e-9);
  // A visit of three probes is too short to be silent.
  EXPECT_NEAR(evidence.increments(3, 3)[kOnePercent],
              std::log((1 - std::pow(0.99, 3)) / (1 - std::pow(1 - 1e-5, 3))),
              1e-9);
}

// What makes a false alarm improbable: under the null a likelihood ratio has mean 1.
TEST(ComponentEvidence, HasLikelihoodRatiosOfMeanOneWhereNothingIsWrong) {
  const ComponentEvidence evidence({});
  for (const int probes : {1, 3, 4, 10, 64}) {
    SCOPED_TRACE(probes);
    const auto n = static_cast<std::uint8_t>(probes);
    const double base = -std::expm1(n * std::log1p(-kBase));
    const double silent = n >= kSilentProbes ? 1e-3 * base : 0.0;
    for (std::size_t test = 0; test < kTests; ++test) {
      double mean = (1 - base) * std::exp(evidence.increments(n, 0)[test]) +
                    (base - silent) * std::exp(evidence.increments(n, n > 1 ? 1 : n)[test]);
      if (silent > 0) {
        mean += silent * std::exp(evidence.increments(n, n)[test]);
      }
      EXPECT_NEAR(mean, 1.0, 1e-9) << test;
    }
  }
}

TEST(ComponentEvidence, GivesMoreEvidenceForMoreLoss) {
  const ComponentEvidence evidence({});
  for (std::size_t test = 0; test < kTests; ++test) {
    EXPECT_LT(evidence.increments(10, 0)[test], 0.0);
    EXPECT_GT(evidence.increments(10, 1)[test], 0.0);
    EXPECT_DOUBLE_EQ(evidence.increments(10, 9)[test], evidence.increments(10, 1)[test]);
    EXPECT_GT(evidence.increments(10, 10)[test], evidence.increments(10, 9)[test]);
  }
}

TEST(ComponentEvidence, AlarmsAtTheThirdLossyVisitInARowAndTheSecondSilentOne) {
  struct Case {
    const char* name;
    std::uint8_t lost;
    std::size_t visits;
  };

  for (const Case& c : {Case{"partly lossy", 1, 3}, Case{"silent", 10, 2}}) {
    SCOPED_TRACE(c.name);
    ComponentEvidence evidence({});
    for (std::uint32_t visit = 1; visit <= c.visits; ++visit) {
      EXPECT_THAT(evidence.alarms(), testing::SizeIs(0)) << visit;
      evidence.add(trial(visit, c.lost), over(4), {});
    }
    // One way; the cable needs more and has it of the silent ones.
    ASSERT_THAT(evidence.alarms(), testing::SizeIs(c.lost == kProbes ? 2 : 1));
    const ComponentAlarm alarm = evidence.alarms().front();
    EXPECT_EQ(alarm.scope, EvidenceScope::kLinkUp);
    EXPECT_EQ(alarm.index, 4u);
    EXPECT_EQ(alarm.lossy, c.visits);
    EXPECT_EQ(alarm.silent, c.lost == kProbes ? c.visits : 0u);
    EXPECT_EQ(alarm.probes, c.visits * kProbes);
    EXPECT_THAT(evidence.pairs_of(alarm), testing::SizeIs(c.visits));
    EXPECT_EQ(evidence.pairs_of(alarm).front(), PairId(1));
  }
}

TEST(ComponentEvidence, KeepsDirectionsLinksEndpointsHostsAndPairsApart) {
  ComponentEvidence evidence({});
  for (std::uint32_t visit = 0; visit < 3; ++visit) {
    VisitTrial lossy = trial(visit, 1);
    lossy.endpoints = {EndpointId(7), EndpointId(10 + visit)};
    lossy.hosts = {3, 10 + visit};
    lossy.both_ways = PairId(visit);
    const LinkDirection way = visit == 1 ? LinkDirection::kDown : LinkDirection::kUp;
    evidence.add(lossy, over(4, way), over(20 + visit));
  }
  ASSERT_THAT(evidence.alarms(), testing::SizeIs(1));
  EXPECT_EQ(evidence.alarms().front().scope, EvidenceScope::kEndpoint);
  EXPECT_EQ(evidence.alarms().front().index, 7u);
  EXPECT_EQ(evidence.state(EvidenceScope::kLinkUp, 4).lossy, 2u);
  EXPECT_EQ(evidence.state(EvidenceScope::kLinkDown, 4).lossy, 1u);
  EXPECT_EQ(evidence.state(EvidenceScope::kCable, 4).lossy, 3u);
  EXPECT_EQ(evidence.state(EvidenceScope::kHost, 3).lossy, 3u);
  EXPECT_EQ(evidence.state(EvidenceScope::kPair, 1).lossy, 1u);
  EXPECT_EQ(evidence.state(EvidenceScope::kPair, 99).lossy, 0u);
}

TEST(ComponentEvidence, CountsAVisitOnceThatCrossesACableBothWays) {
  ComponentEvidence evidence({});
  evidence.add(trial(0, 1), over(4), over(4, LinkDirection::kDown));
  EXPECT_EQ(evidence.state(EvidenceScope::kCable, 4).lossy, 1u);
  EXPECT_EQ(evidence.state(EvidenceScope::kCable, 4).probes, kProbes);
}

// Clean visits are only counted; what that comes to is the plain recursion all the same.
TEST(ComponentEvidence, AgreesWithANaiveCusum) {
  for (const std::uint64_t seed : {3u, 5u, 7u}) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Dice dice(seed, 1);
    ComponentEvidence evidence({});
    std::array<double, kTests> naive{};
    for (int visit = 0; visit < 5000; ++visit) {
      const bool burst = visit / 500 % 3 == 1;
      const std::uint8_t lost = dice.below(burst ? 30 : 800) == 0
                                    ? static_cast<std::uint8_t>(1 + dice.below(kProbes))
                                    : std::uint8_t{0};
      const std::array<double, kTests> steps = evidence.increments(kProbes, lost);
      double best = -1e9;
      double llr = 0.0;
      for (std::size_t test = 0; test < kTests; ++test) {
        naive[test] = std::clamp(naive[test] + steps[test], 0.0, 4.0 * evidence.threshold(test));
        if (naive[test] - evidence.threshold(test) > best) {
          best = naive[test] - evidence.threshold(test);
          llr = naive[test];
        }
      }
      evidence.clear_alarms();
      evidence.add(trial(1, lost), over(0), {});
      ASSERT_NEAR(evidence.state(EvidenceScope::kLinkUp, 0).llr, llr, 1e-6) << visit;
      ASSERT_EQ(evidence.alarms().size() > 0, lost > 0 && best >= 0) << visit;
    }
  }
}

// Differential: clean visits take a path of their own, and count each cell that they cross once.
TEST(ComponentEvidence, CountsCleanVisitsAsANaiveCountDoes) {
  constexpr std::uint32_t kLinks = 6;
  constexpr std::uint32_t kEnds = 4;
  constexpr int kLossy = 20;  ///< visits at the start: no test is back at 0 before the end
  for (const std::uint64_t seed : {3u, 5u, 7u}) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Dice dice(seed, 2);
    ComponentEvidence evidence({});
    std::map<std::pair<EvidenceScope, std::uint32_t>, std::uint64_t> naive;
    for (int visit = 0; visit < 400; ++visit) {
      std::array<std::vector<PathHop>, 2> ways;
      std::set<std::pair<EvidenceScope, std::uint32_t>> cells;
      for (std::vector<PathHop>& way : ways) {
        for (std::uint32_t hops = visit < kLossy ? 40 : dice.below(5); hops > 0; --hops) {
          const std::uint32_t link = dice.below(kLinks);
          const bool up = dice.below(2) == 0;
          way.push_back({ComponentId(link), up ? LinkDirection::kUp : LinkDirection::kDown});
          cells.emplace(up ? EvidenceScope::kLinkUp : EvidenceScope::kLinkDown, link);
          cells.emplace(EvidenceScope::kCable, link);
        }
      }
      const std::uint32_t from = dice.below(kEnds);
      const std::uint32_t to = dice.below(kEnds);
      const std::uint32_t pair = from * kEnds + to;
      const VisitTrial one{.pair = PairId(pair),
                           .both_ways = PairId(pair),
                           .endpoints = {EndpointId(from), EndpointId(to)},
                           .hosts = {from / 2, to / 2},
                           .probes = kProbes,
                           .lost = static_cast<std::uint8_t>(visit < kLossy ? 1 : 0)};
      cells.insert({{EvidenceScope::kEndpoint, from},
                    {EvidenceScope::kEndpoint, to},
                    {EvidenceScope::kHost, from / 2},
                    {EvidenceScope::kHost, to / 2},
                    {EvidenceScope::kPair, pair}});
      evidence.add(one, ways[0], ways[1]);
      for (const auto& cell : cells) {
        naive[cell] += kProbes;
      }
      for (const auto& [cell, probes] : naive) {
        const ComponentAlarm state = evidence.state(cell.first, cell.second);
        ASSERT_TRUE(state.probes == probes || state.lossy == 0) << visit;
      }
    }
    for (std::uint32_t link = 0; link < kLinks; ++link) {
      EXPECT_GT(evidence.state(EvidenceScope::kCable, link).lossy, 0U);
    }
  }
}

TEST(ComponentEvidence, ForgetsAComponentThatIsResetOrReleased) {
  ComponentEvidence evidence({});
  VisitTrial lossy = trial(5, 10);
  lossy.both_ways = PairId(5);
  lossy.endpoints = {EndpointId(2), EndpointId()};
  evidence.add(lossy, over(1), {});
  evidence.reset(EvidenceScope::kLinkUp, 1);
  evidence.reset(EvidenceScope::kCable, 1);
  evidence.release({PairId(5), 1});
  evidence.release(EndpointId(2));
  EXPECT_EQ(evidence.state(EvidenceScope::kLinkUp, 1).llr, 0.0);
  EXPECT_EQ(evidence.state(EvidenceScope::kPair, 5).lossy, 0u);
  EXPECT_EQ(evidence.state(EvidenceScope::kEndpoint, 2).lossy, 0u);
  evidence.add(trial(6, 10), over(1), {});
  EXPECT_THAT(evidence.alarms(), testing::SizeIs(0));  // Or it would be the second silent visit.
}

TEST(ComponentEvidence, LeavesNothingOfAVisitThatIsTakenBack) {
  ComponentEvidence evidence({});
  evidence.add(trial(1, 1), over(0), {});
  const double before = evidence.state(EvidenceScope::kLinkUp, 0).llr;
  evidence.add(trial(2, 10), over(0), over(3));
  evidence.withdraw(trial(2, 10), over(0), over(3));
  EXPECT_NEAR(evidence.state(EvidenceScope::kLinkUp, 0).llr, before, 1e-9);
  EXPECT_EQ(evidence.state(EvidenceScope::kLinkUp, 0).lossy, 1u);
  EXPECT_EQ(evidence.state(EvidenceScope::kLinkUp, 3).llr, 0.0);
  evidence.add(trial(3, 10), over(3), {});
  EXPECT_THAT(evidence.alarms(), testing::SizeIs(0));  // Or it would be the second silent visit.
}

/// Mean probes over one link until it alarms, from a fresh start.
double mean_probes(double rate, std::uint64_t seed) {
  const int runs = rate < 0.005 ? 400 : 4000;
  Dice dice(seed, 2);
  std::uint64_t probes = 0;
  for (int run = 0; run < runs; ++run) {
    ComponentEvidence evidence({});
    for (std::uint32_t visit = 0; evidence.alarms().empty(); ++visit) {
      evidence.add(trial(visit % 64, lost_at(dice, rate)), over(0), {});
      probes += kProbes;
    }
  }
  return static_cast<double>(probes) / runs;
}

// The bounds are what an operator was promised; METHODS.md prints the means.
TEST(ComponentEvidence, FindsGrayLossOnASharedLinkWithinItsBounds) {
  struct Case {
    double rate;
    double bound;
  };

  for (const Case& c : {Case{0.001, 8000}, Case{0.01, 500}, Case{0.05, 90}, Case{0.2, 40}}) {
    for (const std::uint64_t seed : {11u, 13u}) {
      const double probes = mean_probes(c.rate, seed);
      EXPECT_LE(probes, c.bound) << c.rate << " seed=" << seed;
      std::printf("loss %.3f: mean %.0f probes to the alarm, seed=%llu\n",
                  c.rate,
                  probes,
                  static_cast<unsigned long long>(seed));
    }
  }
}

// Wald: the mean number of visits is (h + overshoot) / D, and the overshoot of a test with steps J
// lies between 0 and J.  A CUSUM that cannot fall below 0 is a little quicker.
TEST(ComponentEvidence, NeedsAboutAsManyVisitsAsWaldSays) {
  const ComponentEvidence evidence({});
  constexpr std::size_t kOnePercent = 2;
  const double lossy = visit_ratio(0.01);
  const double drift = lossy * evidence.increments(kProbes, 1)[kOnePercent] +
                       (1 - lossy) * evidence.increments(kProbes, 0)[kOnePercent];
  const double least = evidence.threshold(kOnePercent) / drift * kProbes;
  const double most =
      (evidence.threshold(kOnePercent) + evidence.increments(kProbes, 1)[kOnePercent]) / drift *
      kProbes;
  const double measured = mean_probes(0.01, 17);
  EXPECT_GT(measured, 0.9 * least);
  EXPECT_LT(measured, most);
}

struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};

/// False alarms per visit by importance sampling: excursions are drawn from the tests' own faulty
/// laws and weighed by the likelihood ratio to the healthy one.
Estimate false_alarms_per_visit(const ComponentEvidence& evidence, std::uint64_t seed) {
  constexpr int kRuns = 140'000;
  Dice dice(seed, 3);
  const std::array<std::array<double, kTests>, 3> steps{evidence.increments(kProbes, 0),
                                                        evidence.increments(kProbes, 1),
                                                        evidence.increments(kProbes, kProbes)};
  const double base = evidence.base_per_visit();
  Estimate sum;
  for (int run = 0; run < kRuns; ++run) {
    const std::size_t law = static_cast<std::size_t>(run) % kTests;
    const double clean = (1 - base) * std::exp(steps[0][law]);
    const double silent = base * 1e-3 * std::exp(steps[2][law]);
    std::array<double, kTests> tests{};
    std::array<double, kTests> ratio{};
    bool alarm = false;
    bool above = true;
    while (above && !alarm) {
      const double draw = dice.uniform(0, 1);
      const std::size_t outcome = draw < clean ? 0 : (draw < clean + silent ? 2 : 1);
      above = false;
      for (std::size_t test = 0; test < kTests; ++test) {
        tests[test] = std::max(0.0, tests[test] + steps[outcome][test]);
        ratio[test] += steps[outcome][test];
        above = above || tests[test] > 0;
        alarm = alarm || tests[test] >= evidence.threshold(test);
      }
    }
    double mixture = 0.0;
    for (const double nats : ratio) {
      mixture += std::exp(nats) / kTests;
    }
    const double weight = alarm ? 1.0 / mixture : 0.0;
    sum.mean += weight / kRuns;
    sum.error += weight * weight / kRuns;
  }
  sum.error = std::sqrt((sum.error - sum.mean * sum.mean) / kRuns);
  return sum;
}

TEST(ComponentEvidence, KeepsItsFalseAlarmBudget) {
  for (const double base : {1e-6, 1e-5, 1e-4}) {
    LossEvidenceOptions options;
    options.base_loss_ratio = base;
    const Estimate found = false_alarms_per_visit(ComponentEvidence(options), 19);
    std::printf("base %.0e: %.2e +- %.1e false alarms per visit (allowed %.0e)\n",
                base,
                found.mean,
                found.error,
                options.false_alarms_per_visit);
    // The overshoot is taken for exponential in steps that are not: a factor 2 stays.
    EXPECT_LT(found.mean - 2 * found.error, 2 * options.false_alarms_per_visit) << base;
  }
}

struct World {
  std::uint64_t seed = 1;
  int visits = 0;
  std::uint32_t links = 0;
  std::function<std::uint8_t(Dice&, std::uint32_t)> lost;  ///< by link
};

/// One visit a link in turn, settled every hundred.
std::size_t alarms_in(ComponentEvidence& evidence, const World& world) {
  Dice dice(world.seed, 4);
  std::size_t alarms = 0;
  for (int visit = 0; visit < world.visits; ++visit) {
    const auto link = static_cast<std::uint32_t>(visit) % world.links;
    const std::uint8_t lost = world.lost(dice, link);
    evidence.add(trial(link, lost), over(link), {});
    if (visit % 100 == 0) {
      evidence.settle();
      alarms += evidence.alarms().size();
      evidence.clear_alarms();
    }
  }
  return alarms + evidence.alarms().size();
}

// The budget itself, where it is large enough to be counted: 1e-6 a visit.
TEST(ComponentEvidence, AlarmsFalselyAsOftenAsAllowedAtALooseBudget) {
  LossEvidenceOptions options;
  options.false_alarms_per_visit = 1e-6;
  ComponentEvidence evidence(options);
  const std::size_t alarms = alarms_in(
      evidence, {.seed = 21, .visits = 5'000'000, .links = 200, .lost = [](Dice& dice, auto) {
                   return lost_at(dice, kBase);
                 }});
  std::printf("%zu alarms in 5e6 visits, 5 allowed, seed=21\n", alarms);
  EXPECT_LE(alarms, 12u);
}

/// Instrumented, the same loop takes minutes and says no more about memory.
#ifdef __SANITIZE_ADDRESS__
constexpr int kFewer = 50;
#else
constexpr int kFewer = 1;
#endif

TEST(ComponentEvidence, IsQuietForTenMillionHealthyVisits) {
  struct Case {
    const char* name;
    double base;
    int visits;
  };

  for (const Case& c : {Case{"as configured", 1e-5, 10'000'000},
                        Case{"ten times more", 1e-4, 3'000'000},
                        Case{"ten times less", 1e-6, 5'000'000}}) {
    SCOPED_TRACE(c.name);
    ComponentEvidence evidence({});
    EXPECT_EQ(alarms_in(evidence,
                        {.seed = 23,
                         .visits = c.visits / kFewer,
                         .links = 500,
                         .lost = [&](Dice& dice, auto) { return lost_at(dice, c.base); }}),
              0u);
    // The configured base weighs as much as ten lossy visits: a short run has hardly learnt.
    if (kFewer == 1) {
      EXPECT_LT(evidence.base_per_visit() / visit_ratio(c.base), 4.0);
      EXPECT_GT(evidence.base_per_visit() / visit_ratio(c.base), 0.8);
    }
  }
}

// Bursts: a channel of its own in every link that loses half of what it carries for 300 ms.
TEST(ComponentEvidence, IsQuietUnderGilbertElliottLoss) {
  ComponentEvidence evidence({});
  constexpr double kBurstStarts = 3.3e-5;  // Per visit: as many lossy visits as at 1e-5 a probe.
  const std::size_t alarms = alarms_in(
      evidence, {.seed = 25, .visits = 10'000'000, .links = 500, .lost = [](Dice& dice, auto) {
                   if (dice.uniform(0, 1) >= kBurstStarts) {
                     return std::uint8_t{0};
                   }
                   std::uint8_t lost = 0;
                   for (double left = 3.0; left > 0.0; left -= dice.uniform(0.0, 1.5)) {
                     lost = static_cast<std::uint8_t>(lost + dice.below(2));
                   }
                   return std::min(lost, kProbes);
                 }});
  EXPECT_EQ(alarms, 0u);
}

TEST(ComponentEvidence, LetsFaultyLinksTeachItNothing) {
  ComponentEvidence evidence({});
  const auto lost = [](Dice& dice, std::uint32_t link) {
    return lost_at(dice, link < 25 ? 0.01 : kBase);  // One link of twenty is gray.
  };
  alarms_in(evidence, {.seed = 27, .visits = 3'000'000, .links = 500, .lost = lost});
  std::printf("learnt base %.2e, true %.2e\n", evidence.base_per_visit(), visit_ratio(kBase));
  EXPECT_LT(evidence.base_per_visit(), 2 * visit_ratio(kBase));
  EXPECT_GT(evidence.base_per_visit(), 0.5 * visit_ratio(kBase));
}

}  // namespace
}  // namespace bonescan
