// Failures that arise: which, when, where and for how long.
#include "faults/processes/failure_plan.h"

#include "faults/processes/failure_mix.h"
#include "faults/processes/failure_places.h"
#include "faults/processes/fault_trace.h"
#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace bonescan::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kRun = hours(24);

WorldOptions four_racks() {
  WorldOptions options;
  options.fabric.segments = 4;
  options.fabric.hosts_per_segment = 16;
  options.fabric.rails = 2;
  options.fabric.aggregation_switches = 4;
  JobOptions job;
  job.gpus = 128;
  job.tp = 2;
  job.dp = 16;
  job.pp = 4;
  options.jobs.push_back(job);
  return options;
}

/// 64 hosts in four segments, one job on all of them.
const FaultSite& site() {
  static Engine engine;
  static const World kWorld(four_racks(), engine);
  static const FaultSite kSite(kWorld);
  return kSite;
}

FailureOptions some(std::uint32_t count) {
  FailureOptions options;
  options.kinds = {{"crc-error", 1.0}, {"rnic-port-flapping", 3.0}};
  options.count = count;
  options.from = hours(1);
  options.until = hours(23);
  return options;
}

std::vector<FaultSpec> plan(const FailureOptions& options, std::uint64_t seed = 1) {
  auto planned = plan_failures(options, site(), seed, kRun);
  EXPECT_TRUE(planned.has_value());
  return planned ? *planned : std::vector<FaultSpec>();
}

double share_of_kind(const std::vector<FaultSpec>& faults, std::string_view kind) {
  const auto count = std::ranges::count(faults, kind, &FaultSpec::kind);
  return static_cast<double>(count) / static_cast<double>(faults.size());
}

TEST(FailurePlan, CountsKindsTimesAndNames) {
  const auto faults = plan(some(2'000));
  ASSERT_EQ(faults.size(), 2'000u);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(faults[i].name, "drawn-" + std::to_string(i));
    EXPECT_GE(faults[i].at, kStartOfRun + hours(1));
    EXPECT_LT(faults[i].at, kStartOfRun + hours(23));
    EXPECT_EQ(faults[i].duration, minutes(2));
    EXPECT_TRUE(i == 0 || faults[i].at >= faults[i - 1].at);
  }
  EXPECT_NEAR(share_of_kind(faults, "rnic-port-flapping"), 0.75, 4.0 * std::sqrt(0.1875 / 2'000));
}

TEST(FailurePlan, KeepsFailuresApartInSlots) {
  FailureOptions options = some(100);
  options.apart = minutes(5);
  const auto faults = plan(options);
  ASSERT_EQ(faults.size(), 100u);
  const Duration slot = Duration(hours(22)) / 100;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Time begin = kStartOfRun + hours(1) + static_cast<int>(i) * slot;
    EXPECT_GE(faults[i].at, begin);
    EXPECT_LE(faults[i].at + faults[i].duration + minutes(5), begin + slot);
  }
}

TEST(FailurePlan, IsAFunctionOfTheSeed) {
  const auto same = [](const std::vector<FaultSpec>& a, const std::vector<FaultSpec>& b) {
    return std::ranges::equal(a, b, [](const FaultSpec& x, const FaultSpec& y) {
      return x.at == y.at && x.kind == y.kind && x.on == y.on && x.duration == y.duration;
    });
  };
  FailureOptions options = some(50);
  options.frailty_shape = 0.9;
  options.repair = {.law = RepairLaw::kLogNormal, .comes_back = 0.3};
  options.groups.share = 0.3;
  EXPECT_TRUE(same(plan(options, 7), plan(options, 7)));
  EXPECT_FALSE(same(plan(options, 7), plan(options, 8)));
}

TEST(FailurePlan, IsNeverAtOnePlaceTwiceAtOnce) {
  FailureOptions options = some(3'000);
  options.groups.share = 0.2;
  options.repair.comes_back = 0.2;
  std::map<ComponentRef, Time> busy_until;
  for (const FaultSpec& fault : plan(options)) {
    const auto before = busy_until.find(fault.on);
    EXPECT_TRUE(before == busy_until.end() || fault.at >= before->second) << fault.name;
    busy_until[fault.on] = fault.at + fault.duration;
  }
}

TEST(FailurePlan, LastsNoLongerThanTheRun) {
  FailureOptions options = some(500);
  options.repair = {.law = RepairLaw::kLogNormal, .median = hours(5), .p90 = hours(50)};
  std::size_t cut = 0;
  std::vector<double> lengths_s;
  for (const FaultSpec& fault : plan(options)) {
    EXPECT_LE(fault.at + fault.duration, kStartOfRun + kRun);
    cut += fault.duration == Duration::zero() ? 1 : 0;
  }
  EXPECT_GT(cut, 100u) << "until the end of the run";
}

TEST(FailurePlan, RepairsAreLogNormal) {
  FailureOptions options = some(2'000);
  options.repair = {.law = RepairLaw::kLogNormal, .median = minutes(1), .p90 = minutes(5)};
  std::size_t below_median = 0;
  std::size_t below_p90 = 0;
  for (const FaultSpec& fault : plan(options)) {
    below_median += fault.duration <= minutes(1) ? 1 : 0;
    below_p90 += fault.duration <= minutes(5) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(below_median), 1'000.0, 4.0 * std::sqrt(500.0));
  EXPECT_NEAR(static_cast<double>(below_p90), 1'800.0, 4.0 * std::sqrt(180.0));
}

TEST(FailurePlan, ComeBackAtTheSamePlaceWhenTheRepairDidNotHelp) {
  FailureOptions options = some(1'000);
  options.until = hours(12);
  options.length = seconds(10);
  options.repair.comes_back = 0.25;
  options.repair.within = seconds(30);
  const auto faults = plan(options);
  // Geometric: 1 / (1 - 0.25) episodes each.
  const double mean = 1'000.0 / 0.75;
  EXPECT_NEAR(static_cast<double>(faults.size()), mean, 4.0 * std::sqrt(1'000.0 * 0.25 / 0.5625));
}

TEST(FailurePlan, ArisesAtTheRatesOfItsClasses) {
  FailureOptions options;
  options.process = FailureProcess::kExponential;
  options.mix = FailureMix::kProduction;
  options.until = kRun;
  options.length = seconds(1);
  options.times = 50.0;
  options.rates = {.link = 0.01, .tor = 0.02, .rnic = 0.03, .software = 0.04};
  const double cables =
      static_cast<double>(site().access_cables().size() + site().fabric_cables().size());
  const double tors = static_cast<double>(site().tors().size());
  const double a_day = 50.0 / 30.0 * (0.01 * cables + 0.02 * tors + 0.07 * 128.0);
  EXPECT_NEAR(total_rate(options, site()) * 86'400.0, a_day, 1e-9);
  double count = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    count += static_cast<double>(plan(options, seed).size());
  }
  EXPECT_NEAR(count / 40.0, a_day, 4.0 * std::sqrt(a_day / 40.0));
  options.process = FailureProcess::kWeibull;
  EXPECT_FALSE(plan(options).empty());
}

TEST(FailureMixes, OfProductionIsAboutKindsAndSumsToOneInEveryClass) {
  std::map<std::string_view, double> sums;
  std::set<std::string_view> names;
  for (const ProductionShare& row : production_shares()) {
    sums[row.entity] += row.share;
    EXPECT_TRUE(names.insert(row.kind).second) << row.kind;
  }
  EXPECT_EQ(sums.size(), 4u);
  for (const auto& [entity, sum] : sums) {
    EXPECT_NEAR(sum, 1.0, 1e-12) << entity;
  }
}

TEST(FailureMixes, OfEqualPartsTakeTurns) {
  FailureOptions options;
  options.mix = FailureMix::kEqual;
  options.until = kRun;
  options.length = seconds(1);
  const auto mix = resolve_mix(options, site());
  ASSERT_TRUE(mix.has_value());
  options.count = static_cast<std::uint32_t>(3 * mix->size());
  std::map<std::string, int> counts;
  for (const FaultSpec& fault : plan(options)) {
    ++counts[fault.kind];
  }
  EXPECT_EQ(counts.size(), mix->size());
  for (const auto& [kind, count] : counts) {
    // Kinds that are two faults at once are in the list twice, if the other found its place free.
    EXPECT_GE(count, 3) << kind;
    EXPECT_LE(count, kind == "both-layers" || kind == "two-faults" ? 6 : 3) << kind;
  }
  // One failure a run: seeds of one parity meet every kind equally often.
  options.count = 1;
  counts.clear();
  for (std::uint64_t seed = 1; seed < 2 * mix->size(); seed += 2) {
    ++counts[plan(options, seed).front().kind];
  }
  EXPECT_EQ(counts.size(), mix->size());
}

// Negative binomial: variance / mean = 1 + mean / shape.
TEST(Frailty, MakesCountsOfHostsVaryAsItsShapeSays) {
  FailureOptions options;
  options.kinds = {{"rnic-port-flapping", 1.0}};
  options.count = 640;
  options.until = kRun;
  options.length = milliseconds(1);
  const auto variance_over_mean = [&](double shape) {
    options.frailty_shape = shape;
    double sum = 0.0;
    constexpr int kSeeds = 30;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      std::vector<double> counts(64);
      for (const FaultSpec& fault : plan(options, seed)) {
        counts[site().fabric().host_of(fault.on.rnic()).index()] += 1.0;
      }
      for (const double count : counts) {
        sum += (count - 10.0) * (count - 10.0) / 63.0 / 10.0;
      }
    }
    return sum / kSeeds;
  };
  EXPECT_NEAR(variance_over_mean(0.0), 1.0, 0.15);
  EXPECT_NEAR(variance_over_mean(2.0), 6.0, 1.2);
}

TEST(Groups, AreStruckTogether) {
  for (const FailureGroup group :
       {FailureGroup::kSegment, FailureGroup::kTor, FailureGroup::kFirmware}) {
    FailureOptions options;
    options.kinds = {{"rnic-port-flapping", 1.0}};
    options.count = 40;
    options.until = hours(20);
    options.length = seconds(1);
    options.groups = {.share = 1.0, .of = group, .members = 4, .spread = seconds(30)};
    const auto faults = plan(options);
    EXPECT_EQ(faults.size(), 160u);
    // The members of one event are neighbours in time; two events seldom overlap.
    std::size_t together = 0;
    for (std::size_t i = 1; i < faults.size(); ++i) {
      const auto id = [&](const FaultSpec& fault) {
        return group_of(site().fabric(), fault.on, group, options.groups, 1);
      };
      const bool close = faults[i].at - faults[i - 1].at < seconds(30);
      together += close && id(faults[i]) == id(faults[i - 1]) ? 1 : 0;
      EXPECT_TRUE(!close || id(faults[i]) != id(faults[i - 1]) || faults[i].on != faults[i - 1].on);
    }
    EXPECT_GE(together, 110u) << "of 120 that follow another member";
  }
}

TraceFault recorded(const char* node, std::int64_t at_h, std::int64_t length_h, bool link) {
  return {.node = node,
          .at = hours(at_h),
          .length = hours(length_h),
          .fault_class = link ? "Parameter Plane Cable" : "Fan",
          .fault = link ? "Link Down" : "Speed Critical (Sensor)"};
}

TEST(Trace, IsReplayedInItsTimeOnItsNodes) {
  FailureOptions options;
  options.process = FailureProcess::kTrace;
  options.from = minutes(10);
  options.until = minutes(70);
  options.trace.faults = {recorded("a", 10, 2, true),
                          recorded("b", 20, 2, false),
                          recorded("a", 30, 4, true),
                          recorded("c", 40, 0, true),
                          recorded("d", 500, 1, true)};
  options.trace.speedup = 60.0;
  options.trace.offset = hours(5);
  const auto faults = plan(options);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].at, kStartOfRun + minutes(15));
  EXPECT_EQ(faults[1].at, kStartOfRun + minutes(35));
  EXPECT_EQ(faults[2].at, kStartOfRun + minutes(45));
  EXPECT_EQ(faults[0].duration, minutes(2));
  EXPECT_EQ(faults[1].duration, minutes(4));
  EXPECT_EQ(faults[2].duration, Duration::zero()) << "it never ended";
  const auto host = [&](const FaultSpec& fault) { return *host_of(site().fabric(), fault.on); };
  EXPECT_EQ(host(faults[0]), host(faults[1]));
  EXPECT_NE(host(faults[0]), host(faults[2]));
  for (const FaultSpec& fault : faults) {
    EXPECT_EQ(fault.kind, "switch-port-down");
  }
  const TraceCounts counts = count_trace(options);
  EXPECT_EQ(counts.network, 3u);
  EXPECT_EQ(counts.others, 1u);
  EXPECT_EQ(counts.outside, 1u);
  EXPECT_TRUE(trace_stalls(options).empty());
  options.trace.others = TraceOthers::kStall;
  EXPECT_THAT(trace_stalls(options), testing::ElementsAre(minutes(25)));
  options.trace.nodes = TraceNodes::kOrder;
  EXPECT_EQ(host(plan(options)[0]), site().hosts()[0]);
  EXPECT_EQ(host(plan(options)[2]), site().hosts()[2]);
}

}  // namespace
}  // namespace bonescan::test
